"""The import contracts of pyproject.toml hold, and would be seen to break."""

import os
import shutil
import subprocess
import sys

import pytest

from tests.support.package import PACKAGE, ROOT

CONTRACTS = ("layers", "analysis", "lowering", "isl", "numba", "astor")
SCRIPT = (
    "import sys; from importlinter.cli import lint_imports; "
    "sys.exit(lint_imports(no_cache=True, no_logo=True, limit_to_contracts=tuple(sys.argv[1:])))"
)


def lint_imports(folder, *contracts):
    """Run import-linter on the package in a folder; the finished process."""
    return subprocess.run(
        [sys.executable, "-c", SCRIPT, *contracts],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder), "COLUMNS": "200"},
        capture_output=True,
        text=True,
        check=False,
    )


def test_contracts_hold():
    found = lint_imports(ROOT)
    assert found.returncode == 0, f"\n{found.stdout}{found.stderr}"
    assert f"Contracts: {len(CONTRACTS)} kept, 0 broken" in found.stdout


PLANTED = {
    "layers": ("ir/query.py", "from astile.analysis.forms import affine"),
    "analysis": ("analysis/reading/access.py", "from astile.analysis.proof import flows"),
    "lowering": ("lower/types/dtypes.py", "from astile.lower.kernels import private"),
    "isl": ("analysis/forms/affine.py", "import islpy"),
    "numba": ("runtime/load.py", "def f():\n    import numba"),
    "astor": ("schedule/step.py", "import astor"),
}


@pytest.mark.parametrize("contract", CONTRACTS)
def test_planted_import_is_found(contract, tmp_path):
    copied = tmp_path / "astile"
    shutil.copytree(PACKAGE, copied, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    path, text = PLANTED[contract]
    with (copied / path).open("a", encoding="utf-8") as file:
        file.write(f"\n\n{text}\n")
    found = lint_imports(tmp_path, contract)
    assert found.returncode == 1, f"\n{found.stdout}{found.stderr}"
    module = f"astile.{path.removesuffix('.py').replace('/', '.')}"
    assert f"{module} -> " in found.stdout


def test_a_module_outside_the_layers_is_found(tmp_path):
    copied = tmp_path / "astile"
    shutil.copytree(PACKAGE, copied, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    (copied / "elsewhere.py").write_text("")
    found = lint_imports(tmp_path, "layers")
    assert found.returncode == 1
    assert "elsewhere" in found.stdout
