"""Flow of small relations, of which parts are left out before isl is asked."""

from __future__ import annotations

import pytest

from astile.analysis import isl
from astile.analysis.proof.dataflow import dependences

SESSION = isl.Session()


def maps(*texts: str) -> isl.UnionMap:
    return SESSION.union_map(["n"], texts)


READ, WRITE = "R[i] -> A[i] : 0 <= i < n", "W[i] -> A[i + 1] : 0 <= i < n"
TIMES = ("R[i] -> [7, i, 0, 3]", "W[i] -> [7, i, 1, 3]")


def test_entries_in_which_all_times_agree_do_not_matter() -> None:
    found = dependences(maps(READ), maps(WRITE), maps(*TIMES))
    assert found.must.is_equal(maps("W[i] -> R[i + 1] : 0 <= i < n - 1"))
    assert found.without.is_equal(maps("R[0] -> A[0] : n > 0"))


def test_an_entry_that_differs_for_one_access_is_kept() -> None:
    late = maps("R[i] -> [7, i, 0, 3]", "W[i] -> [8, i, 1, 3]")
    found = dependences(maps(READ), maps(WRITE), late)
    assert found.must.is_empty()
    early = maps("R[i] -> [7, i, 0, 3]", "W[i] -> [6, i, 1, 3]")
    found = dependences(maps(READ), maps(WRITE), early)
    assert found.must.is_equal(maps("W[i] -> R[i + 1] : 0 <= i < n - 1"))


def test_accesses_at_one_time_do_not_see_each_other() -> None:
    same = maps("R[] -> [1, 2]", "W[] -> [1, 2]")
    found = dependences(maps("R[] -> A[0]"), maps("W[] -> A[0]"), same)
    assert found.must.is_empty()
    assert found.without.is_equal(maps("R[] -> A[0]"))


def test_an_array_that_nobody_writes_has_no_source() -> None:
    found = dependences(maps("R[i] -> B[i] : 0 <= i < n"), maps(WRITE), maps(*TIMES))
    assert found.must.is_empty()
    assert found.without.is_equal(maps("R[i] -> B[i] : 0 <= i < n"))


def test_an_array_is_its_name_and_its_number_of_axes() -> None:
    found = dependences(
        maps("R[i] -> A[i, 0] : 0 <= i < n"), maps("W[i] -> A[i] : 0 <= i < n"), maps(*TIMES)
    )
    assert found.must.is_empty()


def test_what_is_settled_is_left_out() -> None:
    reads = maps(READ, "Q[i] -> A[i] : 0 <= i < n")
    times = maps(*TIMES, "Q[i] -> [7, i, 2, 3]")
    found = dependences(reads, maps(WRITE), times, settled=["R"])
    assert found.must.is_equal(maps("W[i] -> Q[i + 1] : 0 <= i < n - 1"))
    assert found.without.is_equal(maps("Q[0] -> A[0] : n > 0"))


def test_may_sources_hide_nothing() -> None:
    reads, writes = maps("R[] -> A[0]"), maps("W[] -> A[0]")
    times = maps("W[] -> [0]", "V[] -> [1]", "R[] -> [2]")
    found = dependences(reads, writes, times, may_sources=maps("V[] -> A[0]"))
    assert found.may.is_equal(maps("W[] -> R[]", "V[] -> R[]"))
    assert found.maybe_without.is_empty()
    found = dependences(reads, maps(), times, may_sources=maps("V[] -> A[0]"))
    assert found.may.is_equal(maps("V[] -> R[]"))
    assert found.maybe_without.is_equal(reads)


def test_cells_that_are_written_once_have_that_source() -> None:
    tiles = "W[a, b, c] -> A[16 a + 4 b + c] : 0 <= 16 a < n and 0 <= b <= 3 and 0 <= c <= 3"
    reads = maps("R[i] -> A[i] : 0 <= i < n + 9")
    late = maps("W[a, b, c] -> [0, a, b, c]", "R[i] -> [1, i, 0, 0]")
    found = dependences(reads, maps(tiles), late)
    flow = isl.flow(reads, maps(tiles), late)
    assert found.must.is_equal(flow.get_must_dependence())
    assert found.without.is_equal(flow.get_must_no_source())
    assert not found.must.is_empty()
    assert not found.without.is_empty()


