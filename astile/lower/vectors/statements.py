"""Statements of a vector loop, in all lanes of one vector at once."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace

from astile.ir import nodes, query
from astile.lower.types import operators
from astile.lower.types.promotion import native
from astile.lower.vectors import dataflow
from astile.lower.vectors.places import DoesNotFitError, Lanes
from astile.lower.vectors.values import NUMBERS, Values

#: The note of a loop on how its results are written, and its values: around the caches, or where
#: the array that is stored to is large; by the caches, which are told ahead; after the next reads.
STORE, STREAMING, LARGE, AHEAD, LATE = "store", "streaming", "large", "ahead", "late"
#: Value of the note -> the function that stores.
_STORES = {STREAMING: "store_streaming", LARGE: "store_large", AHEAD: "store_ahead"}


class Statements:
    """Writes the statements of one vector loop.

    Args:
        values: writes expressions.
        loose: vectors in registers whose other lanes nobody reads, wherever a mask is.
        exact: keep the rounding of each product that is added to a sum.
        store: the note of the loop on how results are written.
    """

    def __init__(
        self, values: Values, loose: frozenset[str], *, exact: bool, store: object
    ) -> None:
        self.values = values
        self._loose = loose
        self._reads: dict[int, ast.expr] = {}
        self._exact = exact
        self._stores = _STORES.get(store, "store") if isinstance(store, str) else "store"

    def block(self, body: Sequence[ast.stmt], lanes: Lanes) -> list[ast.stmt]:
        """Statements in order."""
        return [made for each in body for made in self._statement(each, lanes)]

    def _statement(self, statement: ast.stmt, lanes: Lanes) -> list[ast.stmt]:
        made = self._made(statement, lanes)
        if made and not isinstance(statement, ast.Pass):
            for comment in nodes.comments(statement):
                nodes.add_comment(made[0], comment)
        return made

    def _made(self, statement: ast.stmt, lanes: Lanes) -> list[ast.stmt]:
        match statement:
            case ast.Pass():
                return []
            case ast.Assign(targets=[target], value=value):
                return [self._assign(target, value, lanes)]
            case ast.AugAssign(target=target, op=operator, value=value):
                whole = nodes.binary(self._read(target), type(operator), value)
                return [self._assign(target, whole, lanes)]
            case ast.If():
                return self._if(statement, lanes)
            case ast.For():
                return [self._loop(statement, lanes)]
        raise DoesNotFitError

    def _if(self, statement: ast.If, lanes: Lanes) -> list[ast.stmt]:
        test = statement.test
        then = replace(lanes, writer=lanes.writer.under(test, statement.body))
        if not self.values.varies(test, lanes):
            body = self.block(statement.body, then) or [ast.Pass()]
            made = self.values.scalar(test, lanes)
            return [nodes.if_then(made, body, self.block(statement.orelse, lanes))]
        mask = self.values.mask(test, lanes)
        made_before: list[ast.stmt] = []
        is_entered = self.values.places.is_entered(test, lanes)
        is_short = dataflow.is_of_bounds(mask, self.values.words.intrinsic("below"))
        if statement.orelse or not is_short or not self._is_lasting(test, statement.body):
            name = self.values.words.fresh("mask")
            made_before, mask = [nodes.assign(name, mask)], nodes.name(name)
        branch = self.block(statement.body, then.where(mask, is_entered=is_entered))
        if statement.orelse:
            other = lanes.where(ast.UnaryOp(ast.Invert(), nodes.clone(mask)))
            branch += self.block(statement.orelse, other)
        return [*made_before, *branch]

    def _is_lasting(self, test: ast.expr, body: Sequence[ast.stmt]) -> bool:
        """Whether a condition has the same value at the end of its branch."""
        changed = {name for each in body for name in query.names_written(each)}
        changed |= {name for each in body for name in query.written_arrays(each)}
        return query.names(test).isdisjoint(changed)

    def _loop(self, statement: ast.For, lanes: Lanes) -> ast.stmt:
        header = query.header(statement)
        if header is None or statement.orelse or query.leaves_early(statement.body):
            raise DoesNotFitError
        if self.values.varies(statement.iter, lanes) or header.variable in lanes.vectors:
            raise DoesNotFitError
        inner = replace(lanes, writer=operators.inside(lanes.writer, statement))
        iterator = nodes.clone(statement.iter)
        assert isinstance(iterator, ast.Call)
        iterator.args = [self.values.scalar(each, lanes) for each in iterator.args]
        made = nodes.blank(statement)
        made.target, made.iter = nodes.clone(statement.target), iterator
        made.body, made.orelse = self.block(statement.body, inner) or [ast.Pass()], []
        made.type_comment = None
        return made

    def _read(self, target: ast.expr) -> ast.expr:
        """What a target holds; the same expression each time."""
        if id(target) not in self._reads:
            self._reads[id(target)] = nodes.as_load(target)
        return self._reads[id(target)]

    # --- assignments ----------------------------------------------------------------------------

    def _assign(self, target: ast.expr, value: ast.expr, lanes: Lanes) -> ast.stmt:
        if isinstance(target, ast.Name):
            return self._name(target, value, lanes)
        if isinstance(target, ast.Subscript):
            return self._store(target, value, lanes)
        raise DoesNotFitError

    def _name(self, target: ast.Name, value: ast.expr, lanes: Lanes) -> ast.stmt:
        name = lanes.vectors.get(target.id)
        if name is None:
            return nodes.assign(target.id, self.values.scalar(value, lanes))
        dtype = native(self.values.kinds.names.get(target.id) or "")
        if dtype not in (*NUMBERS, "bool_"):
            raise DoesNotFitError
        made = self._result(target, value, dtype, lanes)
        is_whole = lanes.mask is lanes.whole  # then nothing ever uses the other lanes
        return nodes.assign(name, made if is_whole else self._kept(name, made, lanes))

    def _kept(self, name: str, value: ast.expr, lanes: Lanes) -> ast.expr:
        """The new value in the lanes that run, the old one in the others."""
        if lanes.mask is None:
            return value
        return self.values.call("select", nodes.clone(lanes.mask), value, nodes.name(name))

    def _store(self, target: ast.Subscript, value: ast.expr, lanes: Lanes) -> ast.stmt:
        array = query.base_name(target) or ""
        read = self._read(target)
        if not self.values.varies(target, lanes):
            raise DoesNotFitError
        dtype = self.values.dtype(read)
        if array in self.values.held:
            name = self.values.register(target, lanes)
            if name in self._loose:
                inner = replace(lanes, is_loose=True)
                return nodes.assign(name, self._result(target, value, dtype, inner))
            made = self._result(target, value, dtype, lanes)
            return nodes.assign(name, self._kept(name, made, lanes))
        made = self._result(target, value, dtype, lanes)
        place, axis = self.values.place(target, lanes)
        arguments = [nodes.name(array), place]
        if axis is not None:
            if lanes.mask is not None:
                raise DoesNotFitError
            word, arguments = "store_along", [*arguments, nodes.const(axis)]
        elif lanes.mask is not None:
            word, arguments = "store_where", [nodes.clone(lanes.mask), *arguments]
        else:
            word = self._stores
        return ast.Expr(self.values.call(word, *arguments, made))

    def _result(self, target: ast.expr, value: ast.expr, dtype: str, lanes: Lanes) -> ast.expr:
        """What is stored; a product is added to a sum with one rounding, unless told otherwise."""
        product = self._product(target, value, dtype)
        if product is None:
            return self.values.converted(value, dtype, lanes)
        old, factors, is_less = product
        left, right = (self.values.converted(each, dtype, lanes) for each in factors)
        if is_less:
            left = ast.UnaryOp(ast.USub(), left)
        return self.values.call("fma", left, right, self.values.converted(old, dtype, lanes))

    def _product(
        self, target: ast.expr, value: ast.expr, dtype: str
    ) -> tuple[ast.expr, tuple[ast.expr, ast.expr], bool] | None:
        """The sum, the factors, and whether they are taken away: ``s = s - a * b``."""
        if self._exact or not dtype.startswith("float") or not isinstance(value, ast.BinOp):
            return None
        old = self._read(target)
        sides = [(value.left, value.right)]
        if isinstance(value.op, ast.Add):
            sides.append((value.right, value.left))
        elif not isinstance(value.op, ast.Sub):
            return None
        for one, other in sides:
            is_product = isinstance(other, ast.BinOp) and isinstance(other.op, ast.Mult)
            if not is_product or not nodes.same(one, old):
                continue
            assert isinstance(other, ast.BinOp)
            if self.values.dtype(other) == dtype:
                return old, (other.left, other.right), isinstance(value.op, ast.Sub)
        return None
