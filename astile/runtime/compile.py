"""The only place that imports numba, and the one that turns its complaints into astile's.

numba and numba.cuda are imported inside functions: astile reads, proves and prints without them.
Where no CUDA runtime library is found, `numba.cuda` raises a RuntimeError instead of an
ImportError, so all three kinds of failure are taken for "not here".
"""

from __future__ import annotations

import contextlib
import importlib.util
import re
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from astile.errors import LoweringError
from astile.intrinsics.plain import SharedMemoryError
from astile.ir.program import Program
from astile.runtime import kernel_lines, launch_limits
from astile.runtime.traced import PlaceOf, nowhere

#: What importing numba.cuda raises where something of CUDA is missing.
_NOT_HERE = (ImportError, RuntimeError, OSError)
#: Threading layers of numba that several Python threads may enter at once.
_SAFE_LAYERS = ("tbb", "omp")
#: numba's layers in the order that it tries them in -> the module that each needs.
_LAYERS = {"tbb": "tbbpool", "omp": "omppool", "workqueue": "workqueue"}
#: numba aborts the process when two threads enter its third layer, `workqueue`, together.
_ONE_AT_A_TIME = threading.RLock()
#: Of an object, as `repr` writes it: no two runs have the same.
#: Parts of numba's messages about a function that it does not have, or not for such arguments.
_UNKNOWN = ("Unknown attribute", "unsupported NumPy function", "No implementation of")
_INSTEAD = "write it with operators, conditions and loops over cells, or pass in what it gives"
_ADDRESS = re.compile(r" at 0x[0-9a-f]+")


# --- what is here -------------------------------------------------------------------------------


def numba_importable() -> bool:
    """Whether numba is installed; it is not imported to find out."""
    return "numba" in sys.modules or importlib.util.find_spec("numba") is not None


def why_no_cuda() -> str | None:
    """Why `numba.cuda` cannot be imported, or None when it can."""
    try:
        from numba import cuda  # noqa: F401, PLC0415, TID251
    except _NOT_HERE as error:
        lines = (line.strip() for line in str(error).splitlines())
        return next(filter(None, lines), type(error).__name__)
    return None


def cuda_importable() -> bool:
    """Whether `numba.cuda` can be imported, with or without a GPU."""
    return why_no_cuda() is None


def has_cuda_device() -> bool:
    """Whether CUDA kernels can be launched: on a GPU, or in numba's simulator."""
    if not cuda_importable():
        return False
    try:
        return bool(_cuda().is_available())
    except _NOT_HERE:
        return False


def in_simulator() -> bool:
    """Whether numba was imported with ``NUMBA_ENABLE_CUDASIM=1``."""
    if not cuda_importable():
        return False
    return bool(_numba().config.ENABLE_CUDASIM)


def why_not(target: str) -> str | None:
    """Why a target cannot run here, or None when it can.

    Args:
        target: ``"python"``, ``"cpu"``, ``"cuda"`` or ``"emulate"``.
    """
    if target == "cpu" and not numba_importable():
        return "numba is not installed"
    if target == "cuda" and not has_cuda_device():
        return why_no_cuda() or "no NVIDIA GPU, or no driver for it, was found"
    return None


def require(target: str) -> None:
    """Make sure that a target can run here.

    Args:
        target: as for `why_not`.

    Raises:
        LoweringError: saying what is missing.
    """
    reason = why_not(target)
    if reason is None:
        return
    instead = "to run the same text without a GPU" if target == "cuda" else "to run it as it is"
    other = "emulate" if target == "cuda" else "python"
    raise LoweringError(
        f"target {target!r} cannot run here",
        code="lowering.missing",
        notes=(reason,),
        hints=(*remedies(target), f"use target={other!r} {instead}"),
    )


def remedies(target: str) -> list[str]:
    """The commands that install what a target needs and is not here.

    Args:
        target: as for `why_not`.
    """
    if target == "cpu" and not numba_importable():
        return ["pip install numba"]
    if target == "cuda" and not cuda_importable():
        return ["pip install 'astile[cuda]'", "pip install 'astile[cuda12]', for CUDA 12"]
    return []


def threading_layers() -> list[str]:
    """The threading layers that numba could use here, the one it would choose first."""
    if not numba_importable():
        return []
    found = []
    for layer, module in _LAYERS.items():
        with contextlib.suppress(ImportError, OSError):
            importlib.import_module(f"numba.np.ufunc.{module}")
            found.append(layer)
    return found


