"""Starts the processes of peers and talks to them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

_ROOT = Path(__file__).resolve().parent.parent
#: What tells libraries how many threads they have.
_THREADS = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMBA_NUM_THREADS",
    "HL_NUM_THREADS",
)
#: Threads keep to their cores, and do not spin for long where nothing is to be done.
_SETTINGS = {
    "OMP_PROC_BIND": "true",
    "GOMP_SPINCOUNT": "2000",
    "JAX_PLATFORMS": "cpu",
}


class PeerError(Exception):
    """A peer that could not do what it was asked, with its reason."""


class Process:
    """A running peer.

    Args:
        peer: its name.
        threads: that it may use.
        verbose: let it write to standard error: warnings, tracebacks.
    """

    def __init__(self, peer: str, threads: int, *, verbose: bool = False) -> None:
        self.peer = peer
        environment = {**os.environ, **_SETTINGS, **dict.fromkeys(_THREADS, str(threads))}
        self._process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.worker", peer, str(threads)],
            cwd=_ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=None if verbose else subprocess.DEVNULL,
            env=environment,
            text=True,
        )

    def ask(self, **message: object) -> dict[str, Any]:
        """Send one message and wait for the answer.

        Args:
            **message: see `benchmarks.worker`.

        Raises:
            PeerError: with the reason of the peer.
        """
        requests, answers = self._process.stdin, self._process.stdout
        assert requests is not None
        assert answers is not None
        try:
            requests.write(json.dumps(message) + "\n")
            requests.flush()
            line = answers.readline()
        except OSError:
            line = ""
        if not line:
            raise PeerError("its process ended")
        answer: dict[str, Any] = json.loads(line)
        if "failed" in answer:
            raise PeerError(answer["failed"])
        return answer

    def close(self) -> None:
        """End it."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
