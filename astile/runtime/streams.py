"""Streams: in which order a GPU does what it is told, by a caller and by kernels of a call."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping

from astile.runtime.arrays import ArrayFacts

#: How libraries name the default stream, which kernels run on.
_DEFAULT = (None, 0, 1)


def of_callers(arrays: Iterable[ArrayFacts]) -> list[int]:
    """The streams, other than the default one, on which a caller works with its arrays.

    Work that a caller queued on a stream may still be under way when a call begins, and work that
    is queued on it after the call may need what the call computes.

    Args:
        arrays: the array arguments.

    Returns:
        Handles of CUDA streams, each once.
    """
    found = (_of_array(each.value) for each in arrays if each.on_device)
    return list(dict.fromkeys(each for each in found if each is not None))


def _of_array(value: object) -> int | None:
    described = getattr(value, "__cuda_array_interface__", None)
    handle = described.get("stream") if isinstance(described, Mapping) else None
    torch = sys.modules.get("torch")
    if handle is None and torch is not None and isinstance(value, torch.Tensor):
        # PyTorch's arrays do not tell: the caller works on the current stream of their GPU
        handle = torch.cuda.current_stream(value.device).cuda_stream
    return None if handle in _DEFAULT else int(handle)
