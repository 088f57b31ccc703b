from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from astile.errors import IllegalSchedule, ScheduleError
from astile.ir.module import module_text
from astile.ir.program import Program
from astile.rewrites.compute_at import compute_at
from astile.rewrites.reorder import reorder
from astile.rewrites.set_scope import set_scope
from astile.rewrites.split import split
from astile.schedule import compose
from astile.schedule.schedule import Schedule
from tests.support.assert_rewrite import (
    applied,
    assert_proved,
    assert_replays,
    assert_same_results,
    loop,
    loops,
    program,
    refused,
    rewritten,
    sizes,
    stage,
)

Golden = Callable[[str, str], None]

CONV_ADD = """
def conv_add(x, w, bias, out):
    H, W = out.shape
    conv = np.empty((H, W), np.float32)
    for i in range(H):
        for j in range(W):
            acc = np.float32(0)
            for a in range(3):
                for b in range(3):
                    acc += x[i + a, j + b] * w[a, b]
            conv[i, j] = acc
    for i in range(H):
        for j in range(W):
            out[i, j] = conv[i, j] + bias[i, j]
"""
ROWS = """
def f(x, y):
    n = len(x)
    a = np.empty(n)
    for i in range(n):
        a[i] = x[i] * 2
    for i in range({consumer}):
        y[i] = {value}
"""


def tiled(
    before: Program, variables: Sequence[str], tile: Sequence[int]
) -> tuple[Program, list[int], list[int]]:
    """Loops split and reordered: the program, the outer and the inner loops."""
    outer, inner = [], []
    after = before
    for identity, size in zip(loops(before, *variables), tile, strict=True):
        after, made = applied(split, after, identity, [None, size])
        outer.append(made[0])
        inner.append(made[1])
    if len(outer) > 1:
        after = rewritten(reorder, after, [*outer, *inner])
    return after, outer, inner


def moved(before: Program, name: str, at: int, **options: int) -> Program:
    return rewritten(compute_at, before, stage(before, name), at, **options)


def images(n: int) -> tuple[object, ...]:
    m = n + 3
    x = (np.arange((n + 2) * (m + 2)) % 11).reshape(n + 2, m + 2).astype(np.float32)
    w = np.arange(9, dtype=np.float32).reshape(3, 3)
    bias = np.arange(n * m, dtype=np.float32).reshape(n, m)
    return x, w, bias, np.zeros((n, m), np.float32)


def vectors(n: int) -> tuple[object, ...]:
    return np.arange(n) * 3.0, np.zeros(n)


def squares(n: int) -> tuple[object, ...]:
    m = n + 2
    return (np.arange(n * m) % 13.0).reshape(n, m), np.zeros((n, m))


# --- rewrites -----------------------------------------------------------------------------------


def test_conv_add(golden: Golden) -> None:
    before = program(CONV_ADD)
    after, outer, _ = tiled(before, ["i#1", "j#1"], [16, 16])
    after = moved(after, "conv", outer[1])
    golden("rewrites/compute_at/conv_add.py", module_text(after))
    assert_proved(before, after)


BLUR = """
def blur(x, out):
    H, W = x.shape
    wide = np.empty((H, W), np.float32)
    for i in range(H):
        for j in range(W - 2):
            wide[i, j] = x[i, j] + x[i, j + 1] + x[i, j + 2]
    for i in range(H - 2):
        for j in range(W - 2):
            out[i, j] = wide[i, j] + wide[i + 1, j] + wide[i + 2, j]
"""


def test_a_halo(golden: Golden) -> None:
    before = program(BLUR)
    after, outer, _ = tiled(before, ["i#1", "j#1"], [16, 16])
    after = moved(after, "wide", outer[1])
    golden("rewrites/compute_at/halo.py", module_text(after))
    assert_proved(before, after)


