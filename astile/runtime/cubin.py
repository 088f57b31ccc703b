"""Machine code as `cuda.jit` makes it, without a GPU: the one place of numba.cuda's inner names.

`cuda.jit` compiles to intermediate code, and links that with optimization (LTO); on a Hopper GPU
for compute capability 9.0a. The same is done here, for a capability that is given.
"""

from __future__ import annotations

import contextlib
import importlib
import re
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from astile.errors import LoweringError
from astile.runtime import compile as compiling
from astile.runtime import kernel_lines

#: What the tools of CUDA come with.
_PACKAGES = "'numba-cuda[cu13]' 'cuda-toolkit[nvcc]==13.0.*' nvidia-cuda-nvdisasm"
#: Shared memory that the driver keeps of each block, from this capability on.
_KEPT_BYTES, _KEPT_FROM = 1024, (8, 0)


@dataclass(frozen=True)
class Resources:
    """What one thread and one block of a kernel take.

    Args:
        registers: of one thread.
        stack: bytes of one thread.
        shared: static bytes of one block.
    """

    registers: int
    stack: int
    shared: int


def cubin(
    kernel: Any, signature: Sequence[str], cc: tuple[int, int], threads: int | None = None
) -> bytes:
    """The machine code of one kernel.

    Args:
        kernel: decorated with `cuda.jit`.
        signature: numba's spelling of the type of each argument.
        cc: compute capability.
        threads: of a block, where they are known.

    Raises:
        LoweringError: where something is missing, or numba cannot compile the kernel.
    """
    compiler = _module("numba.cuda.compiler")
    if not hasattr(compiler, "_compile_pyfunc_with_fixup"):  # the one that comes with numba
        raise _missing("numba-cuda is not installed, or another version of it")
    target = (*cc, "a") if cc >= (9, 0) else cc
    plain: Callable[..., object] = kernel.py_func

    def made(has_lines: bool) -> bytes:
        library, _ = compiler._compile_pyfunc_with_fixup(
            plain,
            f"void({', '.join(signature)})",
            device=False,
            cc=target,
            abi="numba",
            lto=True,
            lineinfo=has_lines,
            launch_bounds=threads,
        )
        library._lto = True
        return bytes(library.get_cubin(cc=target).code)

    with compiling.retelling("cuda", "", None), _telling_what_is_missing():
        return kernel_lines.with_or_without(made)


def disassembly(code: bytes) -> str:
    """Machine code as text, with the lines of the Python text that it was made from.

    Args:
        code: what `cubin` gave.

    Raises:
        LoweringError: where nvdisasm is missing.
    """
    return _run("nvdisasm", ("-c", "-g"), code)


def resources(code: bytes, cc: tuple[int, int]) -> Resources:
    """What a kernel takes.

    Args:
        code: what `cubin` gave.
        cc: its compute capability.

    Raises:
        LoweringError: where cuobjdump is missing.
    """
    text = _run("cuobjdump", ("-res-usage",), code)
    found = re.search(r"REG:(\d+) STACK:(\d+) SHARED:(\d+)", text)
    if found is None:
        raise _missing("cuobjdump does not say what the kernel takes")
    registers, stack, shared = map(int, found.groups())
    kept = _KEPT_BYTES if cc > _KEPT_FROM and shared >= _KEPT_BYTES else 0
    return Resources(registers, stack, shared - kept)


def _module(name: str) -> Any:
    reason = compiling.why_no_cuda()
    if reason is None and compiling.in_simulator():
        reason = "NUMBA_ENABLE_CUDASIM is set"
    if reason is not None:
        raise _missing(reason)
    return importlib.import_module(name)


def _run(tool: str, options: Sequence[str], code: bytes) -> str:
    """The output of a tool of CUDA on machine code."""
    finder = _module("cuda.pathfinder")
    path = finder.find_nvidia_binary_utility(tool)
    if path is None:
        raise _missing(f"{tool} was not found")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "kernel.cubin"
        file.write_bytes(code)
        done = subprocess.run([path, *options, str(file)], capture_output=True, text=True)
    if done.returncode:
        raise _missing(f"{tool} failed: {done.stderr.strip()[:200]}")
    return done.stdout


def _missing(reason: str) -> LoweringError:
    return LoweringError(
        "machine code cannot be made here",
        code="lowering.missing",
        notes=(reason,),
        hints=(f"pip install {_PACKAGES} nvidia-cuda-cuobjdump",),
    )


@contextlib.contextmanager
def _telling_what_is_missing() -> Iterator[None]:
    """Errors of libraries that were not found, told as what to install."""
    try:
        yield
    except LoweringError:
        raise
    except Exception as error:
        if not _is_missing(error):
            raise
        raise _missing(str(error).partition("\n")[0]) from None


def _is_missing(error: BaseException) -> bool:
    return type(error).__name__ in ("DynamicLibNotFoundError", "NvvmSupportError") or isinstance(
        error, OSError
    )
