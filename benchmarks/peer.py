"""One way of computing a workload, and the peers that there are."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from dataclasses import dataclass

from benchmarks.workload import Array

#: Peer -> the module that it needs.
_NEEDS = {
    "astile": "numba",
    "numpy": "numpy",
    "torch": "torch",
    "numba": "numba",
    "jax": "jax",
    "halide": "halide",
    "tvm": "tvm",
}


@dataclass(frozen=True)
class Variant:
    """A computation that can be repeated.

    Args:
        run: computes once.
        result: gives what the last run computed.
    """

    run: Callable[[], object]
    result: Callable[[], Array]


def installed() -> list[str]:
    """The peers whose libraries are here; astile is the first."""
    return [peer for peer, needs in _NEEDS.items() if importlib.util.find_spec(needs)]
