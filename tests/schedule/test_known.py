"""Steps that were proved are known to the next process, unless somebody else wrote them."""

import json
import os
import zlib

import numpy as np
import pytest

from astile import IllegalSchedule, Schedule, ScheduleError, tile
from astile.cache import engine
from astile.cache.sealed import Sealed
from astile.ir import nodes
from astile.schedule import recipes, several
from astile.schedule.attempts import attempt
from astile.schedule.known import AGAIN_VARIABLE, Known
from astile.schedule.prover import Prover
from tests.support.recipes import RECIPES


def add(a, b, out):
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = a[i, j] + b[i, j]


def cumulate(a):
    for i in range(1, a.shape[0]):
        a[i] = a[i] + a[i - 1]


class Proving(Exception):
    """A step was proved anew."""


@pytest.fixture(autouse=True)
def place(own_cache):
    """Where steps are kept."""
    return own_cache / "steps"


@pytest.fixture
def unproved(monkeypatch):
    """From here on nothing can be proved, as it could in the process before."""

    def switch():
        monkeypatch.setattr(Prover, "prove", _refuse)

    return switch


def _refuse(*_, **__):
    raise Proving


def scheduled(function=add, **options):
    s = Schedule(function, **options)
    i_0, i_1 = s.split("i", [None, 16])
    s.reorder("j", i_1)
    s.vectorize("j")
    s.parallel(i_0)
    return s


def test_steps_are_known_to_the_next_process(unproved):
    first = scheduled()
    unproved()
    second = scheduled()
    assert [str(e.made_by) for e in second.steps] == [str(e.made_by) for e in first.steps]
    assert [e.source for e in second.steps] == [e.source for e in first.steps]
    assert [e.proof for e in second.steps] == [e.proof for e in first.steps]
    assert [e.name for e in second.loops()] == [e.name for e in first.loops()]
    assert str(second.steps[0].proof).startswith("proved equal, for all")
    assert "(proved before, in " in str(second.steps[0].proof)
    assert "before" not in str(first.steps[0].proof)


QUICK = [each for each in RECIPES if each.name in ("blur", "transpose", "histogram")]


@pytest.mark.parametrize("recipe", QUICK, ids=[each.name for each in QUICK])
def test_recipes_are_known_step_by_step(recipe, unproved):
    first = recipe.schedule(small=True)
    unproved()
    second = recipe.schedule(small=True)
    for one, other in zip(first.steps, second.steps, strict=True):
        assert one.call == other.call
        assert other.proof.is_kept
        assert nodes.same(one.program.function, other.program.function)
        assert (one.next_loop, one.program.gone) == (other.next_loop, other.program.gone)
    assert first.source() == second.source()


def test_what_follows_known_steps_is_proved(monkeypatch):
    scheduled()
    asked = []
    plain = Prover.prove
    monkeypatch.setattr(Prover, "prove", lambda *a: asked.append(1) or plain(*a))
    s = scheduled()
    assert asked == []
    s.unroll("i_1")
    assert asked == [1]
    assert not s.steps[-1].proof.is_kept
    assert [each.proof.is_kept for each in s.steps] == [True] * 4 + [False]


def test_other_text_call_or_option_is_proved_again(unproved):
    scheduled()
    unproved()
    with pytest.raises(Proving):
        scheduled(exact=True)
    with pytest.raises(Proving):
        Schedule(add).split("i", [None, 8])
    with pytest.raises(Proving):
        Schedule(cumulate).split("i", [None, 16])


def test_other_code_of_astile_proves_again(unproved, monkeypatch):
    scheduled()
    unproved()
    monkeypatch.setattr("astile.schedule.known.engine", lambda: "changed")
    with pytest.raises(Proving):
        scheduled()


