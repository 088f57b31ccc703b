"""Makes a failing case small: fewer calls, then fewer statements and loops, then simpler text."""

from __future__ import annotations

import ast
import time
from collections.abc import Callable, Iterator
from dataclasses import replace

from astile.schedule.trace import Call
from tests.fuzz.oracle import Case, Failure, check
from tests.fuzz.programs import Source


def shrink(failure: Failure, seconds: float = 90.0) -> Failure:
    """The smallest case found that fails in the same way.

    Args:
        failure: what was found.
        seconds: processor time to spend.
    """
    return _Shrinker(failure, seconds).run()


class _Shrinker:
    def __init__(self, failure: Failure, seconds: float) -> None:
        self.best = failure
        self.until = time.process_time() + seconds
        self.emulated, self.on_cpu = failure.kind == "emulate", failure.kind == "cpu"
        self.seen: set[object] = set()

    def run(self) -> Failure:
        passes = (_fewer_calls, _plainer, _fewer_statements, _simpler_text, _simpler_calls)
        while True:
            before = self.best.case
            for each in passes:
                self._repeat(each)
            if self.best.case == before or time.process_time() > self.until:
                return self.best

    def _repeat(self, candidates: Callable[[Case], Iterator[Case]]) -> None:
        """Take the first candidate that still fails, until none does."""
        while any(self._fails(each) for each in candidates(self.best.case)):
            pass

    def _fails(self, case: Case) -> bool:
        key = (
            case.source.text,
            case.source.dtype,
            case.source.scratch,
            str(case.calls),
            case.exact,
        )
        if key in self.seen or time.process_time() > self.until:
            return False
        self.seen.add(key)
        try:
            found = check(
                case,
                emulated=self.emulated,
                advised=self.best.kind == "message",
                on_cpu=self.on_cpu,
            )
        except Exception:  # a candidate may be no program any more
            return False
        if found is None or found.signature != self.best.signature:
            return False
        self.best = found
        return True


# --- candidates ---------------------------------------------------------------------------------


def _fewer_calls(case: Case) -> Iterator[Case]:
    for index in range(len(case.calls) - 1):
        yield replace(case, calls=case.calls[:index] + case.calls[index + 1 :])


def _plainer(case: Case) -> Iterator[Case]:
    """Without options of the program that need not be."""
    if case.exact:
        yield replace(case, exact=False)
    if case.source.dtype != "float64":
        yield replace(case, source=replace(case.source, dtype="float64"))
    if case.source.scratch:
        yield replace(case, source=replace(case.source, scratch=()))


def _simpler_calls(case: Case) -> Iterator[Case]:
    for index, call in enumerate(case.calls):
        for key in call.options:
            options = {k: v for k, v in call.options.items() if k != key}
            yield _with_call(case, index, Call(call.primitive, call.arguments, options))
        factors = call.options.get("factors")
        if factors and (len(factors) > 2 or factors != [None, 2]):
            options = {**call.options, "factors": [None, 2]}
            yield _with_call(case, index, Call(call.primitive, call.arguments, options))


def _with_call(case: Case, index: int, call: Call) -> Case:
    return replace(case, calls=(*case.calls[:index], call, *case.calls[index + 1 :]))


def _fewer_statements(case: Case) -> Iterator[Case]:
    """Without one statement; or with its body in its place."""
    count = len(_places(ast.parse(case.source.text)))
    for number in range(count):
        for edit in (_delete, _unwrap):
            tree = ast.parse(case.source.text)
            block, index = _places(tree)[number]
            if edit(block, index):
                yield _with_tree(case, tree)


def _places(tree: ast.Module) -> list[tuple[list[ast.stmt], int]]:
    found: list[tuple[list[ast.stmt], int]] = []

    def walk(block: list[ast.stmt]) -> None:
        for index, each in enumerate(block):
            found.append((block, index))
            for field in ("body", "orelse"):
                inner = getattr(each, field, None)
                if inner:
                    walk(inner)

    function = tree.body[-1]
    assert isinstance(function, ast.FunctionDef)
    walk(function.body)
    return found


def _delete(block: list[ast.stmt], index: int) -> bool:
    if len(block) == 1:
        return False
    del block[index]
    return True


def _unwrap(block: list[ast.stmt], index: int) -> bool:
    statement = block[index]
    if isinstance(statement, ast.If):
        block[index : index + 1] = statement.body
        return True
    if isinstance(statement, ast.For):
        assert isinstance(statement.target, ast.Name)
        start = statement.iter.args[0] if len(statement.iter.args) > 1 else ast.Constant(0)  # type: ignore[attr-defined]
        swap = _Swap(statement.target.id, start)
        block[index : index + 1] = [swap.visit(each) for each in statement.body]
        return True
    return False