def test_at_a_loop_that_is_not_tiled(golden: Golden) -> None:
    before = program(BLUR)
    after = moved(before, "wide", loop(before, "i", 1))
    golden("rewrites/compute_at/row.py", module_text(after))
    assert_proved(before, after)


CLAMPED = """
def blur(x, out):
    h, w = x.shape
    by = np.empty((h, w))
    for y in range(h):
        for c in range(w):
            by[y, c] = x[max(y - 1, 0), c] + x[y, c] + x[min(y + 1, h - 1), c]
    for y in range(h):
        for c in range(w):
            out[y, c] = by[y, max(c - 2, 0)] + by[y, c] + by[y, min(c + 2, w - 1)]
"""


def test_clamped_indices(golden: Golden) -> None:
    before = program(CLAMPED)
    after, outer, _ = tiled(before, ["y#1", "c#1"], [8, 16])
    after = moved(after, "by", outer[1])
    golden("rewrites/compute_at/clamped.py", module_text(after))
    assert_proved(before, after)


STRIDED = """
def pool(x, out):
    n = len(out)
    a = np.empty(2 * n)
    for i in range(2 * n):
        a[i] = x[i] * x[i]
    for i in range(n):
        out[i] = max(a[2 * i], a[2 * i + 1])
"""


def test_a_strided_consumer(golden: Golden) -> None:
    before = program(STRIDED)
    after, outer, _ = tiled(before, ["i#1"], [8])
    after = moved(after, "a", outer[0])
    golden("rewrites/compute_at/strided.py", module_text(after))
    assert_proved(before, after)


CHAIN = """
def sharpen(rgb, out):
    H, W = out.shape
    grey = np.empty((H + 4, W + 4))
    tall = np.empty((H, W + 4))
    soft = np.empty((H, W))
    for i in range(H + 4):
        for j in range(W + 4):
            grey[i, j] = rgb[i, j, 0] + rgb[i, j, 1] * 2 + rgb[i, j, 2]
    for i in range(H):
        for j in range(W + 4):
            tall[i, j] = grey[i, j] + grey[i + 2, j] + grey[i + 4, j]
    for i in range(H):
        for j in range(W):
            soft[i, j] = tall[i, j] + tall[i, j + 2] + tall[i, j + 4]
    for i in range(H):
        for j in range(W):
            out[i, j] = grey[i + 2, j + 2] * 2 - soft[i, j]
"""


def chain() -> tuple[Program, Program]:
    before = program(CHAIN)
    after, outer, _ = tiled(before, ["i#3", "j#3"], [8, 16])
    for name in ("soft", "tall", "grey"):
        after = moved(after, name, outer[1])
    return before, after


def test_a_chain_of_four_stages(golden: Golden) -> None:
    before, after = chain()
    golden("rewrites/compute_at/chain.py", module_text(after))
    assert_proved(before, after)


def test_a_producer_that_is_tiled_itself(golden: Golden) -> None:
    before = program(CONV_ADD)
    after, _, _ = tiled(before, ["i", "j"], [32, 10])
    after, outer, _ = tiled(after, ["i", "j"], [16, 16])
    after = moved(after, "conv", outer[1])
    golden("rewrites/compute_at/tiled_producer.py", module_text(after))
    assert_proved(before, after)


PARITY = """
def f(x, y):
    n = len(x)
    a = np.empty(n)
    for i in range(0, n, 2):
        a[i] = x[i]
    for i in range(1, n, 2):
        a[i] = -x[i]
    for i in range(n):
        y[i] = a[i] + 1
"""


def test_producers_in_several_nests(golden: Golden) -> None:
    """The nests of one array are stages of their own; each moves when it is asked to."""
    before = program(PARITY)
    after, outer, _ = tiled(before, ["i#2"], [8])
    for name in ("a#1", "a#0"):
        after = moved(after, name, outer[0])
    golden("rewrites/compute_at/several_nests.py", module_text(after))
    assert_proved(before, after)


