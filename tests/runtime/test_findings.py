"""What is found out about a function is kept, and is the same when it is read back."""

import json

import numpy as np
import pytest

from astile import ArgumentError, SourceError, tile
from astile.analysis.extents import bounds, divisors
from astile.analysis.proof import unwritten
from astile.frontend.build import build
from astile.runtime import findings
from astile.schedule.known import AGAIN_VARIABLE
from astile.schedule.schedule import Schedule

TEXT = """
def picked(x, idx, out, n):
    t = np.empty(n, np.float64)
    scale = 100 // n
    for i in range(n):
        t[i] = x[i + 1] * scale
        if x[i] > 0:
            out[i] = t[i] + x[idx[i]]
"""


BYTES = """
def picked(x, out):
    for i in range(x.shape[0]):
        out[x[i]] += 1
"""


SHAPES = [{"x": (4,), "out": (cells,)} for cells in (255, 256)]


class Sought(Exception):
    """Something was found out anew."""


@pytest.fixture(autouse=True)
def place(own_cache):
    """Where findings are kept."""
    return own_cache / "findings"


@pytest.fixture
def unsought(monkeypatch):
    """From here on nothing can be found out, as it could in the process before."""

    def refuse(*_, **__):
        raise Sought

    def switch():
        for module, name in (
            (bounds, "both"),
            (bounds, "sure"),
            (divisors, "find"),
            (unwritten, "find"),
        ):
            monkeypatch.setattr(module, name, refuse)

    return switch


def picked(tmp_path, text=TEXT, line=0):
    """The function, that many lines further down in its file."""
    path = tmp_path / f"at_{line}_{len(text)}.py"
    path.write_text("\n" * line + text)
    space = {"np": np}
    exec(compile(path.read_text(), str(path), "exec"), space)
    return space["picked"]


def found(function):
    program = build(function, exact=True)
    return program, findings.of(program, Schedule(program).origin)


def test_what_is_read_back_is_what_was_found(tmp_path, unsought):
    program, first = found(picked(tmp_path))
    unsought()
    _, second = found(picked(tmp_path))
    one, other = (json.dumps(findings._plain(e, program.source)) for e in (first, second))
    assert one == other
    assert first.unproved == {"x", "idx", "out"}
    assert second.may_leave
    assert [each.text for each in second.divisions] == ["100 // n"]
    sizes = {"x": (4,), "idx": (9,), "out": (9,)}
    for n in range(6):
        told = [
            [(e.holds(sizes, {"n": n}), e.message(sizes, {"n": n})) for e in each.conditions]
            for each in (first, second)
        ]
        assert told[0] == told[1]
    assert second.divisions[0].numbers == first.divisions[0].numbers


def test_what_is_enough_for_the_types_of_a_call_is_kept_for_these(tmp_path, unsought):
    def kept(dtype):
        program = build(picked(tmp_path, BYTES), exact=True)
        return findings.sure(program, Schedule(program).origin, {"x": dtype, "out": "int64"})

    def enough(dtype):
        return [all(each.holds(shapes, {}) for each in kept(dtype)) for shapes in SHAPES]

    assert enough("uint8") == [False, True]
    assert kept("float64") is None
    unsought()
    assert enough("uint8") == [False, True]
    assert kept("float64") is None
    with pytest.raises(Sought):
        kept("uint16")


def test_a_kernel_refuses_the_same_calls_where_its_function_has_moved(tmp_path, unsought):
    def told(line):
        kernel = tile(target="python", schedule=lambda s: None)(picked(tmp_path, line=line))
        with pytest.raises(ArgumentError) as caught:
            kernel(np.ones(3), np.zeros(9, int), np.zeros(9), 3)
        diagnostic = caught.value.diagnostic
        return diagnostic.message, diagnostic.span.line

    message, line = told(0)
    unsought()
    assert told(7) == (message, line + 7)


def test_another_function_is_looked_at(tmp_path, unsought):
    found(picked(tmp_path))
    unsought()
    with pytest.raises(Sought):
        found(picked(tmp_path, TEXT.replace("i + 1", "i + 2")))


@pytest.mark.parametrize("damage", [lambda c: c[:-1] + b"!", lambda c: c[32:], lambda c: b""])
def test_what_somebody_else_wrote_is_not_believed(tmp_path, place, unsought, damage):
    found(picked(tmp_path))
    [path] = place.glob("*.sealed")
    path.write_bytes(damage(path.read_bytes()))
    unsought()
    with pytest.raises(Sought):
        found(picked(tmp_path))


def test_proving_again_finds_out_again(tmp_path, unsought, monkeypatch):
    found(picked(tmp_path))
    unsought()
    monkeypatch.setenv(AGAIN_VARIABLE, "1")
    with pytest.raises(Sought):
        found(picked(tmp_path))


def test_reads_of_what_nobody_wrote_are_refused_every_time(tmp_path, unsought):
    bare = tile(target="python", schedule=lambda s: None)
    text = "def picked(out):\n    t = np.empty(5)\n    for i in range(5):\n        out[i] = t[i]\n"
    for _ in range(2):
        with pytest.raises(SourceError, match="nothing is ever written"):
            bare(picked(tmp_path, text))
    bare(picked(tmp_path))
    unsought()
    bare(picked(tmp_path))
