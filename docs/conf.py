"""Sphinx's settings: ``sphinx-build docs build/docs`` makes the pages."""

import astile

project = "astile"
author = "The astile authors"
release = astile.__version__
extensions = ["myst_parser"]
html_theme = "furo"
html_title = f"astile {release}"
exclude_patterns = ["cases.md"]
myst_heading_anchors = 3
# links to files outside of docs/ are for readers of the repository
suppress_warnings = ["myst.xref_missing"]