def test_several_nests_at_once() -> None:
    before = program(PARITY)
    after, outer, _ = tiled(before, ["i#2"], [8])
    first, second = stage(after, "a#0"), stage(after, "a#1")
    whole = replace(first, name="a", positions=(*first.positions, *second.positions))
    after = rewritten(compute_at, after, whole, outer[0])
    assert_same_results(before, after, vectors, sizes(8))
    assert_proved(before, after)


UPDATED = """
def f(x, y):
    n, m = x.shape
    a = np.zeros(n)
    for i in range(n):
        for k in range(m):
            a[i] += x[i, k]
    for i in range(n):
        y[i] = a[i] * 2
"""


def test_a_producer_that_updates_in_place(golden: Golden) -> None:
    before = program(UPDATED)
    after, outer, _ = tiled(before, ["i#1"], [8])
    after = moved(after, "a", outer[0])
    golden("rewrites/compute_at/updated.py", module_text(after))
    assert_proved(before, after)


def test_initial_values_and_updates() -> None:
    before = program("""
def f(x, y):
    n, m = x.shape
    a = np.empty(n)
    for i in range(n):
        a[i] = 1.0
    for i in range(n):
        for k in range(m):
            a[i] += x[i, k]
    for i in range(n):
        y[i] = a[i] * 2
""")
    after, outer, _ = tiled(before, ["i#2"], [8])
    after = moved(after, "a#1", outer[0])
    assert_proved(before, after)
    after = moved(after, "a#0", outer[0])
    assert_proved(before, after)
    assert_same_results(
        before,
        after,
        lambda n: (np.arange(n * 4.0).reshape(n, 4), np.zeros(n)),
        sizes(8),
    )


def test_positions() -> None:
    before = program("""
def f(x, y, z):
    n = len(x)
    a = np.empty(n)
    for i in range(n):
        a[i] = x[i]
    for i in range(n):
        z[i] = 0.0
        y[i] = a[i]
        z[i] = a[i]
""")
    late = module_text(moved(before, "a", loop(before, "i", 1)))
    early = module_text(moved(before, "a", loop(before, "i", 1), index=-2))
    given_one = module_text(moved(before, "a", loop(before, "i", 1), index=1))
    assert late == given_one
    assert early != late
    assert early.index("a[i] = x[i]") < early.index("z[i] = 0.0")
    assert late.index("z[i] = 0.0") < late.index("a[i] = x[i]") < late.index("y[i] = a[i]")


# --- refuses ------------------------------------------------------------------------------------


def test_a_stage_inside_already() -> None:
    before = program(ROWS.format(consumer="n", value="a[i]"))
    error = refused(compute_at, before, stage(before, "y"), loop(before, "i", 1))
    assert error.code == "schedule.already-inside"
    assert "y is computed inside the loop over i already" in str(error)


def test_a_consumer_is_no_producer() -> None:
    before = program(ROWS.format(consumer="n", value="a[i]"))
    error = refused(compute_at, before, stage(before, "y"), loop(before, "i", 0))
    assert error.code == "schedule.wrong-direction"
    assert 'reverse_compute_at("y", ...)' in str(error)


def test_nothing_reads_it() -> None:
    before = program("""
def f(x, y):
    a = np.empty(len(x))
    for i in range(len(x)):
        a[i] = x[i]
    for j in range(len(x)):
        y[j] = x[j]
    for k in range(len(x)):
        y[k] += a[k]
    for i in range(len(x)):
        x[i] = a[i]
""")
    error = refused(compute_at, before, stage(before, "a"), loop(before, "j"))
    assert error.code == "schedule.not-a-consumer"
    assert "nothing in the loop over j reads a" in str(error)
    assert "loops that read it: k, x.i" in str(error)


