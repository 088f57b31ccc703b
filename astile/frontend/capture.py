"""Function object -> its tree with the positions of the user's file, and the values it reads.

Source text is guessed by `inspect` from a file name and a line number, and the guess can be wrong:
a file edited after import, or a function made by ``exec``. So the text is compiled again, and its
code object compared with the one that runs.
"""

from __future__ import annotations

import ast
import functools
import inspect
import linecache
import types
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from astile.errors import SourceError
from astile.frontend import subset
from astile.ir import nodes, query
from astile.source import SourceFile

#: Where functions made by `astile.from_source` carry their text.
SOURCE_ATTRIBUTE = "__astile_source__"

_FROM_SOURCE = "pass the text of the function to astile.from_source(text)"
_FUTURE_FLAGS = 0x1FE0000  # CO_FUTURE_*: the compiler flags of `from __future__ import ...`
_COMPARED = (
    "co_code",
    "co_names",
    "co_varnames",
    "co_freevars",
    "co_cellvars",
    "co_argcount",
    "co_posonlyargcount",
    "co_kwonlyargcount",
)


@dataclass(frozen=True)
class Captured:
    """A function as it was written.

    Args:
        function: its tree, decorators and annotations included; positions are the file's.
        source: the text, with its place in the file.
        closure: names of functions around it that it reads -> value.
        module: names of its module -> value.
        defaults: parameter -> default value.
        code: the code object that runs.
    """

    function: ast.FunctionDef
    source: SourceFile
    closure: Mapping[str, object] = field(repr=False)
    module: Mapping[str, object] = field(repr=False)
    defaults: Mapping[str, object] = field(repr=False)
    code: types.CodeType = field(repr=False)


def capture(function: object) -> Captured:
    """Read the text of a function and make sure that it is the text of the code that runs.

    Args:
        function: a plain Python function; at module level, nested, or in a notebook cell.

    Raises:
        SourceError: when it is no plain function, or its text cannot be found or is not its own.
    """
    plain = _plain_function(function)
    source = _source(plain)
    definition = _definition(plain, source)
    if isinstance(definition, ast.AsyncFunctionDef):
        raise subset.refuse(subset.REFUSED["AsyncFunctionDef"], definition, source)
    _check_no_method(plain, definition, source)
    _check_text(plain, definition, source)
    return Captured(
        function=definition,
        source=source,
        closure=_closure(plain),
        module=plain.__globals__,
        defaults=_defaults(plain, definition),
        code=plain.__code__,
    )


def _check_no_method(
    function: types.FunctionType, definition: ast.FunctionDef, source: SourceFile
) -> None:
    """Refuse a function of a class that takes the object: no kernel is bound to one."""
    around = function.__qualname__.split(".")[:-1]
    parameters = [*definition.args.posonlyargs, *definition.args.args]
    if not around or around[-1] == "<locals>" or not parameters:
        return
    first = parameters[0]
    if first.arg in ("self", "cls"):
        raise SourceError(
            f"{definition.name} is a method: it takes {first.arg}",
            code="source.not-a-function",
            span=source.span(first),
            hints=[
                "write a function whose arguments are the arrays and numbers it needs",
                "to keep it in the class, put @staticmethod above @tile",
            ],
        )


# --- what is not a plain function ----------------------------------------------------------------


def _plain_function(function: object) -> types.FunctionType:
    if isinstance(function, types.FunctionType):
        if hasattr(function, "__wrapped__"):
            raise _wrapped(function)
        if function.__name__ == "<lambda>":
            raise SourceError(
                "a lambda cannot be a kernel",
                code="source.not-a-function",
                hints=["write it with `def`, so that it can hold loops and has a name"],
            )
        return function
    name = getattr(function, "__name__", None) or type(function).__name__
    if hasattr(function, "py_func"):
        raise SourceError(
            f"{name} is already compiled by numba",
            code="source.not-a-function",
            hints=["put @tile in the place of numba's decorator; astile runs numba itself"],
        )
    if isinstance(function, types.MethodType):
        raise SourceError(
            f"{name} is a method",
            code="source.not-a-function",
            hints=["write a function whose arguments are the arrays and numbers it needs"],
        )
    if isinstance(function, str):
        raise SourceError(
            "a kernel is a function, not a string",
            code="source.not-a-function",
            hints=[_FROM_SOURCE],
        )
    if isinstance(function, functools.partial):
        raise SourceError(
            "a functools.partial object cannot be a kernel",
            code="source.not-a-function",
            hints=["pass the function itself, and the arguments when it is called"],
        )
    kind = type(function).__name__
    told = f"{name} is of type {kind}, not a plain Python function"
    raise SourceError(
        told if name != kind else f"a kernel is made of a function, not of type {kind}",
        code="source.not-a-function",
        hints=[_instead(function, name)],
    )


