"""What the text of a function shows of its names: bindings, numbers of indices, uses."""

from __future__ import annotations

import ast
from collections.abc import Container, Iterator

from astile.frontend.vocabulary import PRODUCTS, REDUCTIONS
from astile.ir import query


def bindings(function: ast.FunctionDef) -> dict[str, list[ast.stmt]]:
    """Names -> the statements that bind them."""
    found: dict[str, list[ast.stmt]] = {}
    for each in query.statements(function):
        bound: set[str] = set()
        if isinstance(each, (ast.Assign, ast.AugAssign)):
            targets = each.targets if isinstance(each, ast.Assign) else [each.target]
            bound = {name for target in targets for name in query.names_written(target)}
        elif isinstance(each, ast.For):
            bound = query.names_written(each.target)
        for name in bound:
            found.setdefault(name, []).append(each)
    return found


def index_counts(function: ast.FunctionDef) -> dict[str, int]:
    """Names -> the most indices they are used with, or axes that their shape is taken apart in."""
    counts: dict[str, int] = {}
    counters = {name for each in query.loops(function) for name in query.names_written(each.target)}

    def seen(name: str | None, count: int) -> None:
        if name is not None:
            counts[name] = max(count, counts.get(name, 0))

    for access in query.accesses(function):
        indices = query.indices(access)
        if not isinstance(access.value, ast.Subscript):
            indices = [each for each in indices if not _is_new_axis(each)]
        if not any(map(_adds_axes, indices)):
            seen(query.base_name(access), len(indices))
    for node in query.preorder(function):
        match node:
            case ast.Subscript(value=ast.Attribute(value=ast.Name(id=array), attr="shape")):
                axis = query.integer(node.slice)
                seen(array, axis + 1 if axis is not None and axis >= 0 else 1)
            case ast.Assign(
                targets=[ast.Tuple(elts=elements)],
                value=ast.Attribute(value=ast.Name(id=array), attr="shape"),
            ):
                seen(array, len(elements))
            case ast.Assign(targets=[ast.Subscript() as row], value=ast.Tuple()):
                seen(*_reduced(row, counters))
            case ast.Assign(targets=[ast.Tuple()], value=ast.Subscript() as row):
                if not query.is_shape_of(row):
                    seen(*_reduced(row, counters))
            case ast.For(target=target, iter=iterable):
                for each, array in _walked(target, iterable):
                    if isinstance(each, ast.Tuple):  # `for x, y in A` takes rows apart
                        seen(array, 2)
            case ast.Call(func=ast.Name(id="len"), args=[ast.Name(id=array)]):
                seen(array, 1)
            case ast.Call(func=ast.Attribute(value=value, attr=word), args=arguments) if (
                word in REDUCTIONS
            ):
                for part in (value, *arguments):
                    seen(*_reduced(part, counters))
                if word in PRODUCTS:
                    for array in _beside_rows(value, *arguments):
                        seen(array, 1)
            case ast.BinOp(left=left, op=ast.MatMult(), right=right):
                for array in _beside_rows(left, right):
                    seen(array, 1)
    small = dict(_small_arrays(function))
    for name, axes in small.items():
        seen(name, axes)
    rows = list(_rows(function, small))
    for _ in rows:  # a row of a row
        for name, array, given in rows:
            seen(array, given + counts.get(name, 0))
    return counts


def _reduced(part: ast.expr, counters: set[str]) -> tuple[str | None, int]:
    """``(A, 2)`` for ``A[i]`` where that is no number: a sum is taken of it."""
    indices = query.indices(part) if isinstance(part, ast.Subscript) else []
    single = [each for each in indices if not (isinstance(each, ast.Slice) or _adds_axes(each))]
    is_row = len(single) == len(indices) > 0 and query.names_read(part) <= {
        query.base_name(part),
        *counters,
    }
    return query.base_name(part) if is_row else None, len(indices) + 1


def _beside_rows(*operands: ast.expr) -> Iterator[str]:
    """Arrays that are multiplied with rows: ``w`` for ``np.dot(A[i], w)``."""
    if any(isinstance(each, ast.Subscript) for each in operands):
        for each in operands[-2:]:
            if isinstance(each, ast.Name):
                yield each.id


def _small_arrays(function: ast.FunctionDef) -> Iterator[tuple[str, int]]:
    """``(v, 1)`` for ``v = np.zeros(3)``, where the name stands for nothing else."""
    for name, bound in bindings(function).items():
        made = [query.allocation(each) for each in bound if not isinstance(each, ast.AugAssign)]
        shapes = [each.shape for each in made if each is not None and each.shape is not None]
        if len(shapes) == len(made) > 0:
            literal = [all((query.integer(e) or 0) > 1 for e in each) for each in shapes]
            if all(literal):
                yield name, min(map(len, shapes))