def test_a_write_that_comes_after_the_read_is_none_of_its_sources() -> None:
    early = maps("W[i] -> [i, 1]", "R[i] -> [i, 0]")
    found = dependences(maps("R[i] -> A[i] : 0 <= i < n"), maps(WRITE), early)
    flow = isl.flow(maps("R[i] -> A[i] : 0 <= i < n"), maps(WRITE), early)
    assert found.must.is_equal(flow.get_must_dependence())
    same = maps("R[i] -> A[i + 1] : 0 <= i < n")
    assert dependences(same, maps(WRITE), early).must.is_empty()
    assert dependences(same, maps(WRITE), early).without.is_equal(same)


def test_versions_for_other_sizes_are_looked_at_one_by_one() -> None:
    reads = maps("R[i] -> A[i] : 0 <= i < 9")
    even = "W[i] -> A[i] : 0 <= i < n and exists (e : n = 2 e)"
    odd = "V[i, k] -> A[i] : 0 <= i < n and 0 <= k < 3 and exists (e : n = 2 e + 1)"
    times = maps("W[i] -> [0, i, 0]", "V[i, k] -> [0, i, k]", "R[i] -> [1, i, 0]")
    found, flow = (
        dependences(reads, maps(even, odd), times),
        isl.flow(reads, maps(even, odd), times),
    )
    assert found.must.is_equal(flow.get_must_dependence())
    assert found.without.is_equal(flow.get_must_no_source())
    some = [str(each.get_tuple_name(isl.dim_type.in_)) for each in isl.maps(found.must)]
    assert sorted(set(some)) == ["V", "W"]


def test_a_division_that_says_nothing_new_changes_nothing() -> None:
    reads = maps("R[i] -> A[i] : 0 <= i < n and 2 * floor(n / 2) >= i - 1")
    odd = maps("W[i] -> A[i] : 0 <= i < n and 2 * floor(n / 2) > i")
    times = maps("R[i] -> [1, i]", "W[i] -> [0, i]")
    for writes in (odd, maps("W[i] -> A[i] : 0 <= i < n and 2 * floor(n / 2) >= i - 1")):
        flow = isl.flow(reads, writes, times)
        wanted = reads.apply_range(writes.reverse()).reverse()
        assert flow.get_must_dependence().is_equal(wanted)
        missing = reads.subtract_domain(wanted.range())
        assert flow.get_must_no_source().is_equal(missing)
    last = maps("R[n] -> A[n] : n > 0 and exists (e : n = 2 e)")
    assert isl.flow(last, odd, times).get_must_dependence().is_empty()


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[isl.UnionMap]:
    """The sinks that isl was asked about."""
    found: list[isl.UnionMap] = []
    flow = isl.flow

    def counted(sinks: isl.UnionMap, *others: isl.UnionMap) -> isl.UnionFlow:
        found.append(sinks)
        return flow(sinks, *others)

    monkeypatch.setattr(isl, "flow", counted)
    return found


TWO = ("W2w0[v] -> A[0] : 0 <= v < n", "W3w0[v] -> A[0] : 0 <= v < n")


