"""Names of arrays that expressions make: what becomes loops, and what stays."""

from __future__ import annotations

import pytest

from tests.support.plain_forms import as_given, shown

BECOMES = {
    "a name": (
        "t = 2 * A[:, 0] + B[:, 1]\nA[:, 1] = t",
        'if A.shape[0] != B.shape[0]:\n    raise ValueError("A[:, 0] and B[:, 1] have different '
        'lengths")\n'
        "t = np.empty(A.shape[0], A.dtype)\n"
        "for i in range(A.shape[0]):\n    t[i] = 2 * A[i, 0] + B[i, 1]\n\n"
        "for j in range(A.shape[0]):\n    A[j, 1] = t[j]",
    ),
    "one of another": (
        "t = A[:] / 2\nu = t + 1\nreturn u",
        "t = np.empty(A.shape[0], A.dtype)\n"
        "for i in range(A.shape[0]):\n    t[i] = A[i] / 2\n\n"
        "u = np.empty_like(t)\n"
        "for j in range(A.shape[0]):\n    u[j] = t[j] + 1\n\nreturn u",
    ),
    "what is returned": (
        "return A[1:] * n, n + 1",
        "result = np.empty(max(A.shape[0] - 1, 0), A.dtype)\n"
        "for i in range(1, A.shape[0]):\n    result[i - 1] = A[i] * n\n\nreturn result, n + 1",
    ),
    "truth values": (
        "inside = (A[:] > 0) & (A[:] < n)\nreturn inside",
        "inside = np.empty(A.shape[0], np.bool_)\n"
        "for i in range(A.shape[0]):\n    inside[i] = (A[i] > 0) & (A[i] < n)\n\nreturn inside",
    ),
    "in a loop": (
        "for k in range(A.shape[0]):\n    t = np.sqrt(A[k, :])\n    A[k, 0] = t[1]",
        "for k in range(A.shape[0]):\n    t = np.empty(A.shape[1], A.dtype)\n"
        "    for i in range(A.shape[1]):\n        t[i] = np.sqrt(A[k, i])\n"
        "    A[k, 0] = t[1]",
    ),
    "updated later": (
        "t = A[:] * 2\nt += A[:]\nreturn t",
        "t = np.empty(A.shape[0], A.dtype)\n"
        "for i in range(A.shape[0]):\n    t[i] = A[i] * 2\n\n"
        "for j in range(A.shape[0]):\n    t[j] += A[j]\n\nreturn t",
    ),
}

STAYS = {
    "another name of the same cells": "t = A[::2]\nt[0] = 1\nreturn A",
    "bound twice": "t = A[:] * 2\nt = t + 1\nreturn t",
    "a function that is not cell by cell": "t = np.sort(A[:]) * 2\nreturn t",
    "a step": "return A[::2] * 2",
    "truth values that are added": "return (A[:] > 0) + (A[:] < n)",
    "a truth value by a function among numbers": "return np.isnan(A[:]) * A[:]",
}


@pytest.mark.parametrize("name", BECOMES)
def test_becomes_loops(name):
    before, after = BECOMES[name]
    assert shown(before) == after


@pytest.mark.parametrize("name", STAYS)
def test_stays(name):
    assert shown(STAYS[name]) == as_given(STAYS[name])
