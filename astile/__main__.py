"""``python -m astile`` is the command ``astile``."""

from astile.cli.main import main

main(prog_name="astile")
