"""The same loops under plain numba: in order, and with `prange` where iterations are independent.

What people do by hand: `njit` with fast arithmetic and NumPy's division, nothing else.
"""

from __future__ import annotations

import importlib.util
import inspect
import re
import tempfile
import textwrap
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from benchmarks.peer import Variant
from benchmarks.workload import Workload


def variants(workload: Workload, arguments: Sequence[Any], threads: int) -> dict[str, Variant]:
    """Both forms of the loops; with one thread, those in order only."""
    forms = {"loops": _module(workload, parallel=False)}
    if threads > 1 and workload.on_cores:
        forms["prange"] = _module(workload, parallel=True)

    def variant(function: Callable[..., None]) -> Variant:
        return Variant(lambda: function(*arguments), lambda: arguments[workload.result])

    return {name: variant(function) for name, function in forms.items()}


def text(workload: Workload, parallel: bool) -> str:
    """The loops as they were written, decorated with `njit`.

    Args:
        workload: whose loops.
        parallel: run those on several cores that may.
    """
    source = textwrap.dedent(inspect.getsource(workload.plain or workload.function))
    for variable in workload.on_cores if parallel else ():
        source = re.sub(rf"(for {variable} in )range\(", r"\1prange(", source)
    imports = "import numba\nfrom numba import prange\n"
    decorator = f"@numba.njit(fastmath=True, error_model='numpy', parallel={parallel})\n"
    return f"{imports}\n\n{decorator}{source}"


def _module(workload: Workload, parallel: bool) -> Callable[..., None]:
    """The function of a module of its own, with the names of the module it was written in."""
    loops = workload.plain or workload.function
    with tempfile.NamedTemporaryFile("w", suffix=".py", delete=False) as file:
        file.write(text(workload, parallel))
    spec = importlib.util.spec_from_file_location(Path(file.name).stem, file.name)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    names = vars(inspect.getmodule(loops))
    vars(module).update({k: v for k, v in names.items() if not k.startswith("__")})
    spec.loader.exec_module(module)
    Path(file.name).unlink()
    function: Callable[..., None] = getattr(module, loops.__name__)
    return function