@pytest.mark.parametrize(
    "other",
    [
        "for k in range(n):\n        y[k] += a[k]",
        "total = a[0]",
        "return a",
        "if a[0] > 0:\n        y[0] = 1",
        "b = np.sum(a)",
    ],
)
def test_read_elsewhere_too(other: str) -> None:
    before = program(ROWS.format(consumer="n", value="a[i]") + f"    {other}\n")
    error = refused(compute_at, before, stage(before, "a"), loop(before, "i", 1))
    assert error.code == "schedule.other-consumer"
    assert "a is read outside of the loop over i too" in str(error)
    assert other.split("\n")[0].strip().removesuffix(":") in str(error) or "a[k]" in str(error)


def test_a_nest_that_computes_more() -> None:
    before = program("""
def f(x, y, z):
    n = len(x)
    a = np.empty(n)
    b = np.empty(n)
    for i in range(n):
        a[i] = x[i]
        b[i] = x[i] * 2
    for i in range(n):
        y[i] = a[i]
    for k in range(n):
        z[k] = b[k]
""")
    error = refused(compute_at, before, stage(before, "a"), loop(before, "i", 1))
    assert error.code == "schedule.other-stage"
    assert "compute b too" in str(error)
    assert "`distribute`" in str(error)


def test_no_loop_to_move() -> None:
    before = program("""
def f(x, y):
    a = np.empty(1)
    a[0] = x[0]
    for i in range(len(x)):
        y[i] = a[0]
""")
    error = refused(compute_at, before, stage(before, "a"), loop(before, "i"))
    assert error.code == "schedule.no-loop"


def test_a_producer_that_is_bound() -> None:
    before = program(
        ROWS.format(consumer="n", value="a[i]").replace("i in range(n)", "i in block.x(n)", 1)
    )
    error = refused(compute_at, before, stage(before, "a"), loop(before, "i", 1))
    assert error.code == "schedule.already-bound"
    assert "i is already block.x" in str(error)


def test_another_branch() -> None:
    before = program("""
def f(x, y, n):
    a = np.empty(n)
    if n > 4:
        for i in range(n):
            a[i] = x[i]
    else:
        for j in range(n):
            y[j] = a[j]
""")
    error = refused(compute_at, before, stage(before, "a"), loop(before, "j"))
    assert error.code == "schedule.not-beside"
    assert "under another condition" in str(error)


def last_is_read(x, y, n, m):
    for i in range(0, n, 2):
        y[i] = x[i]
    for j in range(m):
        y[j] = y[j] + x[i]


def test_variable_of_the_producer_that_is_read_later() -> None:
    s = Schedule(last_is_read)
    with pytest.raises(ScheduleError) as caught:
        s.compute_at("y#0", "j")
    assert caught.value.code == "schedule.variable-live"
    assert "i is read later" in str(caught.value)


@pytest.mark.parametrize("index", [-3, 2, 7])
def test_no_such_position(index: int) -> None:
    before = program(ROWS.format(consumer="n", value="a[i]"))
    error = refused(compute_at, before, stage(before, "a"), loop(before, "i", 1), index=index)
    assert error.code == "schedule.bad-index"
    assert f"index={index}" in str(error)
    assert "positions 0 to 1" in str(error)


def test_a_loop_over_no_range() -> None:
    before = program("""
def f(x, y):
    a = np.empty(len(x))
    for i in range(len(x)):
        a[i] = x[i]
    for j in [0, 1, 2]:
        y[j] = a[j]
""")
    error = refused(compute_at, before, stage(before, "a"), loop(before, "j"))
    assert error.code == "schedule.not-counted"


# --- keeps meaning ------------------------------------------------------------------------------


@pytest.mark.parametrize("tile", [(5, 5), (2, 7), (10, 3)])
def test_conv_add_at_awkward_sizes(tile: tuple[int, int]) -> None:
    before = program(CONV_ADD)
    after, outer, _ = tiled(before, ["i#1", "j#1"], tile)
    after = moved(after, "conv", outer[1])
    assert_same_results(before, after, images, sizes(5))


