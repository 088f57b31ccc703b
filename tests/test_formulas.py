"""What `kernel.explain()` says for all sizes, against what is counted for some."""

from __future__ import annotations

import json
from itertools import zip_longest

import numpy as np
import pytest

from astile import Schedule, tile
from astile.analysis import isl
from astile.analysis.counts.counting import count
from astile.analysis.counts.general import general
from astile.analysis.counts.parts import NoFormulaError
from astile.analysis.counts.symbolic import Symbolic
from astile.analysis.counts.traffic import estimated, measure
from astile.analysis.forms.params import extent_name
from astile.analysis.reading.model import extract
from tests.cases import corpus
from tests.differential import kernels, schedules
from tests.support import recipes
from tests.support.recipes import RECIPES, small
from tests.test_explain import corpus_arguments

SETS = {
    "[H, W] -> { [i, j] : 0 <= i < H + 2 and 0 <= j < W + 2 }": "(H + 2)*(W + 2)",
    "[H] -> { [t, i] : 0 <= 16t and 0 <= i < 16 and 16t + i < H }": "H",
    "[H] -> { [t, i] : 0 <= 16t < H and 0 <= i < 18 and 16t + i < H + 2 }": "H + 2*((H + 15)//16)",
    "[H] -> { [t, c] : 0 <= 16t < H and 16t <= c < 16t + 18 and c < H + 2 }": (
        "H + 2*((H + 15)//16)"
    ),
    "[n] -> { [a, b, c] : 0 <= 48a and 0 <= 32b and 0 <= c < 32 and 32b + c < 48 "
    "and 48a + 32b + c < n }": "n",
    "[H] -> { [t] : 0 <= 16t < H }": "(H + 15)//16",
    "[H] -> { [i] : exists (k : i = 16k) and 0 <= i < H }": "(H + 15)//16",
    "[n] -> { [i, j] : 0 <= j <= i < n }": "(n**2 + n)//2",
    "[n] -> { [i, j, k] : 0 <= j <= i < n and j <= k < n }": "(2*n**3 + 3*n**2 + n)//6",
    "[n, T] -> { [t, i] : 0 <= t < T and t <= i < n + t }": "T*n",
    "[n] -> { [i] : 0 <= i < n; [i] : n + 5 <= i < n + 9 }": "n + 4",
    # a cross, windows that an edge cuts off, rows that 4 does not divide
    "[n, m] -> { [i, j] : 0 < i < n and 0 <= j <= m; [i, j] : 0 <= i <= n and 0 < j < m }": (
        "(m + 1)*(n - 1) + 2*m - 2"
    ),
    "[n] -> { [i, k] : 0 <= i, k < n and i - 2 <= k <= i + 2 }": "5*n - 6",
    "[n] -> { [i] : 4*floor(n / 4) <= i < n }": "n - 4*(n//4)",
}


def fixed(session, values, sizes):
    known = " and ".join(f"{name} = {size}" for name, size in sizes.items())
    point = session.set(f"[{', '.join(sizes)}] -> {{ : {known} }}")
    return values.intersect_params(point).project_out(isl.dim_type.param, 0, len(sizes))


@pytest.mark.parametrize("text", SETS)
def test_sets_are_counted_for_all_sizes(text):
    session = isl.Session()
    values = session.set(text)
    names = values.get_var_names_not_none(isl.dim_type.param)
    large = " and ".join(f"{name} >= 20" for name in names)
    context = session.set(f"[{', '.join(names)}] -> {{ : {large} }}")
    formula = str(Symbolic(context, {}).count(values))
    assert formula == SETS[text]
    for size in (20, 31, 32, 33, 47, 64, 97):
        sizes = {name: size + 5 * k for k, name in enumerate(names)}
        assert eval(formula, {}, sizes) == count(fixed(session, values, sizes))


@pytest.mark.parametrize(
    "text",
    [
        "[n, m] -> { [i] : 0 <= i < n and i < m }",  # the smaller one of two sizes
        "[n] -> { [i] : 0 <= i < 9 and n <= 30 }",  # there for some sizes only
        "[n] -> { [i, j] : 0 <= i and 0 <= j and 3i + 2j < n }",
    ],
)
def test_what_has_no_formula_gets_none(text):
    session = isl.Session()
    with pytest.raises(NoFormulaError):
        Symbolic(session.set("[n, m] -> { : n >= 20 and m >= 20 }"), {}).count(session.set(text))


