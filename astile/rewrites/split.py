"""`split`: one loop into two or more, the inner ones of literal length."""

from __future__ import annotations

import ast
import builtins
import keyword
import operator
from collections.abc import Sequence
from math import prod

from astile.analysis.forms import affine
from astile.analysis.forms.affine import Affine
from astile.analysis.forms.integers import integers_of, is_integer
from astile.analysis.reading.context import Context
from astile.diagnostics import suggestions
from astile.errors import ScheduleError
from astile.ir import nodes, query
from astile.ir.printer import print_expression
from astile.ir.program import Program
from astile.ir.query import Header
from astile.rewrites.parts.result import (
    Editor,
    Rewritten,
    check_listed,
    check_replaceable,
    named,
    range_call,
)
from astile.rewrites.parts.trips import at_least_0, trip_count, value_at

TAILS = ("guard", "cut", "perfect")
#: Larger tiles would leave the 64 bits that targets compute indices in.
_LARGEST = (1 << 31) - 1


def split(
    program: Program,
    loop: int,
    factors: Sequence[int | None],
    names: Sequence[str] | None = None,
    tail: str = "guard",
) -> Rewritten:
    """Split one loop into a nest of loops that runs the same iterations in the same order.

    Args:
        program: the program before.
        loop: identity of the loop.
        factors: trip counts of the new loops, outermost first; one of them may be None and is
            then as large as needed.
        names: variables of the new loops; ``i_0``, ``i_1``, ... by default.
        tail: what happens to a rest that does not fill the factors: ``"guard"`` (an `if` around
            the body), ``"cut"`` (a loop of its own after the main nest), ``"perfect"`` (there is
            none, which is proved).

    Where data bound the loop, or it starts elsewhere in each iteration of a loop around it, guarded
    tiles begin at multiples of their size: the tiles of a skewed loop are skewed then.

    Raises:
        ScheduleError: for bad factors, names or tail, a loop that is bound or not counted, and
            for ``tail="perfect"`` where a rest cannot be excluded.

    Before:
        for i in range(n):
            y[i] = x[i]

    After ``split(i, [None, 16])``:
        for i_0 in range((n + 15) // 16):
            for i_1 in range(16):
                if i_0 * 16 + i_1 < n:
                    y[i_0 * 16 + i_1] = x[i_0 * 16 + i_1]
    """
    edit = Editor(program)
    node = edit.loop(loop)
    header = edit.counted(node)
    factors = _integers(factors)
    _check(edit, node, header, factors, names, tail)
    check_replaceable(edit, node, header)
    variables = _variables(edit, header, len(factors)) if names is None else list(names)
    count = trip_count(header)
    rest = _rest(edit, node, count, factors) if tail != "guard" else None
    if tail == "perfect" and rest != affine.constant(0):
        raise _imperfect(edit, node, count, factors)
    is_grid = _is_of_data(edit, header) or _is_slanted(edit, node, header)
    if tail == "guard" and factors[0] is None and is_grid:
        loops, main = _grid(edit, node, header, variables, _given(factors))
    else:
        extents = _extents(edit, node, count, factors, round_up=tail == "guard")
        loops, main = _nest(edit, node, header, variables, extents, guarded=tail == "guard")
    result = [main]
    if tail == "cut" and rest != affine.constant(0):
        result.append(_tail_loop(edit, node, header, count, prod(_given(factors))))
    edit.forget(node, f"`split` replaced {header.variable} by {', '.join(variables)}")
    edit.replace(node, result)
    return edit.finish(loops)


def _variables(edit: Editor, header: Header, count: int) -> list[str]:
    return [edit.fresh_name(f"{header.variable}_{k}") for k in range(count)]


def _given(factors: Sequence[int | None]) -> list[int]:
    return [each for each in factors if each is not None]


def _integers(factors: Sequence[int | None]) -> list[int | None]:
    """A list of factors with NumPy's integers as Python's own; what is no integer stays."""
    inner = factors if isinstance(factors, int) and factors > 0 else 16
    check_listed("factors", factors, "schedule.bad-factor", f"write `factors=[None, {inner}]`")
    return [
        each
        if each is None or isinstance(each, bool) or not hasattr(each, "__index__")
        else operator.index(each)
        for each in factors
    ]