@pytest.mark.parametrize("text", [BLUR, CLAMPED])
def test_blurs_at_awkward_sizes(text: str) -> None:
    before = program(text)
    names = ["i#1", "j#1"] if text is BLUR else ["y#1", "c#1"]
    after, outer, _ = tiled(before, names, [5, 3])
    producer = "wide" if text is BLUR else "by"
    after = moved(after, producer, outer[1])

    def arguments(n: int) -> tuple[object, ...]:
        x, out = squares(n)
        return x.astype(np.float32), out.astype(np.float32)

    assert_same_results(before, after, arguments, sizes(5))


def test_the_chain_at_awkward_sizes() -> None:
    before, after = chain()

    def arguments(n: int) -> tuple[object, ...]:
        shape = (n + 4, n + 7, 3)
        return (np.arange(np.prod(shape)) % 17.0).reshape(shape), np.zeros((n, n + 3))

    assert_same_results(before, after, arguments, sizes(8)[:-1])


@pytest.mark.parametrize(("own", "other"), [(10, 32), (32, 10), (3, 4)])
def test_two_factors(own: int, other: int) -> None:
    before = program(ROWS.format(consumer="n - 1", value="a[i] + a[i + 1]"))
    after, _, _ = tiled(before, ["i"], [own])
    after, outer, _ = tiled(after, ["i"], [other])
    after = moved(after, "a", outer[0])
    assert_same_results(before, after, vectors, (0, 1, 2, 9, 10, 11, 31, 32, 33, 67))
    assert_proved(before, after)


@pytest.mark.parametrize(
    ("producer", "consumer", "value"),
    [
        ("range(n): a[i] = x[i]", "range(n - 2)", "a[i] + a[i + 1] + a[i + 2]"),
        ("range(n): a[i] = x[i]", "range(1, n)", "a[i - 1] - a[i]"),
        ("range(n): a[i] = x[i]", "range(n // 2)", "a[2 * i] + a[2 * i + 1]"),
        ("range(n): a[i] = x[i]", "range(0, n, 3)", "a[i] * 2"),
        ("range(n): a[i] = x[i]", "range(n - 1, -1, -1)", "a[i] * 2"),
        ("range(n): a[i] = x[i]", "range(n)", "a[n - 1 - i] * 2"),
        ("range(n): a[i] = x[i]", "range(n)", "a[i // 2] * 2"),
        ("range(n): a[i] = x[i]", "range(n)", "a[i % 4 if n > 4 else 0]"),
        ("range(n): a[i] = x[i]", "range(n)", "a[max(i - 2, 0)] + a[min(i + 2, n - 1)]"),
        ("range(n - 1, -1, -1): a[i] = x[i]", "range(n - 1)", "a[i] + a[i + 1]"),
        ("range(n): a[n - 1 - i] = x[i]", "range(n - 1)", "a[i] + a[i + 1]"),
        ("range(2, n): a[i - 2] = x[i]", "range(n - 2)", "a[i] * 2"),
        ("range(0, n, 2): a[i] = x[i]", "range(0, n, 2)", "a[i] * 2"),
        ("range(0, n - 1, 2): a[i] = x[i]; a[i + 1] = x[i]", "range(n // 2 * 2)", "a[i] * 2"),
        ("range(n // 2): a[2 * i] = x[i]", "range(n // 2)", "a[2 * i] * 2"),
        ("range(n // 3): a[3 * i + 1] = x[i]", "range(n // 3)", "a[3 * i + 1] * 2"),
        ("range(0, n - 3, 4): a[n - 1 - i] = x[i]", "range(0, n - 3, 4)", "a[n - 1 - i] * 2"),
    ],
)
@pytest.mark.parametrize("tile", [None, 4])
def test_all_kinds_of_regions(producer: str, consumer: str, value: str, tile: int | None) -> None:
    before = program(f"""
def f(x, y):
    n = len(x)
    a = np.empty(n)
    for i in {producer}
    for i in {consumer}:
        y[i] = {value}
""")
    after, at = before, loop(before, "i", 1)
    if tile is not None:
        after, [at, _] = applied(split, before, at, [None, tile])
    after = moved(after, "a", at)
    assert_same_results(before, after, vectors, (0, 1, 2, 3, 4, 5, 8, 11, 13))
    if "%" not in value:
        assert_proved(before, after)


