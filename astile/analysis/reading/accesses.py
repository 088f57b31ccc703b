"""What leaf statements read and write: arrays, scalars, and the outside world.

Every read and write has a *slot*, its name within the statement. Two statements with the same
text up to arrays and indices have the same slots.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace

from astile.analysis.forms import affine_sets
from astile.analysis.forms.affine_sets import Quasi, Scope
from astile.analysis.forms.params import Names
from astile.analysis.reading.access import Access, Accesses, NotModelled, check_order
from astile.analysis.reading.calls import Calls
from astile.analysis.reading.statements import Leaf, forget
from astile.ir import query

__all__ = ["CONTROL", "EFFECTS", "RETURN", "Access", "Accesses", "NotModelled", "Reader"]

#: Cells that stand for what is not an array of the program.
EFFECTS, CONTROL, RETURN = "<effects>", "<control>", "<return>"

_SIMPLE = (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Expr, ast.Return, ast.Raise, ast.Assert)
_COMPOUND = (ast.If, ast.For, ast.While, ast.With, ast.Try)
_SMALL = (ast.Pass, ast.Break, ast.Continue)
_REFUSED = (
    ast.NamedExpr, ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp,
    ast.Await, ast.Yield, ast.YieldFrom,
)  # fmt: skip


class Reader:
    """Finds the accesses of leaves of one program.

    Args:
        names: what the names of the program are.
        calls: what its calls do.
    """

    def __init__(self, names: Names, calls: Calls) -> None:
        self.names = names
        self.calls = calls
        self.bound = frozenset(names.arguments) | names.local

    def accesses(self, leaf: Leaf) -> Accesses:
        """The accesses of a leaf.

        Raises:
            NotModelled: for Python whose meaning the model does not hold.
        """
        for node in query.preorder(leaf.node):
            if isinstance(node, _REFUSED):
                raise NotModelled("an expression that binds names of its own", node)
            if isinstance(node, ast.stmt) and not isinstance(node, (*_SIMPLE, *_COMPOUND, *_SMALL)):
                raise NotModelled(f"a {type(node).__name__.lower()} statement", node)
        return _Collector(self, leaf).run()


class _Collector:
    def __init__(self, reader: Reader, leaf: Leaf) -> None:
        self.names, self.calls, self.bound = reader.names, reader.calls, reader.bound
        self.leaf = leaf
        written = set() if leaf.is_simple else query.names_written(leaf.node)
        self.scope: Scope = forget(leaf.place.scope, written)
        self.reads: list[Access] = []
        self.kept: list[Access] = []
        self.writes: list[Access] = []
        self.slots: dict[int, tuple[str, ...]] = {}
        self.scalars: dict[str, None] = {}
        self.acts = self.leaves = False
        self.always = self.sure = leaf.is_simple
        self.only = {} if leaf.is_simple else self._only_cells()
        self.filled: dict[str, str] = {}

    def _only_cells(self) -> dict[str, tuple[Quasi | None, ...]]:
        """Arrays of which a compound statement writes one known cell and no other."""
        found: dict[str, tuple[Quasi | None, ...] | None] = {}
        for node in query.preorder(self.leaf.node):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                found[node.id] = None
            elif isinstance(node, ast.Call) and not self.calls.is_pure(node):
                found.update(dict.fromkeys(query.names(node)))
            elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
                base = query.base_name(node)
                if base in self.names.ranks:
                    assert base is not None
                    cell = self.cell(base, query.indices(node))
                    if found.setdefault(base, cell) != cell:
                        found[base] = None
        return {
            array: cell
            for array, cell in found.items()
            if cell is not None and all(each is not None for each in cell)
        }

    def run(self) -> Accesses:
        after = self.statement(self.leaf.node, frozenset())
        for array, slot in self.filled.items():
            if after is None or f"{array}[]" not in after:
                self.kept.append(Access(f"o{slot[1:]}", array, self.only[array]))
            else:
                self.writes = [replace(e, sure=e.sure or e.slot == slot) for e in self.writes]
        for name in self.scalars:
            definite = after is not None and name in after
            self.writes.append(Access(f"w_{name}", name, (), sure=definite))
            if not definite:
                self.kept.append(Access(f"o_{name}", name, ()))
        reads = (*self.reads, *self.kept)
        return Accesses(reads, tuple(self.writes), self.slots, self.acts, self.leaves, self.scope)

    # --- statements -----------------------------------------------------------------------------

    def block(self, body: Sequence[ast.stmt], done: frozenset[str]) -> frozenset[str] | None:
        """Read statements; the names surely assigned after them, None when they never end."""
        for statement in body:
            after = self.statement(statement, done)
            if after is None:
                return None
            done = after
        return done

    def statement(self, node: ast.stmt, done: frozenset[str]) -> frozenset[str] | None:
        match node:
            case ast.Assign(targets=targets, value=value):
                self.value(value, done)
                check_order(targets)
                for target in targets:
                    done = self.target(target, value, done)
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                self.value(value, done)
                done = self.target(target, value, done)
            case ast.AugAssign(target=target, value=value):
                self.index(target, done)
                self.read(target, done)
                self.value(value, done)
                done = self.target(target, None, done, updated=True)
            case ast.Expr(value=value):
                self.value(value, done)
            case ast.Return(value=returned):
                self._return(returned, done)
                return None
            case ast.Raise() | ast.Assert():
                self.acts = True
                self.leaves = self.leaves or not self._is_foreseen(node)
                for child in ast.iter_child_nodes(node):
                    if isinstance(child, ast.expr):
                        self.value(child, done)
                return None if isinstance(node, ast.Raise) else done
            case ast.Break() | ast.Continue():
                return None
            case ast.If() | ast.For() | ast.While() | ast.With() | ast.Try():
                return self._compound(node, done)
        return done

    def _is_foreseen(self, node: ast.stmt) -> bool:
        """Whether it is known from sizes alone, outside of loops, that the function ends here."""
        here = node is self.leaf.node and not self.leaf.place.levels
        if isinstance(node, ast.Assert):
            return here and affine_sets.formula(node.test, self.scope) is not None
        return here

    def _return(self, returned: ast.expr | None, done: frozenset[str]) -> None:
        if returned is not None:
            self.value(returned, done)
        if not isinstance(self.leaf.node, ast.Return):
            self.leaves = True
            self.kept.append(Access(f"o_{RETURN}", RETURN, ()))
        self.writes.append(Access(f"w_{RETURN}", RETURN, ()))

    def _compound(self, node: ast.stmt, done: frozenset[str]) -> frozenset[str] | None:
        match node:
            case ast.If(test=test, body=body, orelse=orelse):
                self.sure = node is self.leaf.node
                self.value(test, done)
                self.sure = False
                first, second = self.block(body, done), self.block(orelse, done)
                if first is None or second is None:
                    return second if first is None else first
                return first & second
            case ast.For(target=target, iter=iterator, body=body, orelse=orelse):
                self.value(iterator, done)
                self.block(body, self.target(target, None, done))
                self.block(orelse, done)
            case ast.While(test=test, body=body, orelse=orelse):
                self.value(test, done)
                self.block(body, done)
                self.block(orelse, done)
            case ast.With(items=items, body=body):
                self.acts = True
                for item in items:
                    self.value(item.context_expr, done)
                    if item.optional_vars is not None:
                        raise NotModelled("a name bound by with", item.optional_vars)
                return self.block(body, done)
            case ast.Try(body=body, handlers=handlers, orelse=orelse, finalbody=final):
                self.acts = True
                if any(each.name for each in handlers):
                    raise NotModelled("a name bound by except", node)
                for part in (body, *(each.body for each in handlers), orelse, final):
                    self.block(part, done)
        return done

    # --- writes ---------------------------------------------------------------------------------

    def target(
        self,
        target: ast.expr,
        value: ast.expr | None,
        done: frozenset[str],
        *,
        updated: bool = False,
    ) -> frozenset[str]:
        """A place that is assigned; `value` is what a plain assignment puts there."""
        match target:
            case ast.Tuple(elts=elements) | ast.List(elts=elements):
                for each in elements:
                    done = self.target(each, value, done)
                return done
            case ast.Name(id=name) if name in self.names.ranks:
                self._whole(target, name, value)
                return done
            case ast.Name(id=name):
                if self.always:
                    self._written(target, name, ())
                else:
                    self.scalars[name] = None
                    self._add_slot(target, f"w_{name}")
                return done | {name}
            case ast.Subscript() if (base := query.base_name(target)) in self.names.ranks:
                assert base is not None
                if not updated:
                    self.index(target, done)
                indices = self.cell(base, query.indices(target))
                if base in self.only:
                    return done | {self._filled(target, base, indices)}
                self._written(target, base, indices)
                return done
        raise NotModelled("an assignment to something that is no name and no cell", target)

    def _whole(self, target: ast.Name, array: str, value: ast.expr | None) -> None:
        """``A = np.empty(...)`` makes an array; ``A += 1`` changes all cells of one."""
        every = (None,) * self.names.ranks[array]
        made = value is not None
        slot = f"w{len(self.writes)}"
        self.writes.append(Access(slot, array, every, target))
        self._add_slot(target, slot)
        if not (made and self.always):
            self.kept.append(Access(f"o{slot[1:]}", array, every))

    def _written(self, target: ast.expr, array: str, indices: tuple[Quasi | None, ...]) -> None:
        slot = f"w{len(self.writes)}"
        access = Access(slot, array, indices, target, self.always)
        self.writes.append(access)
        self._add_slot(target, slot)
        if not self.always or not access.is_exact:
            self.kept.append(replace(access, slot=f"o{slot[1:]}", node=None))

    def _filled(self, target: ast.expr, array: str, indices: tuple[Quasi | None, ...]) -> str:
        """A write of the only cell of an array that a compound statement writes."""
        slot = self.filled.setdefault(array, f"w{len(self.writes)}")
        if all(each.slot != slot for each in self.writes):
            self.writes.append(Access(slot, array, indices, target, sure=False))
        self._add_slot(target, slot)
        return f"{array}[]"

    # --- reads ----------------------------------------------------------------------------------

    def value(self, node: ast.expr, done: frozenset[str]) -> None:
        """Read an expression."""
        if affine_sets.quasi(node, self.scope) is not None:
            return
        match node:
            case ast.Name() | ast.Subscript():
                if isinstance(node, ast.Subscript):
                    if query.base_name(node) is None:
                        self._children(node, done)
                        return
                    self.index(node, done)
                self.read(node, done)
            case ast.Attribute(value=ast.Name(id=name), attr=attribute) if name in self.bound:
                if attribute not in ("shape", "dtype", "ndim", "size"):
                    self.read(node.value, done)
            case ast.Attribute():
                if query.dotted(node) is None:
                    self._children(node, done)
            case ast.Call():
                self._call(node, done)
            case ast.IfExp() | ast.BoolOp() | ast.Compare():
                self._short_circuit(node, done)
            case _:
                self._children(node, done)

    def _short_circuit(self, node: ast.expr, done: frozenset[str]) -> None:
        """Read an expression whose later parts may not be evaluated."""
        match node:
            case ast.IfExp(test=test, body=body, orelse=orelse):
                parts, first = [test, body, orelse], 1
            case ast.BoolOp(values=values):
                parts, first = values, 1
            case ast.Compare(left=left, comparators=comparators):
                parts, first = [left, *comparators], 2
            case _:
                parts, first = [], 0
        before = self.sure
        for position, part in enumerate(parts):
            self.sure = before and position < first
            self.value(part, done)
        self.sure = before

    def _children(self, node: ast.AST, done: frozenset[str]) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                self.value(child, done)
            elif not isinstance(child, ast.expr_context):
                self._children(child, done)

    def index(self, node: ast.expr, done: frozenset[str]) -> None:
        """Read what stands in the indices of an access."""
        if isinstance(node, ast.Subscript):
            for each in query.indices(node):
                self.value(each, done)

    def read(self, node: ast.expr, done: frozenset[str]) -> None:
        """Read a scalar, a cell, or a whole array."""
        if isinstance(node, ast.Name):
            name, rank = node.id, self.names.ranks.get(node.id, 0)
            if name in done or name not in self.bound:
                return
            self._read(node, name, (None,) * rank)
        elif isinstance(node, ast.Subscript):
            base = query.base_name(node)
            if base is None or base not in self.names.ranks:
                raise NotModelled(f"a part of {base}, which is no array of the function", node)
            cell = self.cell(base, query.indices(node))
            if f"{base}[]" in done and cell == self.only[base]:
                self._add_slot(node, f"i{self.filled[base]}")  # its own value, just written
                return
            self._read(node, base, cell)
        else:
            raise NotModelled("a change of something that is no name and no cell", node)

    def _read(self, node: ast.expr, array: str, indices: tuple[Quasi | None, ...]) -> None:
        slot = f"r{len(self.reads)}"
        self.reads.append(Access(slot, array, indices, node, self.sure))
        self._add_slot(node, slot)

    def _add_slot(self, node: ast.expr, slot: str) -> None:
        self.slots[id(node)] = (*self.slots.get(id(node), ()), slot)

    def cell(self, array: str, indices: list[ast.expr]) -> tuple[Quasi | None, ...]:
        """The indices of an access, None for those that are not known or missing."""
        rank = self.names.ranks[array]
        if any(_is_axis_changing(each) for each in indices):
            return (None,) * rank
        known = [affine_sets.quasi(each, self.scope) for each in indices]
        return tuple(known) + (None,) * (rank - len(known))

    def _call(self, node: ast.Call, done: frozenset[str]) -> None:
        pure = self.calls.is_pure(node) or query.is_allocation(self.leaf.node)
        if not isinstance(node.func, ast.Name) and query.dotted(node.func) is None:
            self._children(node.func, done)
        elif isinstance(node.func, ast.Name) and node.func.id in self.bound:
            self.read(node.func, done)
        elif isinstance(node.func, ast.Attribute):
            base = query.base_name(node.func.value)
            if base in self.bound:
                self.value(node.func.value, done)
        for child in [*node.args, *(keyword.value for keyword in node.keywords)]:
            if not (self._asks_types(node) and isinstance(child, ast.Name)):
                self.value(child, done)
        if pure:
            return
        self.acts = True
        for name in sorted(query.names(node) & self.names.ranks.keys()):
            slot = f"w{len(self.writes)}"
            every = (None,) * self.names.ranks[name]
            self.writes.append(Access(slot, name, every))
            self.kept.append(Access(f"o{slot[1:]}", name, every))

    def _asks_types(self, node: ast.Call) -> bool:
        """Whether a call looks at the types of its arguments only, not at their cells."""
        return self.calls.path(node.func) == "numpy.result_type"


def _is_axis_changing(index: ast.expr) -> bool:
    """Whether an index shifts the axes after it: ``...`` or ``None``."""
    return isinstance(index, ast.Constant) and index.value in (None, Ellipsis)