def _instead(function: object, name: str) -> str:
    """What to do with an object that is no function, by what it holds."""
    if isinstance(function, (staticmethod, classmethod)):
        return f"put @{type(function).__name__} above @tile, which stands next to the `def`"
    if isinstance(function, type):
        return (
            "a kernel is a function written with `def`: put @tile above one, outside of the class"
        )
    if inspect.isfunction(getattr(function, "__wrapped__", None)):
        return f"it was made of a function, which is {name}.__wrapped__"
    return "a kernel is a function written with `def`"


def _wrapped(function: types.FunctionType) -> SourceError:
    """The error for a function behind another decorator, naming that decorator."""
    name = function.__name__
    hint = f"put @tile directly above `def {name}`, below the other decorators"
    message = f"{name} is wrapped by another decorator"
    inner = inspect.unwrap(function)
    if not isinstance(inner, types.FunctionType):
        return SourceError(message, code="source.decorator", hints=[hint])
    try:
        source = _source(inner)
        decorators = _definition(inner, source).decorator_list
    except SourceError:
        return SourceError(message, code="source.decorator", hints=[hint])
    spelled = [_decorator_name(each) for each in decorators]
    tiles = [index for index, each in enumerate(spelled) if each.split(".")[-1] == "tile"]
    below = decorators[tiles[-1] + 1 :] if tiles else decorators
    if not below:
        return SourceError(message, code="source.decorator", hints=[hint])
    return SourceError(
        f"{name} is wrapped by the decorator {_decorator_name(below[0])}",
        code="source.decorator",
        span=source.span(below[0]),
        label="astile would see the wrapper and not your loops",
        hints=[hint],
    )


def _decorator_name(decorator: ast.expr) -> str:
    called = decorator.func if isinstance(decorator, ast.Call) else decorator
    return query.dotted(called) or "of its definition"


# --- text ---------------------------------------------------------------------------------------


def _source(function: types.FunctionType) -> SourceFile:
    known = getattr(function, SOURCE_ATTRIBUTE, None)
    if isinstance(known, SourceFile):
        return known
    try:
        lines, first = inspect.getsourcelines(function)
    except (OSError, TypeError, SyntaxError, IndexError) as error:
        raise SourceError(
            f"the source text of {function.__name__} cannot be found",
            code="source.no-text",
            notes=[f"it was defined in {function.__code__.co_filename}"],
            hints=[_FROM_SOURCE],
        ) from error
    return SourceFile(function.__code__.co_filename, "".join(lines), max(first, 1))


def _definition(
    function: types.FunctionType, source: SourceFile
) -> ast.FunctionDef | ast.AsyncFunctionDef:
    """The definition of a function in its text, with the positions of the file."""
    try:
        tree = parse_in_place(source)
    except SyntaxError as error:
        raise _not_its_text(function) from error
    code = function.__code__
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            lines = {node.lineno, *(each.lineno for each in node.decorator_list)}
            if node.name == code.co_name and code.co_firstlineno in lines:
                return node
    raise _not_its_text(function)


def parse_in_place(source: SourceFile) -> ast.Module:
    """The tree of a text, indented or not, with the lines and columns of its file.

    Raises:
        SyntaxError: when it is no Python.
    """
    indented = source.text[:1] in (" ", "\t")
    # a header line above instead of dedenting: columns and strings of several lines stay true
    tree = ast.parse("if 1:\n" + source.text if indented else source.text)
    shift = source.first_line - 1 - indented
    ast.increment_lineno(tree, shift)
    return tree


# --- is it the code that runs? --------------------------------------------------------------------


def _check_text(
    function: types.FunctionType, definition: ast.FunctionDef, source: SourceFile
) -> None:
    code = function.__code__
    modules = {
        name
        for name in code.co_names
        if isinstance(function.__globals__.get(name), types.ModuleType)
    }
    attempts: list[Callable[[], set[str]]] = [
        lambda: modules,
        lambda: _imported_by_file(code),
        lambda: set(),
    ]
    for find_imported in attempts:
        try:
            again = compile_definition(
                definition, code.co_filename, code.co_freevars, find_imported(), code.co_flags
            )
        except (SyntaxError, ValueError) as error:
            raise _not_its_text(function) from error
        if again is not None and _same_code(again, code):
            return
    raise _not_its_text(function, source, definition)


