"""The only importer of islpy: sets and maps over names, one isl context and budget per proof.

Errors of isl are never caught here. Whoever asks for a verdict turns `Error` into "unknown".
"""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import TypeVar, cast

from islpy import (  # noqa: TID251 - this module is the owner
    AstBuild,
    AstExpr,
    Context,
    Error,
    Map,
    PwAff,
    Set,
    UnionAccessInfo,
    UnionFlow,
    UnionMap,
    UnionSet,
    Val,
    ast_expr_op_type,
    ast_expr_type,
    dim_type,
    on_error,
)

__all__ = [
    "Budget",
    "BudgetError",
    "Error",
    "Map",
    "PwAff",
    "Session",
    "Set",
    "Tree",
    "UnionAccessInfo",
    "UnionFlow",
    "UnionMap",
    "UnionSet",
    "Val",
    "condition_tree",
    "constants",
    "dim_type",
    "flow",
    "integer",
    "least",
    "limited",
    "named",
    "points",
    "single",
    "timed",
    "value_tree",
]

#: An expression over parameters: an integer, a name, or (operator, operands).
Tree = int | str | tuple[str, tuple["Tree", ...]]

T = TypeVar("T")
Union = TypeVar("Union", UnionSet, UnionMap)

#: With this a reason begins that a larger budget might do away with.
OUT_OF_TIME = "not proved within"
#: Operations of isl, its allocations among them, that stand for a second. Slow machines do as many.
_OPERATIONS_PER_SECOND = 1_000_000
#: So many times its seconds may go by before a budget is spent whose operations are not.
_PATIENCE = 3


class BudgetError(Exception):
    """What a proof may cost is spent."""


class Budget:
    """What a proof may cost, counted in operations of isl so that every machine proves the same.

    The clock ends what hardly comes to isl, and it does so late.

    Args:
        seconds: that a slow machine takes for as many operations.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.operations = max(1, int(seconds * _OPERATIONS_PER_SECOND))
        self._end = time.thread_time() + seconds * _PATIENCE

    def __str__(self) -> str:
        return f"{self.seconds:g} s"

    def is_late(self) -> bool:
        """Whether this thread took much longer than was to be expected."""
        return time.thread_time() > self._end


class Session:
    """One isl context with a budget; objects of different sessions must not meet.

    Args:
        budget: what all questions together may cost, or None for no limit.
    """

    def __init__(self, budget: Budget | None = None) -> None:
        self.context = Context()
        self.context.set_on_error(on_error.CONTINUE)
        self._answers: dict[Hashable, object] = {}
        self._budget: Budget | None = None
        self.begin(budget)

    def begin(self, budget: Budget | None) -> None:
        """Count against a budget, or None; what was spent of it just before stays spent."""
        if budget is None or budget is not self._budget:
            self.context.reset_operations()
            self.context.set_max_operations(0 if budget is None else budget.operations)
        self._budget = budget

    def tick(self) -> None:
        """Raise `BudgetError` when the clock says that the budget is spent."""
        if self._budget is not None and self._budget.is_late():
            raise BudgetError(f"{OUT_OF_TIME} {self._budget}")

    def is_budget(self, error: Error) -> bool:
        """Whether an error of isl means that its operations ran out.

        It may call that a syntax error of what it was reading, but then it reads nothing any more.
        """
        if "maximal number of operations" in str(error):
            return True
        try:
            Set.read_from_str(self.context, "{ [i] : exists (e : i = 2 e and 0 <= e < 9) }")
        except Error:
            return True
        return False

    def set(self, text: str) -> Set:
        """A set from isl's notation."""
        return self.recalled((Set, text), lambda: Set.read_from_str(self.context, text))

    def map(self, text: str) -> Map:
        """A map from isl's notation."""
        return self.recalled((Map, text), lambda: Map.read_from_str(self.context, text))

    def union_set(self, parameters: Iterable[str], pieces: Iterable[str]) -> UnionSet:
        """A union of sets over shared parameters; no pieces make the empty set."""
        return self._union(UnionSet, f"[{', '.join(parameters)}] -> ", tuple(pieces))

    def union_map(self, parameters: Iterable[str], pieces: Iterable[str]) -> UnionMap:
        """A union of maps over shared parameters; no pieces make the empty map."""
        return self._union(UnionMap, f"[{', '.join(parameters)}] -> ", tuple(pieces))

    def _union(self, kind: type[Union], head: str, pieces: tuple[str, ...]) -> Union:
        def read(piece: str) -> Union:
            text = f"{head}{{ {piece} }}"
            return self.recalled((kind, text), lambda: kind.read_from_str(self.context, text))

        def union() -> Union:
            result = read(pieces[0] if pieces else "")
            for piece in pieces[1:]:
                result = result.union(read(piece))
            return result

        return self.recalled((kind, head, pieces), union)

    def recalled(self, question: Hashable, answer: Callable[[], T]) -> T:
        """The answer to a question that was asked before, or a new one.

        Reading text is what most proofs spend their time on, and the programs before and after a
        step have most of it in common.

        Args:
            question: everything that the answer depends on; isl's objects have no place in it.
            answer: gives the answer, which nobody changes.
        """
        if question not in self._answers:
            self._answers[question] = answer()
        return cast("T", self._answers[question])

    def knows(self, question: Hashable) -> bool:
        """Whether a question was asked before."""
        return question in self._answers