def _check(
    edit: Editor,
    node: ast.For,
    header: Header,
    factors: Sequence[int | None],
    names: Sequence[str] | None,
    tail: str,
) -> None:
    place = edit.span(node)
    if tail not in TAILS:
        raise ScheduleError(
            f"there is no tail={tail!r}",
            code="schedule.bad-tail",
            hints=suggestions(str(tail), TAILS, "tails"),
        )
    if len(factors) < 2 or sum(each is None for each in factors) > 1:
        raise ScheduleError(
            "factors must be two or more, at most one of them None",
            code="schedule.bad-factor",
            hints=["write `factors=[None, 16]`"],
        )
    for each in factors:
        if each is not None and (isinstance(each, bool) or not isinstance(each, int) or each < 1):
            raise ScheduleError(
                f"the factor {each!r} is no positive integer",
                code="schedule.bad-factor",
                hints=["write `factors=[None, 16]`"],
            )
    if prod(_given(factors)) > _LARGEST:
        raise ScheduleError(
            f"the factors make {prod(_given(factors))} iterations, and at most {_LARGEST} can be",
            code="schedule.bad-factor",
            hints=["use smaller factors"],
        )
    if tail == "cut" and factors[0] is not None:
        raise ScheduleError(
            'tail="cut" needs None as the first factor',
            code="schedule.bad-factor",
            hints=["write `factors=[None, 16]`"],
        )
    if header.kind != "range":
        raise ScheduleError(
            f"{header.variable} is already {header.kind}",
            code="schedule.already-bound",
            span=place,
            hints=["split the loop first, then bind the loops that come of it"],
        )
    if names is not None:
        check_names(edit, names, len(factors))


def check_names(edit: Editor, names: Sequence[str], count: int) -> None:
    """Refuse names of new loops that are no free identifiers.

    Raises:
        ScheduleError: naming the first that cannot be used.
    """
    check_listed("names", names, "schedule.bad-name", "give each new loop a name, in a list")
    if len(names) != count or len(set(names)) != count:
        raise ScheduleError(
            f"{count} different names are needed, got {list(names)!r}",
            code="schedule.bad-name",
            hints=["give each new loop a name"],
        )
    for each in names:
        is_plain = isinstance(each, str) and each.isidentifier() and each.isascii()
        if not is_plain or keyword.iskeyword(each) or hasattr(builtins, each):
            raise ScheduleError(
                f"the name {each!r} cannot be used: it is no plain identifier, or Python's own",
                code="schedule.bad-name",
                hints=["use letters, digits and _"],
            )
        if edit.fresh_name(each) != each:
            raise ScheduleError(
                f"the name {each!r} cannot be used: it is taken",
                code="schedule.bad-name",
                hints=["choose another name, or leave `names` out"],
            )


def _extents(
    edit: Editor,
    node: ast.For,
    count: Affine,
    factors: Sequence[int | None],
    *,
    round_up: bool,
) -> list[ast.expr]:
    """The trip counts of the new loops."""
    inner = prod(_given(factors))
    if None not in factors:
        short = affine.constant(inner) - count
        at = Context.at(edit.program, node)
        enough = nodes.compare(short.expression(), ast.GtE, nodes.const(0))
        if (short.value is not None and short.value < 0) or not at.implies(enough):
            raise ScheduleError(
                f"the factors make {inner} iterations, {named(node)} has "
                f"{print_expression(count.expression())}",
                code="schedule.bad-factor",
                span=edit.span(node),
                hints=["write None for the factor that grows with the loop"],
            )
    outer = affine.floor_div(count + (inner - 1 if round_up else 0), inner)
    return [outer.expression() if each is None else nodes.const(each) for each in factors]


def _rest(edit: Editor, node: ast.For, count: Affine, factors: Sequence[int | None]) -> Affine:
    """How many iterations are left over after the main nest."""
    inner = prod(_given(factors))
    rest = affine.modulo(count, inner) if None in factors else count - inner
    if rest.value is None:
        none_left = nodes.compare(rest.expression(), ast.Eq, nodes.const(0))
        if Context.at(edit.program, node).implies(none_left):
            return affine.constant(0)
    return rest


def _imperfect(
    edit: Editor, node: ast.For, count: Affine, factors: Sequence[int | None]
) -> ScheduleError:
    inner = prod(_given(factors))
    text = print_expression(count.expression())
    return ScheduleError(
        f"{named(node)} runs {text} times, which is not known to be a multiple of {inner}",
        code="schedule.not-perfect",
        span=edit.span(node),
        hints=['use tail="guard" or tail="cut"'],
    )


