"""Program to numba.cuda text: kernels, and the host function that launches them."""

from __future__ import annotations

import ast
import functools
from collections.abc import Mapping, Sequence
from dataclasses import replace

from astile.ir import nodes, printer, query
from astile.ir.program import Program
from astile.lower import assemble, facts, flow, unbound
from astile.lower.facts import Facts
from astile.lower.indices import Casts, IndexWriter
from astile.lower.kernels import (
    ahead,
    cooperative,
    emit,
    functions,
    host,
    launches,
    matrix_units,
    memory,
    restrictions,
    structure,
    tidy,
    wide,
)
from astile.lower.kernels import barriers as barrier_finder
from astile.lower.kernels.ahead import Ahead
from astile.lower.kernels.host import HostControl, HostStatement, Nest, Part, Serial
from astile.lower.kernels.inside import Inside
from astile.lower.kernels.kernel import KernelBody, Words
from astile.lower.kernels.lanes import Lanes
from astile.lower.kernels.launches import Choice
from astile.lower.kernels.memory import Piece
from astile.lower.kernels.plan import Finder
from astile.lower.kernels.structure import Structure
from astile.lower.layouts import Layout
from astile.lower.lowered import KernelInfo, Lowered
from astile.lower.parameters.expected import Expected, retyped
from astile.lower.types import dtypes, joined_types, numeric
from astile.lower.types.kinds import Kinds

#: Numbers of Python -> the type of the cell in which one comes back from the GPU.
_CELLS = {"int": "int64", "float": "float64", "bool": "bool_", "complex": "complex128"}
_NO_FACTS = Facts(frozenset(), {})


def lower(
    program: Program,
    *,
    types: Mapping[str, str] | None = None,
    barriers: Finder = barrier_finder.find,
    exact: bool = False,
    plain: bool = False,
    expected: Expected | None = None,
) -> Lowered:
    """The program as a numba.cuda module that does not import astile.

    Each top-level nest over blocks or threads becomes one kernel; the host function has the
    program's name and parameters, takes device arrays, and returns device arrays and scalars.

    Args:
        program: the scheduled program.
        types: parameter -> its type, where known, see `Kinds`.
        barriers: finds the barriers of the program; by default those that dependences between
            threads need, and no others.
        exact: keep the order of every sum; otherwise the lanes of a warp share reductions.
        plain: use no words that numba's simulator lacks: exchanges between lanes, accesses of
            several cells, asynchronous copies.
        expected: the arguments that the text checks itself for, where no kernel calls it.

    Raises:
        LoweringError: for a program or a limit that the GPU does not have.
    """
    known = types or {}
    typed = numeric.explicit(joined_types.settled(program, known), known, "cuda")
    written = cooperative.shared_out(wide.phases_written_out(typed))
    module = _Module(written, known, barriers, exact=exact, plain=plain)
    return module.lowered(expected, Kinds(program, known))


