from __future__ import annotations

import ast
import itertools
from types import SimpleNamespace
from typing import Any

import pytest

from astile.analysis.forms.radix import affine_form, parted
from astile.analysis.reading.statements import with_origins
from astile.errors import IllegalSchedule
from astile.ir import nodes, query
from astile.ir.printer import print_expression
from astile.ir.program import Program
from astile.schedule.schedule import Schedule
from tests.support.programs import program_from

#: `x.shape` is ``(h, w)``; n and m are integers, maybe negative.
HEAD = "def f(log, x, n, m):\n    h, w = x.shape\n"


def program(body: str) -> Program:
    lines = [f"    {line}" for line in body.strip("\n").splitlines()]
    return program_from(HEAD + "\n".join(lines) + "\n")


def trace(of: Program, h: int, w: int, n: int, m: int) -> list[Any]:
    """What a program logs; loop words are run as plain ranges."""
    function = nodes.clone(of.function)
    for loop in query.loops(function):
        header = query.header(loop)
        if header is not None:
            assert isinstance(loop.iter, ast.Call)
            loop.iter.func = nodes.name("range")
    scope: dict[str, Any] = {}
    module = ast.fix_missing_locations(nodes.module_of([function]))
    exec(compile(module, "<form>", "exec"), scope)
    log: list[Any] = []
    scope["f"](log, SimpleNamespace(shape=(h, w)), n, m)
    return log


def assert_same_trace(before: Program, after: Program) -> None:
    for h, w, n, m in itertools.product((0, 1, 3), (0, 2, 5), (-2, 0, 1, 4), (-3, 0, 2, 3)):
        assert trace(after, h, w, n, m) == trace(before, h, w, n, m), (h, w, n, m)


def depth_of(of: Program) -> int:
    """How many loops are nested."""
    places = [query.find_place(of.function, each) for each in query.loops(of.function)]
    return max(len(each.loops) + 1 for each in places if each is not None)


# --- forms --------------------------------------------------------------------------------------

PARTED = {
    "extents": """
for f in range(h * w):
    log.append((f // w, f % w))
""",
    "three digits": """
for f in range(h * w * 3):
    log.append((f // 3 // w, f // 3 % w, f % 3))
""",
    "a quotient by a product": """
for f in range(n * h * w):
    log.append((f // (h * w), f // w % h, f % w))
""",
    "one size may be negative": """
for f in range(n * w):
    log.append((f // w, f % w + 1))
""",
    "both may be negative, and count as none": """
for f in range(max(0, n) * max(0, m - 1)):
    log.append((f // (m - 1), f % (m - 1)))
""",
}
JOINED = {
    "a growing digit inside": """
for a in range(3):
    for b in range((n + 5) // 6):
        for c in range(2):
            if a * ((n + 5) // 6) * 2 + b * 2 + c < n:
                log.append(a * ((n + 5) // 6) * 2 + b * 2 + c + 1)
""",
    "a flat array": """
for a in range(h):
    for b in range(w):
        log.append((a * w + b) * 3)
""",
    "another condition stays": """
for a in range((n * w + 3) // 4):
    for b in range(4):
        if a * 4 + b < n * w and m > 1:
            log.append(((a * 4 + b) // w, (a * 4 + b) % w))
""",
    "a bound that may be past the end": """
for a in range(n):
    for b in range(w):
        if a * w + b < m:
            log.append(a * w + b)
""",
}
OUT_OF_ORDER = """
for b in range(n):
    for a in range(3):
        log.append(a * n + b)
"""


@pytest.mark.parametrize("name", [*PARTED, *JOINED])
def test_the_form_does_the_same(name: str) -> None:
    before = program((PARTED | JOINED)[name])
    after = affine_form(before)
    assert after is not before
    assert ast.dump(after.function) != ast.dump(before.function)
    assert_same_trace(before, after)


@pytest.mark.parametrize("name", PARTED)
def test_a_number_becomes_loops_over_its_digits(name: str) -> None:
    before = program(PARTED[name])
    after, digits = parted(before)
    assert depth_of(after) == len(digits) / 2 + 1 > 1
    assert_same_trace(before, after)


def test_the_guard_is_the_end_of_the_loop() -> None:
    after = affine_form(program(JOINED["a growing digit inside"]))
    [loop] = query.loops(after.function)
    assert print_expression(loop.iter) == "range(n)"
    assert not any(isinstance(each, ast.If) for each in query.statements(loop))