def test_an_edited_file_is_other_code(tmp_path, monkeypatch):
    (tmp_path / "module.py").write_text("x = 1\n")
    monkeypatch.setattr(engine, "_PACKAGE", tmp_path)
    first = engine.engine.__wrapped__()
    assert engine.engine.__wrapped__() == first
    (tmp_path / "module.py").write_text("x = 22\n")
    assert engine.engine.__wrapped__() != first


def test_a_function_that_moved_in_its_file_is_the_same(unproved, tmp_path):
    def at(line):
        path = tmp_path / f"moved_{line}.py"
        path.write_text("\n" * line + _TEXT)
        space = {}
        exec(compile(path.read_text(), str(path), "exec"), space)
        return space["double"]

    Schedule(at(1)).split("i", [None, 16])
    unproved()
    s = Schedule(at(7))
    s.split("i", [None, 16])
    assert s.stages()[0].name == "out"
    assert s.loops()[0].line == 9


_TEXT = "def double(a, out):\n    for i in range(len(out)):\n        out[i] = a[i] * 2\n"


@pytest.mark.parametrize("damage", ["flip", "cut", "empty", "swap", "unsealed"])
def test_damaged_and_planted_entries_are_not_believed(place, unproved, damage):
    scheduled()
    files = sorted(place.glob("*.sealed"))
    contents = [each.read_bytes() for each in files]
    for number, each in enumerate(files):
        content = contents[number]
        each.write_bytes(
            {
                "flip": content[:-1] + bytes([content[-1] ^ 1]),
                "cut": content[: len(content) // 2],
                "empty": b"",
                "swap": contents[number - 1],
                "unsealed": content[32:],
            }[damage]
        )
    unproved()
    with pytest.raises(Proving):
        scheduled()


def test_entry_sealed_by_another_user_is_not_believed(place, unproved, tmp_path):
    """A wrong program under the right name, with a seal, but of another secret."""
    scheduled()
    (tmp_path / "astile" / "secret").write_bytes(bytes(32))
    unproved()
    with pytest.raises(Proving):
        scheduled()


def test_refusals_are_kept_for_those_who_only_try(unproved):
    for _ in range(2):
        s = Schedule(cumulate)
        with s.without_reasons(), pytest.raises(IllegalSchedule):
            s.parallel("i")
        with pytest.raises(IllegalSchedule, match=r"a\[") as told:  # with its witness, every time
            s.parallel("i")
        assert told.value.witness is not None
    unproved()
    s = Schedule(cumulate)
    with s.without_reasons(), pytest.raises(IllegalSchedule):
        s.parallel("i")
    with pytest.raises(Proving):
        s.parallel("i")


def test_refusal_for_want_of_time_is_not_kept(monkeypatch):
    s = Schedule(add, budget_seconds=1e-9)
    with pytest.raises(IllegalSchedule, match="not proved within"):
        s.split("i", [None, 16])
    s = Schedule(add)
    with s.without_reasons():
        s.split("i", [None, 16])


def test_steps_on_trust_are_not_kept(unproved):
    def make():
        s = Schedule(add)
        s.split("i", [None, 16], unsafe=True)
        return s

    first = make()
    unproved()
    second = make()
    assert [first.steps[0].proof, second.steps[0].proof] == [None, None]
    assert first.source() == second.source()


def test_switched_off(unproved, monkeypatch, place):
    monkeypatch.setenv(AGAIN_VARIABLE, "1")
    scheduled()
    assert not place.exists()
    monkeypatch.delenv(AGAIN_VARIABLE)
    scheduled()
    monkeypatch.setenv(AGAIN_VARIABLE, "1")
    unproved()
    with pytest.raises(Proving):
        scheduled()


def test_a_folder_that_cannot_be_used_is_harmless(place):
    place.parent.mkdir(parents=True)
    place.write_text("no folder")
    assert not any(each.proof.is_kept for each in scheduled().steps)
    assert not any(each.proof.is_kept for each in scheduled().steps)


def test_undone_steps_give_their_loops_no_second_life(unproved):
    def make():
        s = Schedule(add)
        gone = s.split("i", [None, 16])[0]
        s.undo()
        new = s.split("i", [None, 16])[0]
        assert gone.identity != new.identity
        return s

    first = make()
    unproved()
    assert [e.identity for e in make().loops()] == [e.identity for e in first.loops()]


def test_values_that_are_frozen_count(unproved):
    def of(factor):
        def scaled(a, out):
            for i in range(len(out)):
                out[i] = a[i] * factor

        return scaled

    Schedule(of(2)).split("i", [None, 16])
    Schedule(of(2.0)).split("i", [None, 16])
    unproved()
    s = Schedule(of(2))
    s.split("i", [None, 16])
    assert "factor = 2\n" in s.source()
    for other in (3, True, np.float32(2)):
        with pytest.raises(Proving):
            Schedule(of(other)).split("i", [None, 16])


def test_text_for_a_cpu_is_made_once(monkeypatch, place):
    pytest.importorskip("numba")

    def run():
        out = np.zeros((5, 40), np.float32)
        kernel = tile(target="cpu", schedule=scheduled_as)(add)
        kernel(np.ones_like(out), np.full_like(out, 2), out)
        return out

    def scheduled_as(s):
        i_0, _ = s.split("i", [None, 4])
        s.parallel(i_0)

    first = run()
    assert len(list((place.parent / "texts").glob("*.sealed"))) == 1
    monkeypatch.setattr("astile.lower.cpu.lower", _refuse)
    assert (run() == first).all()
    assert (first == 3).all()
    with pytest.raises(Proving):  # of other types
        tile(target="cpu", schedule=scheduled_as)(add)(*(np.ones((5, 40)) for _ in range(3)))


def test_text_with_loops_for_the_sums_of_numpy_is_made_once(monkeypatch):
    pytest.importorskip("numba")

    def sums(x, out):
        for i in range(x.shape[0]):
            out[i] = np.sum(x[i])

    def run(dtype=np.float32):
        x, out = np.arange(12, dtype=dtype).reshape(3, 4), np.zeros(3, dtype)
        tile(target="cpu", schedule=lambda s: s.parallel("i"))(sums)(x, out)
        return list(out)

    assert run() == [6, 22, 38]
    monkeypatch.setattr("astile.lower.cpu.lower", _refuse)
    assert run() == [6, 22, 38]
    with pytest.raises(Proving):
        run(np.float64)


def test_what_is_kept_is_json(place):
    scheduled()
    secret_bytes = 32
    for path in place.glob("*.sealed"):
        head, _, text = path.read_bytes()[secret_bytes:].partition(b"\n")
        assert json.loads(head)["kind"] == "equal"
        assert json.loads(zlib.decompress(text))["next_loop"] >= 2


def test_old_steps_go(place):
    files = Sealed(place, 8)
    for number in range(12):
        files.write([str(number)], b"content")
        os.utime(max(place.glob("*.sealed"), key=lambda e: e.stat().st_mtime_ns), (number, number))
    assert 6 <= len(list(place.glob("*.sealed"))) <= 8


def test_a_recipe_that_tries_is_known(unproved):
    def softmax(x, out):
        for i in range(x.shape[0]):
            top = -np.inf
            for j in range(x.shape[1]):
                top = max(top, x[i, j])
            for j in range(x.shape[1]):
                out[i, j] = x[i, j] - top

    first = Schedule(softmax)
    recipes.vector_rows(first, "i", lanes=8, block=2)
    unproved()
    second = Schedule(softmax)
    recipes.vector_rows(second, "i", lanes=8, block=2)
    assert first.source() == second.source()


def test_what_several_steps_in_one_attempt_run_into_is_known(unproved):
    def cumulates(s):
        s.split("i", [None, 4])
        s.parallel("i_0")

    assert not attempt(cumulates, Schedule(cumulate))
    unproved()
    assert not attempt(cumulates, Schedule(cumulate))


# --- several steps at once ----------------------------------------------------------------------


@pytest.fixture
def alone(monkeypatch):
    """From here on no step is looked up by itself, and none is proved."""

    def switch():
        for owner, name in ((Prover, "prove"), (Known, "find")):
            monkeypatch.setattr(owner, name, _refuse)

    return switch


@pytest.mark.parametrize("recipe", QUICK, ids=[each.name for each in QUICK])
def test_a_recipe_is_known_as_a_whole(recipe, alone):
    first, second = Schedule(recipe.kernel), Schedule(recipe.kernel)
    returned = recipe.small(first)
    alone()
    again = recipe.small(second)
    assert [(e.call, e.state, e.next_loop) for e in second.steps] == [
        (e.call, e.state, e.next_loop) for e in first.steps
    ]
    assert [e.source for e in second.steps] == [e.source for e in first.steps]
    assert [e.proof for e in second.steps] == [e.proof for e in first.steps]
    assert str(again) == str(returned)
    assert second._free_loop() == first._free_loop()


def test_what_astile_chooses_is_known_as_a_whole(alone, monkeypatch):
    def chosen(sizes=None):
        return tile(target="cpu", tiles=sizes)(add)

    first, tiled = chosen(), chosen({"i": 4, "j": 8})
    alone()
    monkeypatch.setattr("astile.schedule.compose.auto", _refuse)
    assert chosen().source() == first.source()
    assert chosen({"i": 4, "j": 8}).source() == tiled.source() != first.source()
    with pytest.raises(Proving):
        chosen({"i": 4, "j": 9})


def together(s, take, *arguments):
    return several.taken(s, "together", arguments, {}, lambda: take(s, *arguments))


def split_twice(s, loop):
    outer, inner = s.split(loop, [None, 16])
    s.split(inner, [None, 4])
    s.undo()
    return [outer, (inner, None)], "i"


def test_handles_that_are_returned_are_those_of_the_schedule(alone):
    first = Schedule(add)
    together(first, split_twice, "i")
    alone()
    second = Schedule(add)
    [outer, (inner, none)], text = together(second, split_twice, "i")
    assert (outer, inner) == second.loops()[:2]
    assert (none, text) == (None, "i")
    assert second._free_loop() == first._free_loop()


def test_steps_after_those_that_are_known_together_are_known_too(unproved):
    def make():
        s = Schedule(add)
        together(s, split_twice, "i")
        s.parallel("i_0")
        return s

    first = make()
    unproved()
    assert make().source() == first.source()


def test_another_state_or_argument_is_another_function(alone):
    together(Schedule(add), split_twice, "i")
    later = Schedule(add)
    later.split("j", [None, 2])
    alone()
    with pytest.raises(Proving):
        together(later, split_twice, "i")
    with pytest.raises(Proving):
        together(Schedule(add), split_twice, "j")
    with pytest.raises(Proving):
        together(Schedule(add, exact=True), split_twice, "i")


def test_what_wanted_for_time_is_tried_again():
    def tries(s):
        return attempt(s.split, "i", [None, 16])

    assert not together(Schedule(add, budget_seconds=1e-9), tries)
    assert together(Schedule(add), tries)


def test_steps_on_trust_are_not_known_together(alone):
    def trusts(s):
        s.split("i", [None, 16], unsafe=True)
        s.split("j", [None, 16])

    together(Schedule(add), trusts)
    alone()
    with pytest.raises(Proving):
        together(Schedule(add), trusts)


def test_a_handle_of_another_schedule_is_refused_every_time():
    other = Schedule(add)
    loop = other.split("i", [None, 8])[1]
    for _ in range(2):
        mine = Schedule(add)
        together(mine, split_twice, mine.split("i", [None, 16])[1])
        with pytest.raises(ScheduleError, match="one of another schedule"):
            together(Schedule(add), split_twice, loop)