class _Module:
    """Collects kernels and host statements of one program."""

    def __init__(
        self,
        program: Program,
        types: Mapping[str, str],
        barriers: Finder,
        *,
        exact: bool,
        plain: bool,
    ) -> None:
        self.program, self.types, self.exact, self.plain = program, types, exact, plain
        self.facts = facts.of(program)
        self.unset = unbound.readings(program)
        self.kinds = Kinds(program, types)
        self.plan = barriers(program)
        self.frame = assemble.Frame(program, "astile.intrinsics.matrix_units")
        word = self.frame.word
        casts = Casts(*(word(f"numpy.{each}") for each in ("int32", "uint32", "uint64", "int64")))
        self.grid, self.threads = self.frame.fresh("grid"), self.frame.fresh("threads")
        self.fresh = functools.cache(self.frame.fresh)  # kernels may use the same names
        self.words = Words(word("numba.cuda"), word("numpy"), casts, self.fresh)
        self.inside = Inside(program, self.frame, self.words.cuda, self.words.numpy, casts)
        self.words = replace(self.words, checks=self.inside.checks)
        self.kernels: list[ast.stmt] = []
        self.infos: list[KernelInfo] = []
        self.limits: list[launches.Limit] = []
        self.dtypes = dtypes.of_arrays(program, types, self.words.numpy)

    def lowered(self, expected: Expected | None, kinds: Kinds) -> Lowered:
        """The whole module.

        Args:
            expected: see `lower`.
            kinds: of the program before it was written out.
        """
        every = host.parts(self.program, self.program.function.body)
        self.alone = _count(every) == 1
        body = self._host(every)
        if self.limits:
            body = launches.asked_first(body, {each.name for each in self.infos}, self.limits)
        function = nodes.clone(self.program.function)
        function.body = body or [ast.Pass()]
        if expected is not None:
            self._expect(function, expected, kinds)
        checked = [self.inside.function()] if self.inside.is_used(self.kernels) else []
        body = self.frame.module([*checked, *self.kernels, function], self._helper)
        text = printer.print_module(body)
        return Lowered(text, self.program.name, "cuda", tuple(self.infos), tuple(body))

    def _expect(self, function: ast.FunctionDef, expected: Expected, kinds: Kinds) -> None:
        """Let the host function refuse other arguments, and return numbers of the plain types."""
        word, fresh = self.frame.word, self.frame.fresh
        for each in query.statements(function):
            if isinstance(each, ast.Return) and each.value is not None:
                each.value = retyped(kinds, each.value, word)
        first = len(assemble.docstring(function))
        function.body[first:first] = expected.test(function, word, fresh, on_device=True)

    def _helper(self, function: ast.FunctionDef) -> ast.FunctionDef:
        """A helper function for the GPU; inlined, so that no device is asked for its type."""
        self.inside.check_helper(function, self.program)
        known = facts.of(replace(self.program, function=function, constants={}))
        writer = IndexWriter(known, casts=self.words.casts)
        function.body = [emit.rewritten(each, writer) for each in function.body]
        functions.compilable(function.body, self._imports(), self.frame.word, plain=self.plain)
        options = {"device": nodes.const(True), "inline": nodes.const("always")}
        function.decorator_list = [nodes.call(f"{self.words.cuda}.jit", [], options)]
        return function

    def _imports(self) -> dict[str, str]:
        return {**self.program.imports, self.words.numpy: "numpy"}

    # --- host -----------------------------------------------------------------------------------

    def _host(self, every: Sequence[Part]) -> list[ast.stmt]:
        made: list[ast.stmt] = []
        for part in every:
            if isinstance(part, HostStatement):
                made.append(self._host_statement(part.statement))
            elif isinstance(part, HostControl):
                made.append(self._control(part))
            elif isinstance(part, Nest):
                made += self._nest(part.root)
            else:
                made += self._serial(part)
        return made

    def _host_statement(self, statement: ast.stmt) -> ast.stmt:
        made = query.allocation(statement)
        if made is None:
            return nodes.clone(statement)
        words = self.words
        return dtypes.device_allocation(
            statement, made, words.cuda, words.numpy, self.dtypes.get(made.array)
        )

    def _control(self, part: HostControl) -> ast.stmt:
        made = nodes.clone(part.statement)
        made.body = self._host(part.body)
        made.orelse = self._host(part.orelse)
        if isinstance(made, ast.For) and query.header(made) is not None:
            assert isinstance(made.iter, ast.Call)
            made.iter.func = nodes.name("range")
        return made

    # --- kernels --------------------------------------------------------------------------------

    def _kernel_name(self, body: Sequence[ast.stmt]) -> str:
        arrays = [array for each in body for array in query.written_arrays(each)]
        last = [] if self.alone or not arrays else [arrays[-1]]
        wanted = "_".join([self.program.name, *last, "kernel"])
        return self.frame.fresh(wanted)

    def _parameters(
        self, body: Sequence[ast.stmt], own: set[str], text: Sequence[ast.stmt]
    ) -> list[str]:
        """What a kernel is handed: parameters first, then names that the host computed.

        Args:
            body: the statements that it is made from.
            own: names that it sets itself.
            text: its statements.
        """
        reads = {name for each in body for name in query.names_read(each)} | flow.exposed(body)
        function = self.program.function
        known = query.parameters(function)
        computed: dict[str, None] = {}
        for node in query.preorder(function):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                computed.setdefault(node.id)
        every = [*known, *(name for name in computed if name not in known)]
        used = assemble.used(text)
        return [name for name in every if name in reads & used and name not in own]

    def _define(
        self,
        name: str,
        parameters: Sequence[str],
        body: list[ast.stmt],
        piece: Piece | None = None,
    ) -> None:
        functions.compilable(body, self._imports(), self.frame.word, plain=self.plain)
        decorator = nodes.attribute(self.words.cuda, "jit")
        made = assemble.function(name, parameters, body or [ast.Pass()], decorator)
        if piece is not None:
            asked = nodes.call(piece.decorator, [nodes.const(piece.size)])
            made.decorator_list.insert(0, asked)
        self.kernels.append(made)

    def _nest(self, root: ast.For) -> list[ast.stmt]:
        restrictions.check(self.program, [root])
        unbound.check(self.program, root, self.unset)
        kernel = structure.read(self.program, root, self.facts)
        held = emit.private_arrays(self.program, kernel, self.facts)
        memory.check_local(self.program, root, held, self.types)
        shared = dtypes.shared_bytes(self.program, root, self.facts, self.types)
        piece = memory.piece(self.program, root, shared or {}, self.frame.word)
        piece = None if self.plain else piece  # the simulator gives all that is asked for
        layout = None
        if not self.plain:
            product = matrix_units.products(self.program, root, self.kinds, kernel)
            layout = wide.layout_of(
                self.program, root, self.facts, self.types, self.frame,
                (lambda loop: None) if self.exact else product,
            )  # fmt: skip
        body = self._body(kernel, layout, piece)
        if layout is not None and not (layout.wide or layout.parts):
            layout, body = None, self._body(kernel, None, piece)
        test = None if layout is None else layout.test()
        scalar = None if test is None else self._body(kernel, None, piece)
        name = self._kernel_name([root])
        texts = [*body, *(scalar or [])]
        parameters = self._parameters([root], query.names_written(root), texts)
        checks = self._checked(body, parameters)
        self._define(name, parameters, body, piece)
        grid = {axis: self._blocks(loop) for axis, loop in kernel.blocks.items()}
        blocks = [printer.print_expression(grid[a]) if a in grid else "1" for a in "xyz"]
        total = None if shared is None else sum(shared.values())
        asked = 0 if piece is None else piece.size
        info = KernelInfo(name, (blocks[0], blocks[1], blocks[2]), kernel.block, asked or total)
        self.infos.append(info)
        choice = Choice(name, shared=asked)
        if scalar is not None:
            other = self.frame.fresh(f"{name.removesuffix('_kernel')}_scalar_kernel")
            self._define(other, parameters, scalar, piece)
            choice = Choice(name, test, other, asked)
            self.infos.append(replace(info, name=other))
        threads = launches.block(kernel, self.threads)
        self.limits += launches.limits(threads, grid.values())
        launched = launches.launch(choice, grid, threads, parameters, self.grid)
        return self._with_checks([root], launched) if checks else launched

    def _body(
        self, kernel: Structure, layout: Layout | None, piece: Piece | None
    ) -> list[ast.stmt]:
        """The statements of a kernel.

        Args:
            kernel: its structure.
            layout: of its arrays; None for a text without accesses of several cells.
            piece: where its shared arrays lie; None where each is allocated by itself.
        """
        layout = None if layout is None else replace(layout, fresh=self.fresh)
        words = replace(self.words, layout=layout, piece=piece)

        def word(name: str) -> str:
            return self.frame.word(f"astile.intrinsics.async_copies.{name}")

        def built(copies: Ahead) -> list[ast.stmt]:
            lanes = Lanes(
                kernel, self.facts, self.kinds, words.casts, words.cuda, words.numpy, self.fresh
            )
            return KernelBody(
                self.program, kernel, self.facts, self.plan, words, self.dtypes,
                None if self.exact or self.plain else lanes, copies,
            ).build()  # fmt: skip

        copies = Ahead()
        if not self.plain:
            copies = ahead.find(self.program, kernel, self.plan, self.kinds.arrays, word)
        body = built(copies)
        return tidy.tidied(built(Ahead()) if copies.is_mixed else body, words.cuda)

    def _checked(self, body: Sequence[ast.stmt], parameters: list[str]) -> bool:
        """Whether a kernel checks indices; it is then handed the cell that takes note."""
        used = self.inside.is_used(body)
        if used:
            parameters.append(self.inside.checks.failed)
        return used

    def _with_checks(
        self, body: Sequence[ast.stmt], launched: Sequence[ast.stmt]
    ) -> list[ast.stmt]:
        before, after = self.inside.before(body), self.inside.after(body)
        *first, last = launched
        if isinstance(last, ast.If) and not last.orelse:  # the grid may be empty
            last.body = [*before, *last.body, *after]
            return [*first, last]
        return [*before, *launched, *after]

    def _blocks(self, loop: ast.For) -> ast.expr:
        """How many blocks run a loop, as the host computes it."""
        header = query.header(loop)
        assert header is not None
        if query.is_constant(header.start, 0) and query.is_constant(header.step, 1):
            return nodes.clone(header.stop)
        step = query.integer(header.step)
        assert step is not None
        return assemble.trip_count(header.start, header.stop, step).expression()

    # --- one thread -----------------------------------------------------------------------------

    def _serial(self, part: Serial) -> list[ast.stmt]:
        """A kernel of one thread; names that live on come back in arrays of one cell."""
        body = list(part.statements)
        restrictions.check(self.program, body)
        kept = host.kept_names(self.program, part)
        name = self._kernel_name(body)
        own = host.own_names(self.program, part, kept, self.unset)
        writer = IndexWriter(_NO_FACTS, casts=self.words.casts, checks=self.words.checks)
        text = [emit.rewritten(each, writer) for each in body]
        parameters = self._parameters(body, own, text)
        parameters += [each for each in kept if each not in own and each not in parameters]
        nodes.add_comment(text[0], "no loop here is bound to blocks or threads: one thread runs it")
        before: list[ast.stmt] = []
        after: list[ast.stmt] = []
        for each in kept:
            cell = self.frame.fresh(f"{each}_cell")
            dtype = self._dtype_of(each, body, each in parameters)
            made = nodes.call(f"{self.words.cuda}.device_array", [nodes.const(1), dtype])
            before.append(nodes.assign(cell, made))
            written = nodes.subscript(cell, [nodes.const(0)], store=True)
            text.append(nodes.assign(written, nodes.name(each)))
            copied = nodes.call(nodes.attribute(cell, "copy_to_host"))
            after.append(nodes.assign(each, nodes.subscript(copied, [nodes.const(0)])))
            parameters.append(cell)
        checks = self._checked(text, parameters)
        self._define(name, parameters, text)
        self.infos.append(KernelInfo(name, ("1", "1", "1"), (1, 1, 1), 0))
        launched = [Choice(name).launched(nodes.const(1), nodes.const(1), parameters)]
        if checks:
            launched = self._with_checks(body, launched)
        return [*before, *launched, *after]

    def _dtype_of(self, name: str, body: Sequence[ast.stmt], is_given: bool) -> ast.expr:
        """The dtype of the cell in which a name comes back."""
        dtypes.check_no_tuple(self.program, body, name)
        kind = self.kinds.names.get(name)
        if kind is not None:
            return nodes.attribute(self.words.numpy, _CELLS.get(kind, kind))
        return dtypes.of_scalar(self.program, body, name, self.words.numpy, is_given)


def _count(every: Sequence[Part]) -> int:
    total = 0
    for part in every:
        if isinstance(part, HostControl):
            total += _count(part.body) + _count(part.orelse)
        elif not isinstance(part, HostStatement):
            total += 1
    return total