def spelled(value: str) -> Program:
    """A loop out of order, whose iteration of the original is spelled so."""
    made = program(OUT_OF_ORDER)
    for each in query.statements(made.function):
        if isinstance(each, ast.Expr):
            iteration = ast.parse(value, mode="eval").body
            nodes.set_origin(each, nodes.Origin(0, (iteration,)))
    return made


def test_a_short_loop_is_written_out() -> None:
    before = spelled("a * n + b")
    after = affine_form(before)
    assert len(query.loops(after.function)) == 1
    assert_same_trace(before, after)


def test_a_short_loop_of_the_function_itself_is_not() -> None:
    assert len(query.loops(affine_form(spelled("a + b")).function)) == 2


def dilated(x, w, y, d):  # type: ignore[no-untyped-def]
    for i in range(y.shape[0]):
        for p in range(3):
            y[i] += x[i + p * d] * w[p]


def test_a_variable_that_the_function_scales_by_a_size() -> None:
    s = Schedule(dilated)
    s.split("i", [None, 8])
    s.parallel("i_0")


def test_programs_without_such_loops_are_left_alone() -> None:
    before = program("""
for i in range(n):
    for j in range(8):
        log.append((x.shape[0] * n, i * 8 + j, (i + j) // 8))
""")
    assert affine_form(before) is before


NEAR = {
    "divided by the other extent": """
for f in range(h * w):
    if w > 0 and h > 0:
        log.append((f // h, f % w))
""",
    "the number is used too": """
for f in range(h * w):
    log.append((f // w, f % w, f))
""",
    "shifted before it is divided": """
for f in range(h * w):
    log.append(((f + 1) // w, f % w))
""",
    "the range is longer": """
for f in range(h * w + 1):
    if w > 0:
        log.append((f // w, f % w))
""",
    "the range starts later": """
for f in range(1, h * w):
    log.append((f // w, f % w))
""",
    "both may be negative": """
for f in range(n * m):
    log.append((f // m, f % m))
""",
    "the divisor changes inside": """
for f in range(h * w):
    log.append((f // w, f % w))
    w = 7
""",
    "read after the loop": """
f = 0
for f in range(h * w):
    log.append((f // w, f % w))
log.append(f)
""",
    "left early": """
for f in range(h * w):
    if f // w == 1:
        break
    log.append((f // w, f % w))
""",
    "digits in the wrong order": """
for b in range(w):
    for a in range(h):
        log.append(a * w + b)
""",
    "the wrong radix": """
for a in range(h):
    for b in range(w):
        log.append(a * h + b)
""",
    "an extent that depends on a digit": """
for a in range(h):
    for b in range(a):
        log.append(a * a + b)
""",
    "an extent that changes": """
for a in range(h):
    for b in range(m):
        log.append(a * m + b)
        m = 2
""",
    "a statement beside": """
for a in range(h):
    log.append(0)
    for b in range(w):
        log.append(a * w + b)
""",
    "a loop that is left early": """
for a in range(h):
    for b in range(w):
        if b == 1:
            break
        log.append(a * w + b)
""",
    "a step": """
for a in range(0, h, 2):
    for b in range(w):
        log.append(a * w + b)
""",
}


@pytest.mark.parametrize("name", NEAR)
def test_near_misses_keep_their_meaning(name: str) -> None:
    before = program(NEAR[name])
    after = affine_form(before)
    assert ast.dump(after.function) == ast.dump(before.function)
    assert_same_trace(before, after)


def test_origins_are_said_in_the_new_digits() -> None:
    before = with_origins(program(PARTED["extents"]))
    after = affine_form(before)
    found = [nodes.origin(e) for e in query.statements(after.function) if isinstance(e, ast.Expr)]
    assert [[print_expression(i) for i in e.iteration] for e in found if e] == [["f_high", "f_low"]]


def test_a_function_over_a_number_is_modelled_over_its_digits() -> None:
    before = with_origins(program(PARTED["extents"]))
    found = [nodes.origin(e) for e in query.statements(before.function) if isinstance(e, ast.Expr)]
    assert [[print_expression(i) for i in e.iteration] for e in found if e] == [["f // w", "f % w"]]


# --- concurrent loops ---------------------------------------------------------------------------