def flow(
    sinks: UnionMap, sources: UnionMap, schedule: UnionMap, may_sources: UnionMap | None = None
) -> UnionFlow:
    """Value-based dataflow: for each sink the last source before it that wrote its cell.

    Feautrier, "Dataflow analysis of array and scalar references", 1991, as isl computes it.

    Args:
        sinks: access instance -> cell.
        sources: access instance -> cell; a source hides the ones before it.
        schedule: access instance -> time.
        may_sources: sources that hide nothing.
    """
    every = [sinks, sources, *([] if may_sources is None else [may_sources])]
    every = [_without_divisions(each) for each in every]
    found = _flow(every, schedule)
    if any(map(_divides, every)) and not _is_last(found, every, schedule):
        every = [each.detect_equalities() for each in every]
        found = _flow(every, schedule)
        if not _is_last(found, every, schedule):
            raise Error("a write that isl takes for the last one before a read is not")
    return found


def _flow(accesses: Sequence[UnionMap], schedule: UnionMap) -> UnionFlow:
    sinks, sources, *may_sources = accesses
    info = UnionAccessInfo.from_sink(sinks).set_must_source(sources)
    for each in may_sources:
        info = info.set_may_source(each)
    return info.set_schedule_map(schedule).compute_flow()


def _divides(accesses: UnionMap) -> bool:
    """Whether cells or instances are told by divisions with a remainder."""
    pieces = [piece for each in maps(accesses) for piece in each.get_basic_maps()]
    return any(int(piece.dim(dim_type.div)) for piece in pieces)


def _without_divisions(accesses: UnionMap) -> UnionMap:
    """The same accesses, without the divisions that say nothing new of them.

    A loop that runs to a quotient of sizes often has bounds inside of it that are no wider.
    """
    if not _divides(accesses):
        return accesses
    result = UnionMap.empty(accesses.get_space())
    for each in maps(accesses):
        wider = each.remove_divs()
        same = wider if wider.is_subset(each) else each
        result = result.union(UnionMap.from_map(same))
    return result


def _is_last(flow: UnionFlow, accesses: Sequence[UnionMap], schedule: UnionMap) -> bool:
    """Whether a result of isl relates each sink to the last sources before it, and to no others.

    Where remainders decide, isl (as of islpy 2026.2.2) gives a source that is not the last one,
    for some of the forms in which it may hold one and the same relation.
    """
    sinks, sources, *may_sources = accesses
    found = flow.get_may_dependence() if may_sources else flow.get_must_dependence()
    found = found.reverse()
    every = sources
    for each in may_sources:
        every = every.union(each)
    before, times = (schedule.intersect_domain(each.domain()) for each in (sinks, every))
    earlier = sinks.apply_range(every.reverse()).intersect(before.lex_gt_union_map(times))
    if not found.is_subset(earlier):
        return False
    last = found.intersect_range(sources.domain()) if may_sources else found
    hiding = earlier.intersect_range(sources.domain()) if may_sources else earlier
    later = times.lex_lt_union_map(times)
    if not hiding.domain().is_subset(last.domain()) or _meet(last, hiding, later):
        return False
    if not may_sources:
        return True
    lost = earlier.subtract(found)  # has to be hidden
    return (
        not _meet(found, last, later)
        and lost.domain().is_subset(last.domain())
        and not _meet(last, lost, times.lex_le_union_map(times))
    )


def _meet(first: UnionMap, second: UnionMap, order: UnionMap) -> bool:
    """Whether two relations give some sink sources that are in an order to each other."""
    pairs = first.range_product(second)
    return not pairs.intersect_range(order.wrap()).is_empty()


def integer(value: Val) -> int:
    """The number that a value of isl is; where operations ran out, islpy prints it as None.

    Raises:
        Error: when it is none.
    """
    text = cast("str | None", value.to_str())
    if text is None or not value.is_int():
        raise Error(f"no integer: {text}")
    return int(text)


