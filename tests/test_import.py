"""`import astile`: fast, light, and with every public name resolved when it is asked for."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import astile
from tests.support.pace import slowness

ROOT = Path(astile.__file__).parents[1]
HEAVY = ("numba", "numba_cuda", "llvmlite", "islpy", "rich", "numpy", "astor", "greenlet")
LIMIT_MS = 150


def in_fresh_python(script: str) -> object:
    found = subprocess.run(
        [sys.executable, "-c", script],
        cwd=ROOT,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": ""},
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(found.stdout)


def test_import_loads_nothing_heavy():
    script = "import json, sys, astile; print(json.dumps(sorted(sys.modules)))"
    loaded = {each.partition(".")[0] for each in in_fresh_python(script)}
    assert "astile" in loaded
    assert loaded.isdisjoint(HEAVY)


def test_the_decorator_loads_nothing_that_only_pages_need():
    script = "import json, sys; from astile import tile; print(json.dumps(sorted(sys.modules)))"
    loaded = {each.partition(".")[0] for each in in_fresh_python(script)}
    assert "numpy" in loaded
    assert loaded.isdisjoint(("numba", "rich", "jinja2", "pygments"))


def test_the_decorator_loads_nothing_that_kept_steps_and_code_do_not_need():
    script = "import json, sys; from astile import tile; print(json.dumps(sorted(sys.modules)))"
    loaded = in_fresh_python(script)
    for each in ("astile.rewrites.split", "astile.lower.cpu", "astile.schedule.prover", "islpy"):
        assert each not in loaded
    for each in ("astile.check", "astile.explain", "astile.schedule.compose"):
        assert each not in loaded


def test_recipes_load_nothing_that_chooses_steps():
    script = (
        "import json, sys; from astile.schedule import recipes; print(json.dumps([*sys.modules]))"
    )
    loaded = in_fresh_python(script)
    assert "astile.schedule.recipes.vector_rows" in loaded
    assert "astile.schedule.for_cores" not in loaded


def test_a_package_has_its_modules_and_nothing_else():
    from astile import lower, rewrites

    assert rewrites.split.split.__name__ == "split"
    assert lower.vectors.explicit.Machine
    with pytest.raises(AttributeError, match=r"'astile.rewrites' has no attribute 'splitt'"):
        _ = rewrites.splitt


def test_import_is_fast():
    script = (
        "import time; start = time.perf_counter(); import astile; "
        "print((time.perf_counter() - start) * 1e3)"
    )
    assert min(in_fresh_python(script) for _ in range(3)) < LIMIT_MS * slowness()


@pytest.mark.parametrize("name", ["AstileError", "SourceError", "ArgumentError"])
def test_errors_come_without_the_rest(name):
    script = (
        f"import json, sys; from astile import {name} as found; "
        "print(json.dumps([found.__name__, 'numba' in sys.modules, 'islpy' in sys.modules]))"
    )
    assert in_fresh_python(script) == [name, False, False]


def test_tile_does_not_import_numba():
    script = "import json, sys; from astile import tile; print(json.dumps('numba' in sys.modules))"
    assert in_fresh_python(script) is False


def test_every_public_name_is_there():
    for name in astile.__all__:
        assert getattr(astile, name) is not None
    assert set(astile.__all__) <= set(dir(astile))
    wanted = {"tile", "Kernel", "Schedule", "from_source", "AstileError", "__version__"}
    assert wanted <= set(astile.__all__)


def test_all_error_classes_are_public():
    from astile import errors

    classes = {
        name
        for name, each in vars(errors).items()
        if isinstance(each, type) and issubclass(each, errors.AstileError)
    }
    assert classes <= set(astile.__all__)


def test_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="module 'astile' has no attribute 'tlie'"):
        _ = astile.tlie
    with pytest.raises(ImportError):
        from astile import nothing  # noqa: F401


def test_package_says_that_it_is_typed():
    assert (Path(astile.__file__).parent / "py.typed").exists()