class _Swap(ast.NodeTransformer):
    """Puts a value in the place of a variable."""

    def __init__(self, name: str, value: ast.expr) -> None:
        self.name, self.value = name, value

    def visit_Name(self, node: ast.Name) -> ast.AST:
        is_read = node.id == self.name and isinstance(node.ctx, ast.Load)
        return self.value if is_read else node


def _simpler_text(case: Case) -> Iterator[Case]:
    """With one expression simpler, one branch less, or one parameter less."""
    count = sum(1 for _ in ast.walk(ast.parse(case.source.text)))
    for number in range(count):
        tree = ast.parse(case.source.text)
        node = list(ast.walk(tree))[number]
        choices = len(_simpler(node))
        for choice in range(choices):
            tree = ast.parse(case.source.text)
            node = list(ast.walk(tree))[number]
            _simpler(node)[choice]()
            yield _with_tree(case, tree)


def _simpler(node: ast.AST) -> list[Callable[[], None]]:
    """Edits that make a node simpler."""
    edits: list[Callable[[], None]] = []

    def put(field: str, value: object) -> None:
        edits.append(lambda: setattr(node, field, value))

    for field, value in ast.iter_fields(node):
        if isinstance(value, ast.BinOp):
            put(field, value.left)
            put(field, value.right)
        elif isinstance(value, ast.Subscript) and isinstance(value.ctx, ast.Load):
            put(field, ast.Constant(1.0))
        elif isinstance(value, ast.Call) and isinstance(value.func, ast.Name):
            if value.func.id != "range":
                for each in value.args:
                    put(field, each)
            elif isinstance(node, ast.For):
                for bounds in _plainer_bounds(value.args):
                    put(field, ast.Call(value.func, bounds, []))
        elif isinstance(value, ast.BoolOp):
            for each in value.values:
                put(field, each)
        elif isinstance(value, ast.Name) and field in ("value", "slice", "left", "right"):
            if isinstance(value.ctx, ast.Load):
                put(field, ast.Constant(0))
        elif field == "orelse" and value and isinstance(node, ast.If):
            put(field, [])
        elif field in ("elts", "args") and isinstance(value, list):
            for index, each in enumerate(value):
                if isinstance(each, ast.BinOp):
                    edits.append(_item(value, index, each.left))
                elif isinstance(each, ast.Name) and field == "elts":
                    edits.append(_item(value, index, ast.Constant(0)))
    return edits


def _item(held: list[ast.AST], index: int, new: ast.AST) -> Callable[[], None]:
    return lambda: held.__setitem__(index, new)


def _plainer_bounds(bounds: list[ast.expr]) -> list[list[ast.expr]]:
    plain: list[list[ast.expr]] = []
    if len(bounds) > 1:
        plain += [[bounds[1]], [bounds[0]], bounds[:2]]
    for text in ("n", "m", "2"):
        plain.append([ast.parse(text, mode="eval").body])
    kept = [ast.dump(each) for each in bounds]
    simple = len(bounds) == 1 and isinstance(bounds[0], (ast.Name, ast.Constant))
    return [] if simple else [each for each in plain if [ast.dump(e) for e in each] != kept]


def _with_tree(case: Case, tree: ast.Module) -> Case:
    """The case with another program; parameters that nothing names any more go too."""
    function = tree.body[-1]
    assert isinstance(function, ast.FunctionDef)
    used = {each.id for each in ast.walk(function) if isinstance(each, ast.Name)}
    kept = [each for each in function.args.args if each.arg in used]
    function.args.args = kept or function.args.args[:1]
    names = [each.arg for each in function.args.args]
    text = ast.unparse(ast.fix_missing_locations(tree))  # noqa: TID251
    text = text.replace("import numpy as np\n\ndef", "import numpy as np\n\n\ndef") + "\n"
    extents = {k: v for k, v in case.source.extents.items() if k in names}
    scratch = tuple(each for each in case.source.scratch if each in names)
    return replace(case, source=Source(text, extents, case.source.dtype, scratch))


def as_test(failure: Failure, number: int = 0) -> str:
    """A test function that fails as long as the failure is there."""
    case, source = failure.case, failure.case.source
    name = failure.signature.replace(":", "_")
    on_cpu = ", on_cpu=True" if failure.kind == "cpu" else ""
    lines = [
        f"def test_{name}_{number}():",
        f"    # {failure.kind}: " + " ".join(failure.message.split())[:80],
        '    text = """',
        *source.text.rstrip("\n").splitlines(),
        '"""',
        f"    source = Source(text, {source.extents!r}, {source.dtype!r}, {source.scratch!r})",
        "    calls = (",
        *(
            f"        Call({e.primitive!r}, {tuple(e.arguments)!r}, {dict(e.options)!r}),"
            for e in case.calls
        ),
        "    )",
        f"    assert check(Case(source, calls, exact={case.exact}){on_cpu}) is None",
    ]
    return "\n".join(lines)