def _imported_by_file(code: types.CodeType) -> set[str]:
    """Names that the file of a code object imports anywhere outside its functions."""
    try:
        tree = ast.parse("".join(linecache.getlines(code.co_filename)))
    except SyntaxError:
        return set()
    found: set[str] = set()
    pending: list[ast.AST] = [tree]
    while pending:
        node = pending.pop()
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            found |= {each.asname or each.name.partition(".")[0] for each in node.names}
        elif not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            pending += ast.iter_child_nodes(node)
    return found - {"*"}


def compile_definition(
    definition: ast.FunctionDef,
    filename: str,
    free: tuple[str, ...] = (),
    imported: Iterable[str] = (),
    flags: int = 0,
) -> types.CodeType | None:
    """The code object of a definition without its decorators.

    Args:
        definition: the tree; it is not changed.
        filename: the file that the code object names.
        free: names that it reads from a function around it.
        imported: names that its module imports: CPython calls their attributes another way.
        flags: flags of the code object that it is to equal; those of ``__future__`` are used.
    """
    bare = nodes.clone(definition)
    bare.decorator_list = []
    if hasattr(bare, "type_params"):
        bare.type_params = []
    body: ast.stmt = bare
    if free:
        body = nodes.function("outer", list(free), [bare])
    imports = [nodes.import_as(name, name) for name in sorted(imported)]
    module = ast.fix_missing_locations(nodes.module_of([*imports, body]))
    holder: types.CodeType | None = compile(
        module, filename, "exec", flags=flags & _FUTURE_FLAGS, dont_inherit=True
    )
    if free and holder is not None:
        holder = _code_named(holder, "outer")
    return None if holder is None else _code_named(holder, definition.name)


def _code_named(holder: types.CodeType, name: str) -> types.CodeType | None:
    for constant in holder.co_consts:
        if isinstance(constant, types.CodeType) and constant.co_name == name:
            return constant
    return None


def _same_code(first: types.CodeType, second: types.CodeType) -> bool:
    if any(getattr(first, each) != getattr(second, each) for each in _COMPARED):
        return False
    return _same_constant(first.co_consts, second.co_consts)


def _same_constant(first: object, second: object) -> bool:
    if isinstance(first, types.CodeType) and isinstance(second, types.CodeType):
        return _same_code(first, second)
    if type(first) is not type(second):
        return False
    if isinstance(first, tuple) and isinstance(second, tuple):
        return len(first) == len(second) and all(map(_same_constant, first, second))
    return first == second and repr(first) == repr(second)  # 0.0 and -0.0 are equal


def _not_its_text(
    function: types.FunctionType,
    source: SourceFile | None = None,
    definition: ast.FunctionDef | None = None,
) -> SourceError:
    rewritten = "@pytest_ar" in function.__code__.co_names
    notes = ["the file was changed after it was imported, or the function was made by exec"]
    hints = [f"import it again, or {_FROM_SOURCE}"]
    if rewritten:
        notes = ["pytest rewrites every `assert` of a test module before it runs"]
        hints = ["define the kernel in a module that is no test, or `raise` in place of `assert`"]
    return SourceError(
        f"the text found for {function.__name__} is not the code that runs",
        code="source.other-text",
        span=None if source is None or definition is None else source.span(definition),
        notes=notes,
        hints=hints,
    )


# --- values -------------------------------------------------------------------------------------


def _closure(function: types.FunctionType) -> dict[str, object]:
    found: dict[str, object] = {}
    cells = function.__closure__ or ()
    for name, cell in zip(function.__code__.co_freevars, cells, strict=True):
        try:
            found[name] = cell.cell_contents
        except ValueError:  # the name has no value yet, as a function has inside its own body
            continue
    return found


def _defaults(function: types.FunctionType, definition: ast.FunctionDef) -> dict[str, object]:
    arguments = definition.args
    positional = [each.arg for each in [*arguments.posonlyargs, *arguments.args]]
    values = function.__defaults__ or ()
    found = dict(zip(positional[len(positional) - len(values) :], values, strict=True))
    return found | (function.__kwdefaults__ or {})