def test_a_guard_of_the_producer_stays() -> None:
    before = program("""
def f(x, y):
    n, m = x.shape
    a = np.zeros((n, m))
    for i in range(n):
        if i > 0:
            for j in range(m):
                a[i, j] = x[i - 1, j]
    for i in range(n):
        for j in range(m):
            y[i, j] = a[i, j]
""")
    after, outer, _ = tiled(before, ["i#1", "j#1"], [4, 4])
    after = moved(after, "a", outer[1])
    assert_same_results(before, after, squares, sizes(4))
    assert_proved(before, after)
    assert "for j in range(4)" in module_text(after)


def test_several_consumers_in_the_loop() -> None:
    before = program("""
def f(x, y, z):
    n = len(x)
    a = np.empty(n)
    for i in range(n):
        a[i] = x[i] * x[i]
    for t in range(n // 8):
        for i in range(8):
            y[t * 8 + i] = a[t * 8 + i]
        for k in range(7):
            z[t * 8 + k] = a[t * 8 + k + 1] - a[t * 8 + k]
""")
    after = moved(before, "a", loop(before, "t"))
    assert_same_results(
        before, after, lambda n: (np.arange(n * 1.0), np.zeros(n), np.zeros(n)), (0, 7, 8, 17)
    )
    assert_proved(before, after)
    assert "a[t * 8 + i_1] = x[t * 8 + i_1] * x[t * 8 + i_1]" in module_text(after)


def test_scalars_of_producer_and_consumer_stay_apart() -> None:
    before = program("""
def f(x, y):
    n, m = x.shape
    a = np.empty(n)
    for i in range(n):
        s = 0.0
        for k in range(m):
            s += x[i, k]
        a[i] = s
    for i in range(n):
        s = 1.0
        for k in range(m):
            s *= x[i, k]
            y[i, k] = s + a[i]
""")
    after = moved(before, "a", loop(before, "i", 1))
    assert_same_results(before, after, squares, (0, 1, 4))
    inner = moved(before, "a", loop(before, "k", 1))
    assert_same_results(before, inner, squares, (0, 1, 4))


def test_unknown_regions_are_computed_in_full() -> None:
    before = program("""
def f(x, p, y):
    n = len(x)
    a = np.empty(n)
    for i in range(n):
        a[i] = x[i]
    for i in range(n):
        for k in range(2):
            y[i] += a[p[i, k]]
""")
    after = moved(before, "a", loop(before, "i", 1))

    def arguments(n: int) -> tuple[object, ...]:
        return np.arange(n * 1.0), np.arange(2 * n).reshape(n, 2) % max(n, 1), np.zeros(n)

    assert_same_results(before, after, arguments, (0, 1, 5))