def most_threads() -> int:
    """On how many cores kernels of this process may run at most."""
    return int(_numba().config.NUMBA_NUM_THREADS)


def _numba() -> Any:
    import numba  # noqa: PLC0415, TID251

    return numba


def _cuda() -> Any:
    from numba import cuda  # noqa: PLC0415, TID251

    return cuda


# --- compiling and moving -----------------------------------------------------------------------


def compile_ptx(
    kernel: Callable[..., object], signature: Sequence[str], cc: tuple[int, int] = (9, 0)
) -> str:
    """The PTX of one CUDA kernel; no GPU and no driver are needed.

    Args:
        kernel: the kernel function, plain or decorated with `cuda.jit`.
        signature: numba's spelling of the type of each argument: ``"float32[:, ::1]"``.
        cc: compute capability to compile for.

    Raises:
        LoweringError: where numba.cuda is missing or cannot compile the kernel.
    """
    if not cuda_importable() or in_simulator():
        raise LoweringError(
            "PTX needs numba.cuda outside of its simulator",
            code="lowering.missing",
            notes=(why_no_cuda() or "NUMBA_ENABLE_CUDASIM is set",),
            hints=("pip install 'astile[cuda]'",),
        )
    plain = getattr(kernel, "py_func", kernel)
    with retelling("cuda", "", None):
        text, _ = _cuda().compile_ptx(plain, f"void({', '.join(signature)})", cc=cc)
    return str(text)


def to_device(array: npt.NDArray[Any]) -> Any:
    """A copy of a NumPy array in the memory of the GPU.

    Args:
        array: of any strides; the copy is contiguous.
    """
    return _cuda().to_device(np.ascontiguousarray(array).reshape(array.shape))


def to_host(value: Any) -> Any:
    """A copy of a device array as a NumPy array; anything else as it is.

    Args:
        value: what a host function returned.
    """
    copy = getattr(value, "copy_to_host", None)
    return value if copy is None else copy()


@contextlib.contextmanager
def in_order_with(streams: Sequence[int]) -> Iterator[None]:
    """Kernels inside run after what is queued on some streams by now, and before what comes later.

    Args:
        streams: handles of CUDA streams other than the default one, on which kernels run.
    """
    if not streams:
        yield
        return
    cuda = _cuda()
    own, others = cuda.default_stream(), [cuda.external_stream(each) for each in streams]
    for each in others:
        _after(cuda, own, each)
    try:
        yield
    finally:
        for each in others:
            _after(cuda, each, own)


def _after(cuda: Any, later: Any, earlier: Any) -> None:
    """Let a stream wait for what is queued on another one now."""
    event = cuda.event(timing=False)
    event.record(earlier)
    event.wait(later)


def prepare_kernels(function: Any, threads: Mapping[str, int]) -> None:
    """Let kernels keep the lines of their text, for profilers, and refuse what cannot be launched.

    They have no more registers than fit.

    Args:
        function: the host function of a module whose kernels were not launched so far.
        threads: name of a kernel -> threads of a block.
    """
    for name, count in threads.items():
        options = getattr(function.__globals__.get(name), "targetoptions", None)
        if isinstance(options, dict) and not in_simulator():
            options.update(lineinfo=True, launch_bounds=count)
            kernel_lines.kept_where_possible(function.__globals__[name])
            launch_limits.checked(function.__globals__[name], name, count)


def check_bounds(function: Any) -> None:
    """Make a compiled function raise IndexError where it would leave an array.

    Args:
        function: decorated with `njit` and not called so far. With ``NUMBA_DISABLE_JIT`` it is
            plain Python, which checks by itself.
    """
    options = getattr(function, "targetoptions", None)
    if isinstance(options, dict):
        options["boundscheck"] = True


def one_at_a_time_if_needed(function: Callable[..., object]) -> Callable[..., object]:
    """A function that holds a lock where numba's threading layer wants one.

    Args:
        function: compiled with `parallel=True`.
    """
    is_safe = False

    def call(*arguments: object, **keywords: object) -> object:
        nonlocal is_safe
        if is_safe:
            return function(*arguments, **keywords)
        is_safe = _layer_is_safe()  # numba keeps the layer that it has chosen
        with _ONE_AT_A_TIME:
            return function(*arguments, **keywords)

    return call