def _rows(function: ast.FunctionDef, small: Container[str]) -> Iterator[tuple[str, str, int]]:
    """``row = A[i, :]``, ``A[i] = row``, ``B = A.T``, ``B = A.copy()``, ``for row in A``.

    Args:
        function: the function.
        small: names of arrays that it makes.

    Yields:
        A name, the array, and the number of indices given.
    """
    bound = bindings(function)
    for node in ast.walk(function):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Subscript() as value):
                base = query.base_name(value)
                indices = query.indices(value)
                if base is not None and not any(map(_adds_axes, indices)):
                    yield name, base, sum(not isinstance(e, ast.Slice) for e in indices)
            case ast.Assign(targets=[ast.Subscript() as value], value=ast.Name(id=name)) if (
                len(bound.get(name, ())) < 2 or name in small
            ):
                base, indices = query.base_name(value), query.indices(value)
                if base is not None and not any(map(_adds_axes, indices)):
                    yield name, base, sum(not isinstance(e, ast.Slice) for e in indices)
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.BinOp() as value):
                yield from ((name, array, 1) for array in _difference(value))
            case ast.Assign(
                targets=[ast.Name(id=name)],
                value=ast.Attribute(value=ast.Name(id=array), attr="T"),
            ):
                yield name, array, 0
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call() as call):
                copied = _copied(call)
                if copied is not None:
                    yield name, copied, 0
            case ast.For(target=ast.Name(id=name), iter=ast.Subscript() as part):
                base, indices = query.base_name(part), query.indices(part)
                if base is not None and not any(map(_adds_axes, indices)):
                    yield name, base, 1 + sum(not isinstance(e, ast.Slice) for e in indices)
            case ast.For(target=target, iter=iterable):
                for name, array in elements(target, iterable):
                    yield name, array, 1


def _difference(value: ast.BinOp) -> Iterator[str]:
    """``A`` for ``A[i] - A[j]``: both have as many axes, which are those of the result."""
    match value:
        case ast.BinOp(
            left=ast.Subscript(value=ast.Name(id=left), slice=one),
            op=ast.Add() | ast.Sub() | ast.Mult() | ast.Div(),
            right=ast.Subscript(value=ast.Name(id=right), slice=other),
        ) if left == right and not any(isinstance(e, (ast.Slice, ast.Tuple)) for e in (one, other)):
            yield left


def _copied(call: ast.Call) -> str | None:
    """``A`` for ``A.copy()``, ``np.copy(A)`` and ``np.zeros_like(A)``."""
    match call:
        case ast.Call(func=ast.Attribute(value=ast.Name(id=array), attr="copy"), args=[]):
            return array
        case ast.Call(args=[ast.Name(id=array), *_]):
            word = (query.dotted(call.func) or "").rpartition(".")[2]
            return array if word == "copy" or word.endswith("_like") else None
    return None


def elements(target: ast.expr, iterable: ast.expr) -> Iterator[tuple[str, str]]:
    """Names of a loop, and the names of what they are the elements of.

    Args:
        target: of the loop.
        iterable: a name, or ``enumerate``, ``zip`` and ``reversed`` of names.
    """
    for each, array in _walked(target, iterable):
        if isinstance(each, ast.Name):
            yield each.id, array


def _walked(target: ast.expr, iterable: ast.expr) -> Iterator[tuple[ast.expr, str]]:
    """Parts of the target of a loop, and the names of the arrays that they go through."""
    match target, iterable:
        case _, ast.Name(id=array):
            yield target, array
        case (
            ast.Tuple(elts=[ast.Name(), inner]),
            ast.Call(func=ast.Name(id="enumerate"), args=[counted, *_]),
        ):
            yield from _walked(inner, counted)
        case _, ast.Call(func=ast.Name(id="reversed"), args=[turned]):
            yield from _walked(target, turned)
        case ast.Tuple(elts=targets), ast.Call(func=ast.Name(id="zip"), args=arrays):
            for each, part in zip(targets, arrays, strict=False):
                yield from _walked(each, part)


def _adds_axes(index: ast.expr) -> bool:
    """Whether an index stands for another number of axes than one."""
    if isinstance(index, ast.Constant):
        return not isinstance(index.value, int)
    return (query.dotted(index) or "").endswith("newaxis")


def _is_new_axis(index: ast.expr) -> bool:
    """Whether an index stands for an axis of its own, ``None`` or ``np.newaxis``."""
    if isinstance(index, ast.Constant):
        return index.value is None
    return (query.dotted(index) or "").endswith("newaxis")


def opened(function: ast.FunctionDef) -> set[str]:
    """Names whose parts or attributes are used, or that are gone through: no plain numbers."""
    found: set[str] = set()
    for node in query.preorder(function):
        if isinstance(node, (ast.Subscript, ast.Attribute)) and isinstance(node.value, ast.Name):
            found.add(node.value.id)
        elif isinstance(node, ast.For) and query.header(node) is None:
            found |= set(_gone_through(node.iter))
    return found


def _gone_through(iterable: ast.expr) -> Iterator[str]:
    if isinstance(iterable, ast.Name):
        yield iterable.id
    elif isinstance(iterable, ast.Call):
        for each in iterable.args:
            yield from _gone_through(each)


def is_length(statement: ast.stmt, name: str) -> bool:
    """Whether a statement binds a name to a length of an array."""
    match statement:
        case ast.Assign(targets=[ast.Tuple()], value=ast.Attribute(attr="shape")):
            return True
        case ast.Assign(
            targets=[ast.Name()], value=ast.Subscript(value=ast.Attribute(attr="shape"))
        ):
            return True
        case ast.Assign(targets=[ast.Name()], value=ast.Call(func=ast.Name(id="len"))):
            return True
    return False