# --- properties ---------------------------------------------------------------------------------


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(-1, 2), st.integers(-2, 3)), min_size=1, max_size=3, unique=True
    ),
    st.sampled_from([1, 2, 3]),
    st.sampled_from([None, 3, 4]),
    st.sampled_from([None, 2, 5]),
    st.booleans(),
)
def test_any_window(
    window: list[tuple[int, int]],
    stride: int,
    tile: int | None,
    own: int | None,
    staged: bool,
) -> None:
    value = " + ".join(f"a[{stride} * i + {row + 2}, j + {column + 2}]" for row, column in window)
    before = program(f"""
def f(x, y):
    n, m = y.shape
    a = np.empty(({stride} * n + 5, m + 6))
    for i in range({stride} * n + 5):
        for j in range(m + 6):
            a[i, j] = x[i, j] * 2
    for i in range(n):
        for j in range(m):
            y[i, j] = {value}
""")
    after, at = before, loop(before, "j", 1)
    if own is not None:
        after, _, _ = tiled(after, ["i", "j"], [own, own + 1])
    if tile is not None:
        number = 0 if own is not None else 1
        after, outer, _ = tiled(after, [f"i#{number}", f"j#{number}"], [tile, tile])
        at = outer[1]
    after = moved(after, "a", at)
    if staged and tile is not None:
        after = rewritten(set_scope, after, "a", "shared")

    def arguments(n: int) -> tuple[object, ...]:
        shape = (stride * n + 5, n + 7)
        return np.arange(shape[0] * shape[1] * 1.0).reshape(shape), np.zeros((n, n + 1))

    assert_same_results(before, after, arguments, (0, 1, 3, 4, 9))


# --- trace --------------------------------------------------------------------------------------


def conv_add(x, w, bias, out):
    H, W = out.shape
    conv = np.empty((H, W), np.float32)
    for i in range(H):
        for j in range(W):
            acc = np.float32(0)
            for a in range(3):
                for b in range(3):
                    acc += x[i + a, j + b] * w[a, b]
            conv[i, j] = acc
    for i in range(H):
        for j in range(W):
            out[i, j] = conv[i, j] + bias[i, j]


def test_the_printed_script_replays() -> None:
    schedule = Schedule(conv_add)
    outer = schedule.tile(["out.i", "out.j"], [16, 8])
    schedule.compute_at("conv", outer[1])
    assert_replays(schedule)


def test_a_recurrence_cannot_be_computed_in_parts() -> None:
    def scan(a, inc, out):
        n = len(a)
        for i in range(1, n):
            inc[i] = inc[i - 1] + a[i]
        for k in range(n):
            out[k] = inc[k] - a[k]

    with pytest.raises(IllegalSchedule, match=r"`merge\('i', 'k'\)` is legal") as caught:
        Schedule(scan).compute_at("inc", "k")
    assert caught.value.code == "illegal.recurrence"
    assert caught.value.array == "inc"


KEPT_INSIDE = {
    "names of bounds": """
        lo = max(0, i - 2)
        hi = min(n, i + 3)
        for k in range(lo, hi):
            y[i] += a[k]""",
    "choices": """
        lo = i - 2 if i > 2 else 0
        y[i] = a[lo] + a[i + 2 if i + 2 < n else n - 1]""",
    "conditions": """
        lo = i - 2
        if lo < 0:
            lo = 0
        hi = i + 2
        if hi >= n:
            hi = n - 1
        y[i] = a[lo] + a[hi]""",
}


@pytest.mark.parametrize("body", KEPT_INSIDE.values(), ids=KEPT_INSIDE)
def test_halos_that_names_and_conditions_clamp(body: str) -> None:
    before = program(ROWS.format(consumer="n", value="0") + body[1:] + "\n")
    after, outer, _ = tiled(before, ["i#1"], [4])
    after = moved(after, "a", outer[0])
    after = rewritten(set_scope, after, "a", "shared")
    assert "shared.empty(8, " in module_text(after)
    assert_same_results(before, after, vectors, (*sizes(4), 2, 6, 7))
    assert_proved(before, after)


@pytest.mark.parametrize("wrapped", ["(i + 1) % n", "i + 1 if i + 1 < n else 0"])
def test_tiles_do_not_compute_all_of_a_stage_again(wrapped: str) -> None:
    s = Schedule(program(ROWS.format(consumer="n", value=f"a[{wrapped}]")))
    compose.auto(s, {"i": 4})
    assert s.source().count("range(n)") == 1
    assert "local" not in s.source()
