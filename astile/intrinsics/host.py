"""How wide the vector registers of this machine are."""

from __future__ import annotations

import importlib
from collections.abc import Mapping

#: Feature of a processor -> bytes of its vector registers, the widest first.
_WIDTHS = (("avx512f", 64), ("avx", 32), ("avx2", 32))
#: Bytes of a vector register where nothing else is known: SSE2, NEON.
_LEAST = 16


def vector_bytes() -> int:
    """Bytes of a vector register of the processor that numba compiles for; 16 where unknown."""
    try:
        binding = importlib.import_module("llvmlite.binding")
        features: Mapping[str, bool] = binding.get_host_cpu_features()
    except (ImportError, RuntimeError):
        return _LEAST
    return next((width for name, width in _WIDTHS if features.get(name)), _LEAST)