def constants(times: Map) -> tuple[int | None, ...]:
    """For each entry of the range of a map the number that it is, None where it is none."""
    values = times.range()
    found = (
        values.plain_get_val_if_fixed(dim_type.set, k) for k in range(int(values.dim(dim_type.set)))
    )
    return tuple(integer(each) if each.is_int() else None for each in found)


def points(values: Set) -> tuple[dict[str, int], list[int]] | None:
    """One point of a set: the parameters by name, and the coordinates; None when it is empty."""
    point = values.sample_point()
    if point.is_void():
        return None
    names = values.get_var_names_not_none(dim_type.param)
    parameters = {
        name: integer(point.get_coordinate_val(dim_type.param, position))
        for position, name in enumerate(names)
    }
    size = int(values.dim(dim_type.set))
    coordinates = [
        integer(point.get_coordinate_val(dim_type.set, position)) for position in range(size)
    ]
    return parameters, coordinates


def condition_tree(values: Set, context: Set) -> Tree:
    """A set of parameters as a condition, simplified by what holds in `context`."""
    return _tree(AstBuild.from_context(context).expr_from_set(values))


def value_tree(value: PwAff, context: Set) -> Tree:
    """A piecewise quasi-affine function of parameters as an expression."""
    return _tree(AstBuild.from_context(context).expr_from_pw_aff(value))


_OPERATORS = {
    getattr(ast_expr_op_type, word): word
    for word in (
        "add", "sub", "mul", "div", "minus", "fdiv_q", "pdiv_q", "pdiv_r", "zdiv_r", "min", "max",
        "and_", "or_", "and_then", "or_else", "eq", "le", "lt", "ge", "gt", "cond", "select",
    )
}  # fmt: skip


def _tree(expression: AstExpr) -> Tree:
    kind = ast_expr_type(expression.get_type())  # islpy annotates it as int
    if kind == ast_expr_type.int:
        return integer(expression.get_val())
    if kind == ast_expr_type.id:
        return str(expression.get_id().get_name())
    operands = [expression.get_op_arg(k) for k in range(expression.get_op_n_arg())]
    return _OPERATORS[expression.get_op_type()], tuple(map(_tree, operands))


def named(values: Set, name: str, extra: int = 0) -> UnionSet:
    """The points of a set as tuples of a name, with `extra` more coordinates of any value."""
    return UnionSet.from_set(values.add_dims(dim_type.set, extra).set_tuple_name(name))


def timed(times: Map, name: str, extra: int, phase: int) -> UnionMap:
    """A map to times as one from tuples of a name, with a phase as the last entry of the time."""
    last = int(times.dim(dim_type.out))
    longer = times.add_dims(dim_type.in_, extra).add_dims(dim_type.out, 1)
    fixed = longer.fix_val(dim_type.out, last, Val(phase, times.get_ctx()))
    return UnionMap.from_map(fixed.set_tuple_name(dim_type.in_, name))


def limited(values: Set, parameters: Iterable[str], limit: int | None) -> Set:
    """The part of a set for parameters between 0 and `limit`, which None leaves open."""
    names = list(parameters)
    below = "" if limit is None else f" <= {limit}"
    known = " and ".join(f"0 <= {name}{below}" for name in names) or "true"
    bounds = Set.read_from_str(values.get_ctx(), f"[{', '.join(names)}] -> {{ : {known} }}")
    return values.intersect_params(bounds)


def least(values: Set) -> Set:
    """The smallest values of the parameters of a set of parameters that is not empty."""
    names = values.get_var_names_not_none(dim_type.param)
    moved = values.from_params().move_dims(dim_type.set, 0, dim_type.param, 0, len(names))
    found = points(moved.lexmin()) or points(moved)
    if found is None:
        raise Error("a set that is not empty has no point")
    known = " and ".join(f"{k} = {v}" for k, v in zip(names, found[1], strict=True)) or "true"
    return Set.read_from_str(values.get_ctx(), f"[{', '.join(names)}] -> {{ : {known} }}")


def single(values: Set, coordinates: Iterable[int]) -> Set:
    """The points of a set with these coordinates."""
    result = values
    for position, value in enumerate(coordinates):
        result = result.fix_val(dim_type.set, position, Val(value, values.get_ctx()))
    return result


def maps(relation: UnionMap) -> Iterator[Map]:
    """The maps of a union, one for each pair of tuple names."""
    pieces = relation.get_map_list()
    for position in range(int(pieces.n_map())):
        yield pieces.get_at(position)


def tuple_names(relation: Map) -> tuple[str, str]:
    """The names of the two tuples of a map; empty for a tuple without a name."""
    return (
        relation.get_tuple_name(dim_type.in_) or "",
        relation.get_tuple_name(dim_type.out) or "",
    )
