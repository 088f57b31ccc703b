"""On a machine with a GPU: kernels against a float64 reference, then times beside peers."""

from __future__ import annotations

import importlib
import statistics
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numba import cuda, njit

from benchmarks import gpu_peers
from benchmarks.gpu_cases import Case, cases

#: Largest difference from the reference, relative to its largest cell.
_TOLERANCE = 1e-4
#: Calls that one time is taken of, and how many times.
_CALLS, _ROUNDS = 10, 7
#: Seconds of one case, its compilation and its reference included.
_LONGEST = 40.0
Tell = Callable[[str], None]


def measured(only: str | None, seconds: float, tell: Tell) -> Iterator[dict[str, Any]]:
    """A record for each result.

    Args:
        only: part of a name; all cases where None.
        seconds: after which nothing new is begun.
        tell: told of what is left out, and why.
    """
    if not cuda.is_available():
        tell("no NVIDIA GPU, or no driver for it, was found; --dry needs none")
        return
    end = time.monotonic() + seconds
    yield from _limits(tell)
    for case in cases(only):
        if time.monotonic() > end - _LONGEST:
            tell(f"{case.name}: no time is left")
            continue
        try:
            yield from _case(case, tell)
        except Exception as error:  # the other cases are still worth their time
            yield {"case": case.name, "who": "astile", "error": f"{type(error).__name__}: {error}"}


def _limits(tell: Tell) -> Iterator[dict[str, Any]]:
    """What the machine can do: bytes copied in a second, and products of matrices."""
    source = cuda.device_array(1 << 27, np.float32)
    copy = cuda.device_array_like(source)
    seconds = _seconds(lambda: copy.copy_to_device(source))
    yield {"case": "copy", "who": "driver", "gbytes": 2 * source.nbytes / seconds / 1e9}
    for dtype in ("float32", "float16"):
        rate = gpu_peers.matrix_rate(dtype, _seconds)
        if rate is None:
            tell("torch is not here: no rate of matrix products")
            return
        yield {"case": f"matrix rate {dtype}", "who": "torch", "tflops": rate}


def _case(case: Case, tell: Tell) -> Iterator[dict[str, Any]]:
    kernel = case.schedule().build("cuda")
    host = case.arguments()
    expected = [np.array(each, np.float64 if _is_real(each) else None) for each in host]
    result = njit(_plain(case))(*expected)
    device = [cuda.to_device(each) if isinstance(each, np.ndarray) else each for each in host]
    returned = kernel(*device)
    found = [each.copy_to_host() for each in device if hasattr(each, "copy_to_host")]
    wanted = [each for each in expected if isinstance(each, np.ndarray)]
    if result is not None and hasattr(returned, "copy_to_host"):
        found, wanted = [*found, returned.copy_to_host()], [*wanted, result]
    difference = max(_difference(one, other) for one, other in zip(found, wanted, strict=True))
    record = {"case": case.name, "who": "astile", "difference": difference}
    if not difference <= _TOLERANCE:
        yield record | {"error": "differs from the reference"}
        return
    yield record | {"seconds": _seconds(lambda: kernel(*device))}
    yield from _peers(case, device, tell)


def _peers(case: Case, device: list[Any], tell: Tell) -> Iterator[dict[str, Any]]:
    """The times of others, as far as they can compute it; what they cannot is no fault here."""
    try:
        for who, call in gpu_peers.peers(case.function, device, tell):
            yield {"case": case.name, "who": who, "seconds": _seconds(call)}
    except Exception as error:
        tell(f"{case.name}: a peer failed: {type(error).__name__}: {error}")


def _plain(case: Case) -> Callable[..., Any]:
    module = importlib.import_module("astile.ir.module")
    loads = importlib.import_module("astile.runtime.load")
    original = case.schedule().original
    made: Callable[..., Any] = loads.load(module.module_text(original), original.name, ("plain",))
    return made


def _is_real(value: Any) -> bool:
    return getattr(value, "dtype", np.dtype(int)).kind == "f"


def _difference(found: Any, wanted: Any) -> float:
    if not np.size(wanted):
        return 0.0
    scale = max(float(np.abs(wanted).max()), 1e-30)
    return float(np.abs(found.astype(np.float64) - wanted).max()) / scale


def _seconds(call: Callable[[], Any]) -> float:
    """The median time of a call on the GPU, after a first one that compiles."""
    call()
    times = []
    for _ in range(_ROUNDS):
        first, last = cuda.event(), cuda.event()
        first.record()
        for _ in range(_CALLS):
            call()
        last.record()
        last.synchronize()
        times.append(first.elapsed_time(last) / 1e3 / _CALLS)
    return statistics.median(times)
