"""What numba compiled is kept, so that the next process that makes the same text need not compile.

numba's own disk cache would run whatever it finds in its folder. Here each file is sealed with a
secret of the user (see `sealed`), and found by all that decides the machine code: the generated
text and the versions behind it, the types of the arguments, the processor, numba's settings.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import FunctionType
from typing import Any

from astile import intrinsics
from astile.cache.files import default_cache_dir
from astile.cache.sealed import Sealed
from astile.runtime import collector

#: Settings of numba that leave the machine code as it is.
_HARMLESS = ("NUMBA_NUM_THREADS", "NUMBA_THREADING_LAYER", "NUMBA_CACHE_DIR")

#: What putting a kept form together raises where numba is not what it was.
_OUT_OF_DATE = (AttributeError, ImportError, KeyError, TypeError, ValueError)


def keep(function: Callable[..., object], digest: str) -> None:
    """Let a function's machine code be kept and found again; the first time it is made faster.

    Args:
        function: the entry of a generated module, compiled by numba or calling what is.
        digest: of the module and of the versions that matter.
    """
    for dispatcher in _dispatchers(function):
        importlib.import_module("astile.intrinsics.quick_compiler").use_quick_compiler(dispatcher)
        dispatcher._cache = _Kept(dispatcher, digest, Sealed(default_cache_dir()))
        dispatcher.compile = collector.waiting()(dispatcher.compile)


def _dispatchers(function: Any) -> list[Any]:
    if not isinstance(function, FunctionType):
        return [function]
    names = function.__code__.co_names
    called = [function.__globals__.get(each) for each in names]
    return [each for each in called if hasattr(each, "targetoptions")]


class _Kept:
    """Stands in for numba's disk cache of one compiled function."""

    def __init__(self, dispatcher: Any, digest: str, files: Sealed) -> None:
        self._dispatcher = dispatcher
        self._digest = digest
        self._files = files
        self._options: str | None = None
        self.cache_path = None

    def load_overload(self, signature: Any, context: Any) -> Any:
        """The compiled form for a signature, if one was kept; numba calls this.

        Args:
            signature: types of the arguments.
            context: numba's target.
        """
        found = self._files.read(self._purpose(signature, context.codegen()))
        if found is None:
            return None
        made = importlib.import_module("numba.core.compiler").CompileResult
        with _modules_known(), contextlib.suppress(*_OUT_OF_DATE):
            # What compiled code calls has to be there. numba's `context.refresh()` would do as
            # much, and set up all that compiling needs: 0.2 seconds.
            importlib.import_module("numba.core.runtime").rtsys.initialize(context)
            importlib.import_module("numba.cpython.hashing")
            parts = importlib.import_module("pickle").loads(found)  # sealed, so it is our own
            return made._rebuild(context, *parts)
        return None

    def save_overload(self, signature: Any, compiled: Any) -> None:
        """Keep a compiled form, if it does not hold addresses of this process; numba calls this.

        Args:
            signature: types of the arguments.
            compiled: numba's result.
        """
        if compiled.library.has_dynamic_globals or any(not e.can_cache for e in compiled.lifted):
            return
        # numba would write down the types of all lines too, which nobody reads here
        parts = compiled._replace(type_annotation="")._reduce()
        content = importlib.import_module("numba.core.serialize").dumps(parts)
        self._files.write(self._purpose(signature, compiled.codegen), content)

    def flush(self) -> None:
        """Nothing is kept here that could be out of date; numba calls this to compile anew."""

    def _purpose(self, signature: Any, codegen: Any) -> Sequence[str]:
        if self._options is None:  # numba takes out what it has read when it compiles
            self._options = repr(sorted(self._dispatcher.targetoptions.items()))
        settings = {k: v for k, v in os.environ.items() if k.startswith("NUMBA_")}
        return [
            self._digest,
            self._dispatcher.py_func.__qualname__,
            repr(signature),
            self._options,
            repr(codegen.magic_tuple()),
            repr(sorted((k, v) for k, v in settings.items() if k not in _HARMLESS)),
            _intrinsics_digest(),
        ]


@contextlib.contextmanager
def _modules_known() -> Iterator[None]:
    """While parts are put together, the module that numba gives to generated code has its name."""
    utils = importlib.import_module("numba.core.utils")
    known = sys.modules.setdefault(utils._dynamic_modname, utils._dynamic_module)
    try:
        yield
    finally:
        if known is utils._dynamic_module:
            sys.modules.pop(utils._dynamic_modname, None)


def _intrinsics_digest() -> str:
    """Of the operations that generated text may use: their code is part of what is compiled."""
    found = hashlib.sha256()
    for path in sorted(Path(intrinsics.__file__).parent.glob("*.py")):
        found.update(path.read_bytes())
    return found.hexdigest()
