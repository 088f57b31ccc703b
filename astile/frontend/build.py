"""A Python function becomes a program: capture, subset, normalize, names."""

from __future__ import annotations

import ast
import types
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

import numpy as np

from astile.diagnostics import Related, did_you_mean
from astile.errors import SourceError
from astile.frontend import names, normalize, subset, text
from astile.frontend.bounds import bounds
from astile.frontend.capture import Captured, capture
from astile.frontend.continues import continues
from astile.frontend.counts import counts
from astile.frontend.decided import Fact, decided
from astile.frontend.inline import inline
from astile.frontend.iterations import iterations
from astile.frontend.new_arrays import new_arrays
from astile.frontend.reductions import reductions
from astile.frontend.slices import slices
from astile.frontend.tuples import tuples
from astile.frontend.views import views
from astile.ir import nodes, query
from astile.ir.program import Program

#: What is done to a program first, in this order; each gives the program itself where it does
#: nothing.
PASSES: tuple[Callable[[Program], Program], ...] = (
    inline,
    tuples,
    continues,
    counts,
    bounds,
    views,
    iterations,
    views,
    iterations,
    tuples,
    views,
)
#: How deep helpers may call helpers.
_DEPTH = 20


def build(
    function: object,
    *,
    scratch: Iterable[str] = (),
    exact: bool = False,
    ranks: Mapping[str, int] | None = None,
    integers: Mapping[str, str] | None = None,
    facts: Iterable[tuple[str, Fact]] = (),
) -> Program:
    """The program of a function, in loops where loops can say it.

    Args:
        function: a plain Python function of loops over arrays.
        scratch: array arguments whose contents after the call nobody reads.
        exact: keep the order in which NumPy adds floating-point numbers.
        ranks: arguments -> how many axes they have, where the text alone does not show it.
        integers: arguments that are arrays of integers, of which sums are taken -> their dtype.
        facts: what is known of arguments that the function compares with None or strings.

    Raises:
        SourceError: for Python that astile does not read, with its place and what to write.
    """
    program = decided(as_written(function, scratch=scratch), facts)
    program = replace(program, ranks=ranks or {}, integers_of=integers or {})
    result = program
    for each in PASSES:
        result = each(result)
    result = slices(reductions(new_arrays(result), exact=exact))
    if result is program:
        return program
    written = program if result.needs else None
    return replace(_numbered(result), written=written)


def build_from_source(module: str, name: str | None = None, scratch: Iterable[str] = ()) -> Program:
    """The program of a function given as text; the text is read, not run.

    Args:
        module: its text: the function, and above it imports, constants and helper functions.
        name: which function, where there are several.
        scratch: array arguments whose contents after the call nobody reads.

    Raises:
        SourceError: for Python that astile does not read, with its place and what to write.
    """
    return build(text.function_of(module, name), scratch=scratch)


def as_written(function: object, *, scratch: Iterable[str] = ()) -> Program:
    """The program of a function, statement by statement as it is written.

    Args:
        function: a plain Python function of loops over arrays.
        scratch: array arguments whose contents after the call nobody reads.

    Raises:
        SourceError: for Python that astile does not read, with its place and what to write.
    """
    return _with_scratch(_read(capture(function), ()), scratch)


def _numbered(program: Program) -> Program:
    """The same program, each loop with an identity of its own."""
    new = program.cloned()
    every = query.loops(new.function)
    for identity, loop in enumerate(every):
        nodes.set_loop_id(loop, identity)
    return replace(new, next_loop=len(every))


def _read(captured: Captured, callers: tuple[types.CodeType, ...]) -> Program:
    subset.check(captured.function, captured.source)
    function = normalize.normalize(captured.function)
    _freeze_defaults(function, captured)
    found = names.resolve(function, captured)
    for identity, loop in enumerate(query.loops(function)):
        nodes.set_loop_id(loop, identity)
    helpers = {
        name: _helper(helper, captured, found.called_at[name], (*callers, captured.code))
        for name, helper in found.helpers.items()
    }
    return Program(
        function=function,
        source=captured.source,
        constants=found.constants,
        imports=found.imports,
        helpers=found.helpers,
        helper_programs=helpers,
        next_loop=len(query.loops(function)),
    )


def _helper(
    function: object, caller: Captured, call: ast.expr, callers: tuple[types.CodeType, ...]
) -> Program:
    """The program of a function that a kernel calls; its errors name the place of the call."""
    place = caller.source.span(call)
    try:
        captured = capture(function)
        if captured.code in callers or len(callers) > _DEPTH:
            raise SourceError(
                f"{captured.function.name} calls itself",
                code="source.recursion",
                span=captured.source.span(captured.function),
                hints=["write the recursion as a loop"],
            )
        return _read(captured, callers)
    except SourceError as error:
        told = error.diagnostic
        related = [] if place is None else [Related(place, "called here")]
        raise SourceError(
            told.message,
            code=told.code,
            span=told.span,
            label=told.label,
            related=[*told.related, *related][:2],
            notes=told.notes,
            hints=told.hints,
        ) from error


def _freeze_defaults(function: ast.FunctionDef, captured: Captured) -> None:
    """Default values as they were when the function was defined."""
    arguments = function.args
    positional = [*arguments.posonlyargs, *arguments.args]
    first = len(positional) - len(arguments.defaults)
    for index, default in enumerate(arguments.defaults):
        arguments.defaults[index] = _default(positional[first + index].arg, default, captured)
    for index, (argument, keyword) in enumerate(
        zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    ):
        if keyword is not None:
            arguments.kw_defaults[index] = _default(argument.arg, keyword, captured)


def _default(name: str, written: ast.expr, captured: Captured) -> ast.expr:
    value = captured.defaults.get(name)
    if isinstance(value, np.generic):
        if query.names_read(written) <= set(captured.module) - _bound(captured.function):
            return written  # it keeps its type: the names in it are frozen too
        value = value.item()
    if value is None or type(value) in (bool, int, float, complex, str):
        return nodes.copy_place(written, nodes.const(value))
    if _is_literal_tuple(written):
        return written
    raise SourceError(
        f"the default value of {name} is no number",
        code="source.default",
        span=captured.source.span(written),
        hints=["use a number, a string or None as the default, and pass the rest at the call"],
    )


def _bound(function: ast.FunctionDef) -> set[str]:
    return set(query.parameters(function)) | query.names_written(function)


def _is_literal_tuple(written: ast.expr) -> bool:
    return isinstance(written, ast.Tuple) and all(
        isinstance(each, ast.Constant) or query.integer(each) is not None for each in written.elts
    )


def _with_scratch(program: Program, scratch: Iterable[str]) -> Program:
    given = [scratch] if isinstance(scratch, str) else list(scratch)
    parameters = query.parameters(program.function)
    for name in given:
        if name not in parameters:
            near = did_you_mean(name, parameters)
            raise SourceError(
                f"scratch names {name!r}, which is no parameter of {program.name}",
                code="source.scratch",
                span=program.source.span(program.function),
                hints=[near or "arrays made inside the function shrink without asking"],
            )
    return replace(program, scratch=frozenset(given))