def test_accesses_that_are_numbered_anew_are_not_asked_about_again(
    asked: list[isl.UnionMap],
) -> None:
    session = isl.Session()

    def union(*texts: str) -> isl.UnionMap:
        return session.union_map(["n"], texts)

    times = union("W2w0[v] -> [1, v]", "W3w0[v] -> [4, v]", "R4r0[u] -> [5, u]")
    reads = union("R4r0[u] -> A[0] : 0 <= u < n")
    first = dependences(reads, union(*TWO), times, session=session)
    assert first.must.is_equal(union("W3w0[v] -> R4r0[u] : 0 <= u < n and v = n - 1"))
    # the second write has the name of the first one now
    writes = union(TWO[0].replace("W2", "W1"), TWO[1].replace("W3", "W2"))
    times = union("W1w0[v] -> [0, v]", "W2w0[v] -> [7, v]", "R9r0[k] -> [9, k]")
    reads = union("R9r0[k] -> A[0] : 0 <= k < n")
    second = dependences(reads, writes, times, session=session)
    assert second.must.is_equal(union("W2w0[v] -> R9r0[u] : 0 <= u < n and v = n - 1"))
    assert second.may.is_equal(second.must)
    assert second.without.is_empty()
    assert len(asked) == 1


@pytest.mark.parametrize(
    ("writes", "times", "wanted"),
    [
        # the other order
        (TWO, ("W2w0[v] -> [4, v]", "W3w0[v] -> [1, v]"), "W2w0[v] -> R4r0[u] : v = n - 1"),
        # the other way through the loop
        (TWO, ("W2w0[v] -> [1, v]", "W3w0[v] -> [4, -v]"), "W3w0[v] -> R4r0[u] : v = 0"),
        # after the read
        (TWO, ("W2w0[v] -> [1, v]", "W3w0[v] -> [6, v]"), "W2w0[v] -> R4r0[u] : v = n - 1"),
        # another cell
        (
            (TWO[0], "W3w0[v] -> A[1] : 0 <= v < n"),
            ("W2w0[v] -> [1, v]", "W3w0[v] -> [4, v]"),
            "W2w0[v] -> R4r0[u] : v = n - 1",
        ),
    ],
)
def test_accesses_that_meet_in_another_order_are_asked_about(
    writes: tuple[str, str], times: tuple[str, str], wanted: str
) -> None:
    session = isl.Session()

    def union(*texts: str) -> isl.UnionMap:
        return session.union_map(["n"], texts)

    reads = union("R4r0[u] -> A[0] : 0 <= u < n")
    read = "R4r0[u] -> [5, u]"
    known = union("W2w0[v] -> [1, v]", "W3w0[v] -> [4, v]", read)
    dependences(reads, union(*TWO), known, session=session)
    found = dependences(reads, union(*writes), union(*times, read), session=session)
    assert found.must.is_equal(union(f"{wanted} and 0 <= u < n"))


def test_a_read_and_a_write_of_one_name_are_no_others() -> None:
    session = isl.Session()

    def union(*texts: str) -> isl.UnionMap:
        return session.union_map(["n"], texts)

    times = union("S1[i] -> [1, i]", "S2[i] -> [2, i]")
    reads = union("S1[i] -> A[i] : 0 < i < n")
    own = dependences(reads, union("S1[i] -> A[i + 1] : 0 <= i < n"), times, session=session)
    assert own.must.is_equal(union("S1[i] -> S1[i + 1] : 0 <= i < n - 1"))
    other = dependences(reads, union("S2[i] -> A[i + 1] : 0 <= i < n"), times, session=session)
    assert other.must.is_empty()


def test_what_may_be_written_is_asked_about_apart_from_what_is() -> None:
    session = isl.Session()

    def union(*texts: str) -> isl.UnionMap:
        return session.union_map(["n"], texts)

    reads = union("R4r0[] -> A[0]")
    times = union("W2w0[] -> [0]", "W3w0[] -> [1]", "R4r0[] -> [2]")
    writes = union("W2w0[] -> A[0]"), union("W3w0[] -> A[0]")
    sure = dependences(reads, union("W2w0[] -> A[0]", "W3w0[] -> A[0]"), times, session=session)
    assert sure.must.is_equal(union("W3w0[] -> R4r0[]"))
    maybe = dependences(reads, writes[0], times, writes[1], session=session)
    assert maybe.may.is_equal(union("W2w0[] -> R4r0[]", "W3w0[] -> R4r0[]"))
    other = dependences(reads, writes[1], times, writes[0], session=session)
    assert other.may.is_equal(union("W3w0[] -> R4r0[]"))
