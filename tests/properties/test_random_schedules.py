"""Random schedules of random affine nests keep what is promised of every step.

The programs, schedules and checks are those of `python -m tests.fuzz`; here Hypothesis makes the
choices, so that what fails is made small and runs again the same.
"""

from __future__ import annotations

import random
import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from astile.analysis.proof.equivalence import Checker
from astile.analysis.proof.verdicts import Proved
from astile.errors import AstileError
from astile.schedule.trace import Call
from tests.fuzz import programs, schedules
from tests.fuzz.oracle import Case, Unused, check, explore
from tests.fuzz.programs import Source
from tests.fuzz.shrink import as_test, shrink
from tests.support.package import ROOT

#: Names of the primitives that the documentation lists.
ROWS = re.findall(
    r"^\| `(\w+)\(", (ROOT / "docs" / "primitives.md").read_text("utf-8"), re.MULTILINE
)

#: The examples are drawn in so many parts, which may run on several cores.
PARTS = 8
#: Examples of all parts together.
EXAMPLES = 640

every_run_the_same = settings(
    max_examples=EXAMPLES // PARTS,
    derandomize=True,
    database=None,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    print_blob=False,
)


@pytest.mark.parametrize("part", range(PARTS))
def test_every_step_keeps_its_promises(part: int):
    seen = {"accepted": 0, "refused": 0, "refuted": 0, "unknown": 0}

    @every_run_the_same
    @given(st.integers(0, 2**32 - 1).map(lambda seed: random.Random(f"{part}-{seed}")))
    def promise(chance: random.Random) -> None:
        source = programs.draw(chance)
        try:
            taken, failure = explore(source, chance, exact=chance.random() < 0.2, most=2)
        except (Unused, AstileError):
            return
        for each in taken:
            seen[each.outcome] += 1
        if failure is not None:
            small = shrink(failure, seconds=60.0)
            pytest.fail(f"{small.message}\n{as_test(small)}", pytrace=False)

    promise()
    assert all(seen.values()), f"a kind of outcome never came: {seen}"


def test_every_primitive_is_drawn():
    # no program that is drawn has the form that tensorize takes
    assert sorted([*schedules.DRAWN, "tensorize"]) == sorted(ROWS)


# --- the oracle itself --------------------------------------------------------------------------


SHIFT = Source(
    """
import numpy as np


def f(A, n, m):
    for i in range(1, n):
        for j in range(m):
            A[i, j] = A[i - 1, j + 1] + 1
""",
    {"A": ("n + 2", "m + 2")},
)
INTERCHANGE = Case(SHIFT, (Call("reorder", ("j", "i"), {}),))


def test_the_oracle_agrees_with_a_true_refusal():
    assert check(INTERCHANGE) is None


def test_the_oracle_sees_a_wrong_step(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(Checker, "compare", lambda *_, **__: Proved("equal", (), 0.0))
    failure = check(INTERCHANGE)
    assert failure is not None
    assert failure.kind == "wrong"


def test_what_fails_is_made_small(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(Checker, "compare", lambda *_, **__: Proved("equal", (), 0.0))
    text = SHIFT.text.replace("    for i", "    for k in range(m):\n        A[0, k] = k\n    for i")
    source = Source(text, SHIFT.extents, "float32", ("A",) * 0)
    failure = check(
        Case(source, (Call("split", ("k",), {"factors": [None, 2]}), *INTERCHANGE.calls))
    )
    assert failure is not None
    small = shrink(failure, seconds=30.0)
    assert len(small.case.calls) == 1
    assert "range(m)" not in small.case.source.text or "k" not in small.case.source.text
    assert len(small.case.source.text.strip().splitlines()) <= 15
    assert "check(Case(" in as_test(small)