def _layer_is_safe() -> bool:
    try:
        return _numba().threading_layer() in _SAFE_LAYERS
    except ValueError:  # numba chooses its layer in the first parallel call
        return False


# --- complaints ---------------------------------------------------------------------------------


@contextlib.contextmanager
def retelling(
    target: str, text: str, program: Program | None, place_of: PlaceOf = nowhere
) -> Iterator[None]:
    """Tell numba's errors as astile's, at the user's line and without numba's frames.

    What the compiled code itself raises (IndexError, ZeroDivisionError, ...) passes unchanged.

    Args:
        target: where the text was to run.
        text: the generated module.
        program: the program that it was lowered from.
        place_of: lines of the text in the user's file.

    Raises:
        LoweringError: for every error of numba's compiler, and where a GPU has too little memory.
    """
    try:
        yield
    except SharedMemoryError as error:
        name = "the kernel" if program is None else program.name
        launch_limits.check_shared(name, error.size, error.most, "this GPU")
        raise
    except SystemError as error:
        if error.__cause__ is None:
            raise
        raise error.__cause__ from None  # what a body of prange raises arrives wrapped in this
    except StopIteration:  # numba's `min` and `max` go through an array as `next` does
        raise ValueError("min() or max() of an empty sequence") from None
    except Exception as error:
        if not _is_numbas(error):
            raise
        raise _retold(error, target, text, program, place_of) from None


def _is_numbas(error: Exception) -> bool:
    """Whether an error comes from numba's or numba.cuda's own classes, or the compilers below.

    An ImportError is numba's too: for `np.dot` it wants SciPy. A compiled program imports nothing.
    A NotImplementedError may be the user's own; it is numba's where a frame of numba raised it.
    numba.cuda raises a KeyError for functions of NumPy that it types and has no code for, numba an
    AttributeError where it looks for a loop that a function of NumPy does not have, and an
    AssertionError where it stores an array into one with fewer axes.
    """
    own = (NotImplementedError, KeyError, AttributeError, AssertionError)
    if isinstance(error, own) and _is_raised_in_numba(error):
        return True
    if isinstance(error, ImportError) or kernel_lines.is_of_compilers(error):
        return True
    return any(
        each.__module__.partition(".")[0] in ("numba", "numba_cuda") for each in type(error).__mro__
    )


def _is_raised_in_numba(error: Exception) -> bool:
    last = error.__traceback__
    while last is not None and last.tb_next is not None:
        last = last.tb_next
    module = "" if last is None else str(last.tb_frame.f_globals.get("__name__", ""))
    return module.partition(".")[0] in ("numba", "numba_cuda")


def _retold(
    error: Exception, target: str, text: str, program: Program | None, place_of: PlaceOf
) -> LoweringError:
    line = getattr(getattr(error, "loc", None), "line", None)
    span = None
    notes = [f"numba says: {each}" for each in _reasons(str(error))]
    lines = text.splitlines()
    if isinstance(line, int) and 1 <= line <= len(lines):
        span = place_of(line)
        if span is None:
            notes.append(f"in the generated line: {lines[line - 1].strip()}")
    if span is None and program is not None:
        span = program.source.span(program.function)
    hints = ["use target='python' to run it as plain Python"]
    if any(each in str(error) for each in _UNKNOWN):
        hints.insert(0, _INSTEAD)
    if isinstance(error, ImportError) and "scipy" in str(error).lower():
        hints.insert(0, "install SciPy, or write products such as np.dot as loops over cells")
    return LoweringError(
        f"numba cannot compile this for target {target!r}",
        code="lowering.compile",
        span=span,
        notes=notes,
        hints=hints,
    )


def _reasons(message: str) -> list[str]:
    """The lines of numba's message that say something about the user's program."""
    dropped = ("Failed in ", "During: ", "File ", "There are ", "raised from")
    found: list[str] = []
    for line in message.splitlines():
        stripped = line.strip().removeprefix(">>> ")
        goes_on = bool(found) and found[-1].endswith(":")  # with the types, after an empty line
        if not stripped or stripped.startswith((*dropped, "- Of which", "Overload")):
            if found and not (goes_on and not stripped):
                break
            continue
        told = _ADDRESS.sub("", stripped)
        if goes_on:
            found[-1] += f" {told}"
        else:
            found.append(told)
    return found[:3]