def kinds(of: Program) -> list[str]:
    return [h.kind for each in query.loops(of.function) if (h := query.header(each)) is not None]


NEST = """
for a in {a}((h * w + 3) // 4):
    for b in {b}(4):
        if a * 4 + b < h * w:
            log.append(((a * 4 + b) // w, (a * 4 + b) % w))
"""


@pytest.mark.parametrize(
    ("a", "b", "wanted"),
    [
        ("range", "unroll", ["range", "range"]),
        ("parallel", "range", ["parallel", "parallel"]),
        ("range", "vector", ["parallel", "parallel"]),
        ("block.x", "thread.x", ["block.x", "block.y"]),
        ("block.y", "range", ["block.y", "block.x"]),
        ("thread.y", "thread.x", ["thread.y", "thread.z"]),
    ],
)
def test_no_less_is_asked_of_concurrent_loops(a: str, b: str, wanted: list[str]) -> None:
    assert kinds(affine_form(program(NEST.format(a=a, b=b)), unrolls=False)) == wanted


def test_threads_beside_other_threads_are_left_alone() -> None:
    before = program(
        "for o in block.x(n):\n"
        + "".join(f"    {line}\n" for line in NEST.format(a="range", b="thread.x").splitlines())
        + "    for t in thread.x(4):\n        log.append(t)\n"
    )
    assert kinds(affine_form(before, unrolls=False)) == kinds(before)


# --- steps --------------------------------------------------------------------------------------


def add(x, y, out):  # type: ignore[no-untyped-def]
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = x[i, j] + y[i, j]


def flat(x, out):  # type: ignore[no-untyped-def]
    h, w = out.shape
    for f in range(h * w):
        i = f // w
        out[i, f % w] = x[i, f % w] * 2


def lengths(x, out):  # type: ignore[no-untyped-def]
    h, w = out.shape[0], out.shape[1]
    for i in range(h):
        for j in range(w - 1):
            out[i, j] = x[i, j] * 2


def test_extents_that_are_bound_side_by_side() -> None:
    s = Schedule(lengths)
    s.fuse("i", "j")
    s = Schedule(lengths)
    s.split("i", [2, None])
    s.split("j", [3, None, 2])


def test_fused_loops_of_symbolic_extents_are_split_and_bound() -> None:
    s = Schedule(add)
    (fused,) = s.fuse("i", "j")
    outer, inner = s.split(fused, [None, 64])
    s.copy().parallel(outer)
    s.copy().vectorize(inner)
    s.bind(outer, "blockIdx.x")
    s.bind(inner, "threadIdx.x")
    assert "failed" not in s.source("cuda")  # no access needs a check


def test_a_function_over_a_flat_range_is_split_and_run_in_parallel() -> None:
    s = Schedule(flat)
    outer, _ = s.split("f", [None, 32])
    s.parallel(outer)


def test_a_growing_factor_in_the_middle() -> None:
    s = Schedule(flat)
    outer, middle, _ = s.split("f", [3, None, 4])
    s.parallel(outer)
    s = Schedule(add)
    outer, middle, _ = s.split("i", [3, None, 4])
    s.reorder(middle, outer)


def scaled(x):  # type: ignore[no-untyped-def]
    for i in range(len(x)):
        x[i] = 2 * x[i]


def test_the_length_of_an_array_is_a_size() -> None:
    s = Schedule(scaled)
    outer, _ = s.split("i", [8, None])
    s.parallel(outer)
    assert [each.proof.kind for each in s.steps if each.proof] == ["equal", "equal"]


def carried(x):  # type: ignore[no-untyped-def]
    for i in range(x.shape[0]):
        for j in range(1, x.shape[1]):
            x[i, j] = x[i, j - 1] + 1


def rows(x, total):  # type: ignore[no-untyped-def]
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            total[i] += x[i, j]


@pytest.mark.parametrize("function", [carried, rows])
def test_what_is_carried_stays_in_order(function: Any) -> None:
    s = Schedule(function, exact=True)
    (fused,) = s.fuse("i", "j")
    outer, inner = s.split(fused, [None, 64])
    with pytest.raises(IllegalSchedule, match="parallel"):
        s.copy().parallel(outer)
    with pytest.raises(IllegalSchedule, match="bind"):
        s.copy().bind(inner, "threadIdx.x")
    with pytest.raises(IllegalSchedule, match="reorder"):
        s.reorder(inner, outer)