# --- whole programs -------------------------------------------------------------------------------


def agree(program, shapes, integers):
    """Compare the formulas of a program, where there are some, with counts; how many there are."""
    model, numbers = extract(program), measure(program, shapes, integers)
    found, upper = general(model, {}), estimated(model)
    sizes = {f"n_{name}": value for name, value in integers.items()}
    for name, shape in shapes.items():
        sizes |= {extent_name(name, axis): extent for axis, extent in enumerate(shape)}
    used = [sizes[each] for each in model.parameters if each in sizes]
    if min(used, default=found.least) < found.least:
        return 0
    compared = 0

    def same(formula, number, array=""):
        nonlocal compared
        if formula is None or not set(names_in(formula)) <= set(sizes):
            return  # a formula of one iteration names it
        compared += 1
        told = eval(str(formula), {}, sizes)
        assert told == number or (array in upper and told > number), str(formula)

    if found.operations is not None:
        same(found.operations, sum(each.operations for each in numbers.nests))
    nests = [
        (moves, spans)
        for moves, spans in zip(found.nests, found.spans, strict=True)
        if spans[0].cells
    ]
    counted = [each for each in numbers.nests if each.cells]
    for (moves, spans), nest in zip(nests, counted, strict=True):
        for word in ("read", "written", "block_read", "block_written"):
            for name, formula in (getattr(moves, word) or {}).items():
                same(formula, getattr(nest, word).get(name, 0), name)
        for span, footprint in zip_longest(spans, nest.footprints):
            assert (span.loop, span.kind, span.depth) == (
                footprint.loop,
                footprint.kind,
                footprint.depth,
            )
            same(span.trips, footprint.trips)
            for name, formula in span.cells.items():
                same(formula, footprint.cells.get(name, 0), name)
    for name, shape in found.made.items():
        if shape is not None and None not in shape:
            assert tuple(eval(str(e), {}, sizes) for e in shape) == numbers.made[name]
    return compared


def names_in(formula):
    return compile(str(formula), "<formula>", "eval").co_names


#: Arguments of recipes -> sizes for which formulas hold.
LARGE = {
    recipes.matrices: (71, 72, 73),
    **dict.fromkeys((recipes.image, recipes.image_and_weights, recipes.turned), (71, 78)),
    recipes.rows: (71, 70),
    **dict.fromkeys((recipes.data, recipes.pixels), (97,)),
}
#: A loop over what four summands at a time leave over is counted where it has iterations.
UNEVEN = {"matmul_packed": (71, 74, 73)}
#: Recipes for which some formula holds only for larger sizes than these, or than they have.
SMALL = ("matmul_registers", "three", "histogram", "block_histogram")
#: Programs whose arguments in the corpus are smaller than what formulas hold for.
TOO_SMALL = (
    "bn_gelu", "chamfer", "conv2d_nchw", "depthwise_conv", "doitgen", "embedding_bag", "fdtd_2d",
    "guards_and_defaults", "hdiff", "hist_equalize", "jacobi_2d", "lcs", "life",
    "max_filter", "median_network", "moving_nanmean", "seidel_2d", "softmax_rows", "unsharp",
)  # fmt: skip
#: All but those that use arrays in other ways than index by index.
CHOSEN = [each for each in corpus.programs() if each not in ("blocked_rowops", "slice_ops")]


@pytest.mark.skipif(not corpus.programs(), reason="the case corpus is not here")
@pytest.mark.parametrize("name", CHOSEN)
def test_formulas_of_the_corpus_are_what_is_counted(name):
    function, arguments = corpus_arguments(name)
    shapes = {k: v.shape for k, v in arguments.items() if isinstance(v, np.ndarray)}
    integers = {k: int(v) for k, v in arguments.items() if isinstance(v, (int, np.integer))}
    assert agree(Schedule(function).program, shapes, integers) or name in TOO_SMALL