def _nest(
    edit: Editor,
    node: ast.For,
    header: Header,
    variables: Sequence[str],
    extents: Sequence[ast.expr],
    *,
    guarded: bool,
) -> tuple[list[ast.For], ast.For]:
    """The new loops over the body, and the outermost of them."""
    trip = affine.constant(0)
    for variable, extent in zip(variables, extents, strict=True):
        trip = affine.of(nodes.binary(trip.expression(), ast.Mult, extent))
        trip = trip + affine.variable(variable)
    value = value_at(header, trip)
    body: list[ast.stmt] = [nodes.substitute(each, {header.variable: value}) for each in node.body]
    if guarded:
        step = query.integer(header.step)
        assert step
        comparison = ast.Lt if step > 0 else ast.Gt
        body = [nodes.if_then(nodes.compare(value, comparison, nodes.clone(header.stop)), body)]
    iterators = [range_call(nodes.const(0), each) for each in extents]
    return _loops(edit, node, variables, iterators, body)


def _loops(
    edit: Editor,
    node: ast.For,
    variables: Sequence[str],
    iterators: Sequence[ast.expr],
    body: list[ast.stmt],
) -> tuple[list[ast.For], ast.For]:
    loops: list[ast.For] = []
    for variable, iterator in reversed(list(zip(variables, iterators, strict=True))):
        loops.insert(0, edit.new_loop(variable, iterator, loops[:1] or body, node))
    nodes.set_origin(loops[0], nodes.origin(node))  # of a loop that is a statement as a whole
    return loops, loops[0]


def _is_slanted(edit: Editor, node: ast.For, header: Header) -> bool:
    """Whether a loop in steps of 1 starts elsewhere in each iteration of a loop around it."""
    around = {name for each in edit.place(node).loops for name in query.names_written(each.target)}
    return query.is_constant(header.step, 1) and bool(query.names(header.start) & around)


def _is_of_data(edit: Editor, header: Header) -> bool:
    """Whether numbers that may have few bits tell where a loop in steps of 1 begins or ends."""
    known = integers_of(edit.program)
    ends = (header.start, header.stop)
    return query.is_constant(header.step, 1) and not all(is_integer(each, known) for each in ends)


def _grid(
    edit: Editor,
    node: ast.For,
    header: Header,
    variables: Sequence[str],
    factors: Sequence[int],
) -> tuple[list[ast.For], ast.For]:
    """A nest whose tiles begin at multiples of their size, wherever the loop starts.

    Counted from the start they would follow it from one iteration of the loops around to the
    next: a skewed loop would have tiles that are not skewed. Nothing is added to a number that may
    have few bits: there may be a tile more then, of which no iteration runs.
    """
    inner = prod(factors)
    value = affine.constant(0)
    for variable, size in zip(variables, [1, *factors], strict=True):
        value = value * size + affine.variable(variable)
    sides = [nodes.clone(header.start), value.expression(), nodes.clone(header.stop)]
    if query.is_constant(header.start, 0):
        test = nodes.compare(sides[1], ast.Lt, sides[2])
    else:
        test = nodes.comparison(sides, [ast.LtE(), ast.Lt()])
    values = {header.variable: value.expression()}
    body: list[ast.stmt] = [nodes.substitute(each, values) for each in node.body]
    if _is_of_data(edit, header):
        first, stop = _quotient(header.start, inner), _quotient(header.stop, inner)
        stop = nodes.binary(stop, ast.Add, nodes.const(1)) if inner > 1 else stop
    else:
        first = affine.floor_div(affine.of(header.start), inner).expression()
        stop = affine.floor_div(affine.of(header.stop) + (inner - 1), inner).expression()
    iterators = [range_call(first, stop)]
    iterators += [range_call(nodes.const(0), nodes.const(each)) for each in factors]
    return _loops(edit, node, variables, iterators, [nodes.if_then(test, body)])


def _quotient(number: ast.expr, size: int) -> ast.expr:
    """``number // size``, with nothing added, for which a number may have too few bits."""
    if size == 1 or query.is_constant(number, 0):
        return nodes.clone(number)
    return nodes.binary(nodes.clone(number), ast.FloorDiv, nodes.const(size))


def _tail_loop(edit: Editor, node: ast.For, header: Header, count: Affine, inner: int) -> ast.For:
    """The loop over what the main nest leaves, under the variable's own name."""
    done = affine.floor_div(count, inner) * inner
    if at_least_0(edit, node, count) != count:  # n // 16 * 16 may be below 0
        done = affine.of(nodes.call("max", [nodes.const(0), done.expression()]))
    body = nodes.clone_body(node.body)
    edit.renumber(body)
    iterator = range_call(value_at(header, done), header.stop, header.step)
    return edit.new_loop(header.variable, iterator, body, node)
