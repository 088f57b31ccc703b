"""Program to numba text for the CPU: block and parallel loops on cores, the rest to LLVM."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping

from astile.analysis.forms import affine
from astile.ir import nodes, printer, query
from astile.ir.program import Program
from astile.lower import (
    assemble,
    bounds,
    facts,
    flow,
    parts,
    signed,
    stretched,
    unbound,
    unforeseen,
    unsigned,
)
from astile.lower.lowered import Lowered
from astile.lower.parameters.expected import Expected, retyped
from astile.lower.types import dtypes, joined_types, numeric
from astile.lower.types.checked import is_checked_division
from astile.lower.types.kinds import Kinds
from astile.lower.vectors import explicit, registers
from astile.lower.vectors.explicit import Machine

_VECTORS = "astile.intrinsics.vectors."
_ACCESSES = tuple(_VECTORS + each for each in ("load", "store", "columns"))


def lower(
    program: Program,
    *,
    types: Mapping[str, str] | None = None,
    machine: Machine | None = None,
    one_core: bool = False,
    expected: Expected | None = None,
) -> Lowered:
    """The program as a numba module; it imports astile only for vectors.

    The outermost ``parallel`` and ``block`` loops become ``prange``, unless a name written
    inside is read by another iteration or after the loop; then they stay in order. All other
    loops become ``range``. Memory words become ``np.empty``. Guards become loop bounds.

    Args:
        program: the scheduled program.
        types: parameter -> its type, where known, see `Kinds`.
        machine: what ``vector`` loops are made for; None leaves them to the compiler.
        one_core: leave all loops on one core: where numba is going to check indices, since what
            raises on one of several is lost, and where there is too little to do for more.
            Functions that may stretch arrays stay there too.
        expected: the arguments that the text checks itself for, where no kernel calls it; it checks
            indices too where they may leave their arrays.

    Raises:
        LoweringError: where numba has no arithmetic that gives the plain program's values.
    """
    work = numeric.explicit(program, types or {}, "cpu")
    unbound.guard(work)
    if machine is not None:
        work = explicit.vectorised(work, types or {}, machine)
    in_registers = registers.is_enough(work)
    bounds.tighten(work.function, facts.of(work))
    writer = _Writer(work, program, checks_bounds=expected is not None and expected.may_leave)
    writer.indices(work)
    stays = one_core or stretched.may_be(program, types or {})
    writer.loops(work.function.body, on_core=stays)
    writer.hide(work, types or {})
    writer.memory(work.function, types or {})
    functions = writer.functions(expected)
    body = writer.frame.module(functions, writer.helper)
    text = printer.print_module(body)
    return Lowered(text, program.name, "cpu", body=tuple(body), in_registers=in_registers)


class _Writer:
    """Edits one cloned program; keeps track of the names that the text needs."""

    def __init__(self, program: Program, original: Program, *, checks_bounds: bool) -> None:
        self.program, self.original = program, original
        self.checks_bounds = checks_bounds
        self.frame = assemble.Frame(program, "astile.intrinsics.rounding")
        self.njit = self.frame.word("numba.njit")
        self.numpy = self.frame.word("numpy")
        self.on_cores: list[ast.For] = []
        helpers = program.helper_programs.items()
        self.checked = {name for name, each in helpers if is_checked_division(each.function)}

    def loops(self, body: Iterable[ast.stmt], *, on_core: bool) -> None:
        """Give every counted loop its numba spelling."""
        for statement in body:
            inside = on_core
            if isinstance(statement, ast.For):
                inside = self._loop(statement, on_core) or on_core
            for inner in query.bodies(statement):
                self.loops(inner, on_core=inside)

    def _loop(self, loop: ast.For, on_core: bool) -> bool:
        header = query.header(loop)
        if header is None:
            return False
        assert isinstance(loop.iter, ast.Call)
        wanted = header.kind.startswith(unsigned.ON_CORES)
        if not wanted or on_core or not self._is_free(loop):
            loop.iter.func = nodes.name("range")
            return False
        self.on_cores.append(loop)
        self._parallel(loop, header)
        return True

    def _is_free(self, loop: ast.For) -> bool:
        """Whether each iteration has its own names, and none is left early."""
        changed = query.names_written(loop)
        if flow.carried(loop) or changed & flow.live_after(self.program.function, loop):
            return False
        if query.names(loop) & self.checked:
            return False  # what is raised on one of several cores is lost
        return not loop.orelse and not any(flow.leaves(each) for each in loop.body)

    def _parallel(self, loop: ast.For, header: query.Header) -> None:
        """``prange`` counts from 0 in steps of 1; other ranges compute their variable."""
        prange = self.frame.word("numba.prange")
        if query.is_constant(header.start, 0) and query.is_constant(header.step, 1):
            loop.iter = nodes.call(prange, [header.stop])
            signed.cast(loop, lambda: self.frame.word("numpy.int64"))
            return
        step = query.integer(header.step)
        if step is None or step == 0:
            loop.iter = nodes.call("range", [header.start, header.stop, header.step])
            return
        counter = self.frame.fresh(f"{header.variable}_n")
        loop.target = nodes.target(counter)
        trips = assemble.trip_count(header.start, header.stop, step)
        loop.iter = nodes.call(prange, [trips.expression()])
        value = affine.of(header.start) + affine.variable(counter) * step
        loop.body.insert(0, nodes.assign(header.variable, value.expression()))

    def hide(self, program: Program, types: Mapping[str, str]) -> None:
        """Loops that LLVM would compile wrongly count from a number that it does not know."""
        unforeseen.hide(
            program.function,
            facts.of(program),
            lambda: Kinds(program, types),
            self.frame.fresh,
            lambda: self.frame.word("astile.intrinsics.unforeseen.nothing"),
        )

    def memory(self, function: ast.FunctionDef, types: Mapping[str, str]) -> None:
        """``shared.empty`` and ``local.empty`` become ``np.empty``; known types are spelled out."""
        spelled = dtypes.of_arrays(self.program, types, self.numpy)
        for statement in query.statements(function):
            made = query.allocation(statement)
            if made is None:
                continue
            assert isinstance(statement, ast.Assign)
            assert isinstance(statement.value, ast.Call)
            call = statement.value
            if made.scope != "global":
                call.func = nodes.attribute(self.numpy, made.word)
            if isinstance(made.dtype, ast.Call):
                dtype = nodes.clone(spelled[made.array])
                call.args = [dtype if each is made.dtype else each for each in call.args]
                for keyword in call.keywords:
                    keyword.value = dtype if keyword.value is made.dtype else keyword.value
        dtypes.spell_python_types(function, self.numpy)
        self._aligned(function)

    def _aligned(self, function: ast.FunctionDef) -> None:
        """Let arrays that vectors are loaded from or stored to start at a line of the cache."""
        imports = self.program.imports.items()
        words = {name for name, path in imports if path.startswith(_ACCESSES)}
        calls = [each for each in query.preorder(function) if isinstance(each, ast.Call)]
        given = [each.args for each in calls if query.dotted(each.func) in words]
        used = {each.id for args in given for each in args if isinstance(each, ast.Name)}
        for statement in query.statements(function):
            made = query.allocation(statement)
            if made is None or made.word != "empty" or made.array not in used:
                continue
            assert isinstance(statement, ast.Assign)
            call = statement.value
            assert isinstance(call, ast.Call)
            if len(call.args) == 2 and not isinstance(call.args[1], ast.Constant):
                call.func = nodes.name(self.frame.word(_VECTORS + "empty_aligned"))

    def indices(self, program: Program) -> None:
        """Indices that are never negative are cast where the compiler does not see it."""
        body, known = program.function.body, facts.of(program)
        unsigned.cast(body, known, lambda: self.frame.word("numpy.uint64"))

    def decorator(self) -> ast.expr:
        """``njit`` with the options of this text."""
        options: dict[str, ast.expr] = {}
        if self.on_cores:
            # astile decides which loops are merged; numba's own fusion is left out
            options["parallel"] = ast.Dict([nodes.const("fusion")], [nodes.const(False)])
        return self._njit("numpy", options)

    def _njit(self, model: str, options: Mapping[str, ast.expr] | None = None) -> ast.expr:
        own: dict[str, ast.expr] = {"error_model": nodes.const(model), **(options or {})}
        if self.checks_bounds:
            own["boundscheck"] = nodes.const(True)
        return nodes.call(self.njit, [], own)

    def functions(self, expected: Expected | None) -> list[ast.stmt]:
        """The compiled function; with one around it for what numba does not do.

        It does not fill in the default of a parameter that is given by keyword only, joins no
        types, refuses none, and returns no numbers of NumPy.
        """
        compiled = self.program.function
        names = query.parameters(compiled)
        given = joined_types.handed_in(compiled, names, self.frame.fresh)
        apart = self._parts({*names, *given})
        if not compiled.args.kwonlyargs and not given and expected is None:
            compiled.decorator_list = [self.decorator()]
            return [*apart, compiled]
        outer = nodes.clone(compiled)
        name = self.frame.fresh(f"{compiled.name}_compiled")
        inner = assemble.function(name, [*names, *given], compiled.body, self.decorator())
        call = nodes.call(name, [*(nodes.name(each) for each in names), *given.values()])
        outer.body = [ast.Return(call)]
        if expected is not None:
            fresh, word = self.frame.fresh, self.frame.word
            outer.body = [
                *nodes.clone_body(assemble.docstring(compiled)),
                *expected.test(compiled, word, fresh),
                *self._returned(call, Kinds(self.original, expected.types)),
            ]
        return [*apart, inner, outer]

    def _returned(self, call: ast.expr, kinds: Kinds) -> list[ast.stmt]:
        """What the outer function returns of the result of the compiled one."""
        count, word = len(kinds.returned_kinds()), self.frame.word
        if kinds.returned_parts() is None:
            return [ast.Return(retyped(kinds, call, word, given_by_numba=True))]
        results = self.frame.fresh("results")
        cells = [nodes.subscript(results, [nodes.const(each)]) for each in range(count)]
        made = retyped(kinds, nodes.tuple_of(cells), word, given_by_numba=True)
        return [nodes.assign(results, call), ast.Return(made)]

    def _parts(self, bound: set[str]) -> list[ast.FunctionDef]:
        """Bodies of loops on cores as compiled functions, where that saves time."""
        function, imports = self.program.function, self.program.imports
        vectors = {name for name, path in imports.items() if path.startswith(_VECTORS)}
        loops = [each for each in self.on_cores if parts.is_worth_it(each, vectors)]
        for each in function.body:
            bound |= query.names_written(each)
        made = parts.separated(
            loops,
            bound,
            lambda: self.frame.word("numpy.uint64"),
            lambda: self.frame.fresh(f"{function.name}_part"),
        )
        for each in made:
            each.decorator_list = [self._njit("numpy")]
            if not vectors.isdisjoint(query.names(each)):
                once = self.frame.word("astile.intrinsics.linked_once.linked_once")
                each.decorator_list.insert(0, nodes.name(once))
        return made

    def helper(self, function: ast.FunctionDef) -> ast.FunctionDef:
        """A helper function, compiled with those that call it."""
        dtypes.spell_python_types(function, self.numpy)
        model = "python" if is_checked_division(function) else "numpy"
        function.decorator_list = [self._njit(model)]
        return function