@pytest.mark.parametrize("name", ["conv_add", "blur"])
@pytest.mark.parametrize("apply", [schedules.on_host, schedules.on_blocks])
def test_formulas_of_tiles_are_what_is_counted(name, apply):
    stage = {"conv_add": "conv", "blur": "rows"}[name]
    s = Schedule(getattr(kernels, name))
    apply(s, (stage,), (4, 8))
    shapes = {"x": (71, 78), "w": (3, 3), "bias": (69, 76), "out": (69, 76)}
    given = {k: v for k, v in shapes.items() if name == "conv_add" or k in ("x", "out")}
    assert agree(s.program, given, {}) > 25


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda each: each.name)
def test_formulas_of_recipes_are_what_is_counted(recipe):
    program = small(recipe).program
    sizes = UNEVEN.get(recipe.name) or LARGE.get(recipe.arguments, (71, 70))
    given = recipe.arguments(*sizes)
    names = [each.arg for each in program.function.args.args]
    shapes = {n: each.shape for n, each in zip(names, given, strict=True)}
    assert agree(program, shapes, {}) > 3 or recipe.name in SMALL


@pytest.mark.parametrize("operations", [*range(1, 40, 6), 100, 400, 1600])
def test_where_isl_gives_up_there_is_no_formula_and_no_other_end(operations, monkeypatch):
    def begin(session, budget):
        session.context.reset_operations()
        session.context.set_max_operations(0 if budget is None else operations)

    [recipe] = [each for each in RECIPES if each.name == "matmul_packed"]
    model = extract(small(recipe).program)
    monkeypatch.setattr(isl.Session, "begin", begin)
    found = general(model, {})
    assert any("none was found in time" in each for each in found.reasons)


def test_what_isl_cannot_print_is_no_integer():
    session = isl.Session()
    value = session.set("{ [i] : 0 <= i < 9 }").dim_max_val(0)
    assert isl.integer(value) == 8
    session.context.set_max_operations(1)
    with pytest.raises(isl.Error):
        _ = [isl.integer(value) for _ in range(9)]


# --- the report -----------------------------------------------------------------------------------


def test_the_formulas_of_conv_and_add(golden):
    report = tile(i=16, j=16, target="cuda")(kernels.conv_add).explain()
    golden("explain/conv_add_formulas.txt", str(report))
    assert report.after.bytes_moved == "8*H*W + 4*(H + 2)*(W + 2) + 36"
    assert report.sizes == {"H": "out.shape[0]", "W": "out.shape[1]"}
    json.dumps(report.to_dict())
    numbers = tile(i=16, j=16, target="cuda")(kernels.conv_add).explain(
        (226, 130), (3, 3), (224, 128), (224, 128)
    )
    sizes = {"H": 224, "W": 128}
    for form, counted in ((report.before, numbers.before), (report.after, numbers.after)):
        assert eval(form.bytes_moved, {}, sizes) == counted.bytes_moved
        assert eval(form.operations, {}, sizes) == counted.operations
    assert eval(report.after.bytes_of_blocks, {}, sizes) == numbers.after.bytes_of_blocks


def test_what_has_no_short_formula_is_told():
    def both(x, y, out):
        for i in range(min(len(x), len(y))):
            out[i] = x[i] + y[i]

    report = tile(target="python")(both).explain()
    assert report.before.operations == "?"
    assert (
        "?: it depends on how x.shape[0] and y.shape[0] compare: "
        "operations, y read, x read, out written, 5 more"
    ) in report.notes


def test_cells_that_are_not_known_are_upper_limits():
    def pick(x, index, out):
        n = len(out)
        for i in range(n):
            out[i] = x[index[i]] + len(x)

    report = tile(target="python")(pick).explain()
    assert report.before.moved == {
        "x read": "4*x.shape[0]",
        "index read": "4*n",
        "out written": "4*n",
    }
    assert any("upper limits" in each for each in report.notes)


def test_rounds_of_a_loop_that_differ_have_no_formula():
    s = Schedule(kernels.blur)
    schedules.on_host(s, ("rows",), (6, 8))
    i_0, i_1 = s.split(s.loops("rows_local")[2], [2, 5])
    report = s.build("python").explain()
    [row] = [each for each in report.after.footprints[0] if each.loop == i_1.var]
    assert (row.trips, row.extent) == ("?", "5")
    assert any(f"it depends on which value {i_0.var} has" in each for each in report.notes)
