"""The whole way from a function to a program."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from astile.errors import SourceError
from astile.frontend.build import as_written, build, build_from_source
from astile.ir import nodes, query
from astile.ir.module import module_text
from astile.ir.printer import print_module
from astile.ir.verify import verify

OFFSET = 3
HALF = np.float32(0.5)


def shifted(x):
    return x + OFFSET


def sample(A: np.ndarray, out: np.ndarray, n: int = 4, *, scale: float = OFFSET) -> float:
    """Adds up."""
    total = 0.0
    for i in range(n):
        for j in range(i):
            out[i] += shifted(A[i][j]) * scale
        total += out[i]
    for k in range(n):
        out[k] = total
    return total


def test_program():
    program = as_written(sample, scratch=("out",))
    verify(program)
    assert program.name == "sample"
    assert program.scratch == {"out"}
    assert program.helpers == {"shifted": shifted}
    assert program.constants == {}
    assert [nodes.loop_id(each) for each in query.loops(program.function)] == [0, 1, 2]
    assert program.next_loop == 3
    assert print_module([program.function]).splitlines()[:2] == [
        "def sample(A, out, n=4, *, scale=3):",
        '    """Adds up."""',
    ]
    assert "A[i, j]" in print_module([program.function])


def test_places_are_those_of_the_file():
    program = build(sample)
    loop = query.loops(program.function)[0]
    span = program.source.span(loop)
    assert span is not None
    assert span.file.name == sample.__code__.co_filename
    assert span.file.line(span.line) == "    for i in range(n):"
    assert span.line == sample.__code__.co_firstlineno + 3


def test_every_statement_and_access_has_a_place():
    program = build(sample)
    for node in query.preorder(program.function):
        if hasattr(node, "lineno") or type(node).__name__ in ("Assign", "For", "Subscript"):
            assert program.source.span(node) is not None


def test_the_function_itself_is_not_changed():
    before = sample.__code__
    build(sample)
    assert sample.__code__ is before
    assert sample.__annotations__


def test_building_twice_gives_the_same_text():
    assert module_text(build(sample)) == module_text(build(sample))


@pytest.mark.parametrize(
    "scratch", [("tmp",), ["tmp"], "tmp", iter(["tmp"])], ids=["tuple", "list", "name", "iterator"]
)
def test_scratch(scratch):
    program = build_from_source("def f(tmp):\n    tmp[0] = 1\n", scratch=scratch)
    assert program.scratch == {"tmp"}


@pytest.mark.parametrize(
    ("name", "hint"),
    [("tpm", "did you mean 'tmp'?"), ("zzz", "arrays made inside the function shrink")],
)
def test_scratch_that_is_no_parameter(name, hint):
    with pytest.raises(SourceError) as caught:
        build_from_source("def f(tmp):\n    inner = tmp\n", scratch=(name,))
    assert hint in str(caught.value)
    assert caught.value.code == "source.scratch"


def make_with_default(value):
    def f(A, k=value):
        A[0] = k

    return f


@pytest.mark.parametrize(
    ("value", "printed"),
    [
        (3, "3"),
        (-3, "-3"),
        (True, "True"),
        (None, "None"),
        ("same", '"same"'),
        (0.5, "0.5"),
        (np.float32(0.5), "0.5"),
        (float("inf"), 'float("inf")'),
    ],
)
def test_defaults_are_frozen(value, printed):
    text = print_module([build(make_with_default(value)).function])
    assert text.startswith(f"def f(A, k={printed}):")


def test_a_typed_default_keeps_its_type():
    def f(A, k=HALF, m=np.int8(3)):  # noqa: B008 - this default is the subject
        A[0] = k + m

    assert module_text(build(f)).startswith(
        "import numpy as np\n\nHALF = np.float32(0.5)\n\n\ndef f(A, k=HALF, m=np.int8(3)):\n"
    )


def test_a_typed_default_that_a_parameter_hides():
    half = np.float32(0.5)

    def f(A, half=half):
        A[0] = half

    assert "half=0.5" in print_module([build(f).function])


def test_a_tuple_of_numbers_may_be_a_default():
    program = build_from_source("def f(A, k=(1, -2)):\n    A[0] = k[0]\n")
    assert "k=(1, -2)" in print_module([program.function])


@pytest.mark.parametrize(
    "value", [[1], (1, 2), np.zeros(2), object()], ids=lambda v: type(v).__name__
)
def test_other_defaults_are_refused(value):
    with pytest.raises(SourceError) as caught:
        build(make_with_default(value))
    assert caught.value.code == "source.default"


def test_parallel_loops_of_numba_are_plain_ranges():
    numba = pytest.importorskip("numba")
    prange = numba.prange
    njit = numba.njit

    @njit
    def doubled(x):
        return 2 * x

    def f(A):
        for i in prange(4):
            for j in numba.prange(1, 3):
                A[i, j] = doubled(A[i, j]) + numba.float32(1)

    program = as_written(f)
    text = module_text(program)
    assert "for i in range(4):" in text
    assert "for j in range(1, 3):" in text
    assert program.imports == {"numba": "numba"}
    assert program.helpers == {"doubled": doubled.py_func}
    with pytest.raises(SourceError, match="already compiled by numba"):
        build(doubled)


def test_numba_types_are_imported():
    numba = pytest.importorskip("numba")
    f32 = numba.float32

    def f(A):
        for i in range(4):
            A[i] = f32(A[i])

    assert build(f).imports == {"f32": "numba.float32"}


def test_a_module_that_hides_a_helper_gives_it_a_number():
    space: dict[str, Any] = {"scale": 2}

    def make(scale):
        def helper(x):
            return x * scale

        return helper

    times_five = make(5)

    def f(A, scale_1):
        scale = 1
        for i in range(3):
            A[i] = times_five(A[i]) * scale

    text = module_text(build(f))
    exec(text, space)
    values = np.array([1, 2, 3])
    space["f"](values, 0)
    assert values.tolist() == [5, 10, 15]
