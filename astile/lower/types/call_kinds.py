"""Kinds of what functions give: casts, functions of `math` and NumPy, methods, helpers."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from astile.ir import query
from astile.ir.casts import ROUNDINGS, array_of_type
from astile.ir.program import Program
from astile.lower.types import dtypes, promotion
from astile.lower.types.promotion import PYTHON, Kind

if TYPE_CHECKING:
    from astile.lower.types.kinds import Kinds

#: Functions of `math` whose result is an integer or a truth value of Python; others give a float.
_OF_MATH = {
    **dict.fromkeys(("floor", "ceil", "trunc", "gcd", "lcm", "isqrt", "comb", "perm"), "int"),
    **dict.fromkeys(("isnan", "isinf", "isfinite", "isclose"), "bool"),
}
#: Functions and methods that keep the type of the elements of their first argument.
_KEEPING = frozenset(
    ("copy", "min", "max", "amin", "amax", "nanmin", "nanmax", "clip", "sort", "ravel", "flatten")
    + ("reshape", "transpose", "ascontiguousarray", "round", "around", "real_if_close")
    + ("zeros_like", "ones_like", "empty_like", "full_like", "roll", "flip", "flipud", "fliplr")
    + (
        "diff",
        "take",
        "repeat",
        "unique",
        "squeeze",
        "expand_dims",
        "atleast_1d",
        "asarray",
        "nan_to_num",
        "ptp",
        *("swapaxes", "partition", "broadcast_to", "tile", "diag", "diagonal", "triu", "tril"),
        *("delete", "view"),
    )
)
#: Functions whose first argument is a tuple of arrays.
_JOINING = frozenset(
    ("array", "concatenate", "hstack", "vstack", "stack", "column_stack", "dstack")
)
_SUMMING = frozenset(("sum", "prod", "cumsum", "cumprod", "nansum", "nanprod", "trace"))
_AVERAGING = frozenset(
    ("mean", "std", "var", "median", "nanmean", "nanstd", "nanvar", "nanmedian", "average", "norm")
)
_COUNTING = frozenset(("argmin", "argmax", "argsort", "count_nonzero", "searchsorted", "nonzero"))
_MULTIPLYING = frozenset(("dot", "matmul", "vdot", "inner", "outer", "cross", "where", "minimum"))
#: Attributes of `numpy.finfo` that are numbers of the type that it is of.
_OF_FLOATS = frozenset(("max", "min", "eps", "epsneg", "tiny", "smallest_normal", "resolution"))
_TESTING = frozenset(("any", "all", "array_equal", "isclose", "allclose"))
_MAKING = frozenset(("empty", "zeros", "ones", "full", "arange", "linspace", "eye", "identity"))
#: Functions whose result is an array of the size of the first.
_ARRAYS = frozenset(
    ("view", "copy", "clip", "sort", "cumsum", "cumprod", "argsort", "reshape", "ravel", "flatten")
    + ("transpose", "ascontiguousarray", "where", "astype", "diff", "roll", "flip", "outer")
    + ("zeros_like", "ones_like", "empty_like", "full_like")
)


def of_constant(value: object) -> Kind:
    """The kind of a literal or of a frozen constant."""
    if isinstance(value, np.generic):
        return promotion.kind_of(value.dtype) if value.dtype.kind in "biufc" else None
    name = type(value).__name__
    return name if name in PYTHON else None


def real_part(kind: Kind) -> Kind:
    """The kind of the real part of a number."""
    if kind in (None, "?"):
        return kind
    assert kind is not None
    parts = {"complex": "float", "complex64": "float32", "complex128": "float64"}
    return parts.get(kind, kind)


def path_of(program: Program, expression: ast.expr) -> str:
    """``"numpy.sqrt"`` for what a name or attribute stands for; empty for other things."""
    word = query.dotted(expression)
    if word is None:
        return ""
    head, _, rest = word.partition(".")
    home = program.imports.get(head)
    if home is None:
        return ""
    return f"{home}.{rest}" if rest else home


def of_path(path: str) -> Kind:
    """The kind of a constant of a module, such as ``math.pi``."""
    home, _, name = path.rpartition(".")
    if home in ("math", "numpy") and name in ("pi", "e", "inf", "nan", "tau", "euler_gamma"):
        return "float"
    return None


def of_call(kinds: Kinds, call: ast.Call) -> Kind:
    """The kind of a call.

    Args:
        kinds: of the program's names.
        call: the call.
    """
    inner = kinds.inside(call)
    if inner is not None:
        return inner.returned()
    word = query.dotted(call.func) or ""
    array = array_of_type(call.func)
    if array is not None and len(call.args) == 1:
        return kinds.arrays.get(array)
    if not path_of(kinds.program, call.func) and isinstance(call.func, (ast.Name, ast.Attribute)):
        if "." not in word and isinstance(call.func, ast.Name):
            return _of_builtin(kinds, word, call)
        if isinstance(call.func, ast.Attribute):
            return _of_method(kinds, call.func, call)
    if len(call.args) == 1 and not call.keywords:
        cast = dtypes.name_of(kinds.program, call.func, {})
        if cast is not None:
            return _named(cast)
    path = path_of(kinds.program, call.func)
    if path in ROUNDINGS:
        return "float32"
    home, _, name = path.rpartition(".")
    if home in ("math", "cmath"):
        return "complex" if home == "cmath" else _OF_MATH.get(name, "float")
    return of_numpy(kinds, name, call.args, call) if home.startswith("numpy") else None


def _named(dtype: str) -> str:
    return "bool_" if dtype == "bool" else dtype


def _of_builtin(kinds: Kinds, word: str, call: ast.Call) -> Kind:
    if word in ("int", "len"):
        return "int"
    if word in ("float", "bool", "complex"):
        return word
    if word == "round":
        kind = kinds.of(call.args[0]) if call.args else None
        return "int" if len(call.args) == 1 else kind
    if word == "abs" and len(call.args) == 1:
        kind = kinds.of(call.args[0])
        return "int" if kind == "bool" else real_part(kind)
    if word in ("min", "max") and len(call.args) > 1 and not call.keywords:
        return kinds.of_choice(call.args, call)
    if word in ("min", "max", "sum") and len(call.args) == 1:
        kind = kinds.of(call.args[0])
        return kind if word != "sum" else kinds.of_binary("int", ast.Add(), kind)
    return None


def _of_method(kinds: Kinds, function: ast.Attribute, call: ast.Call) -> Kind:
    if function.attr in ("astype", "view") and call.args:
        name = dtypes.name_of(kinds.program, call.args[0], kinds.types)
        return None if name is None else _named(name)
    if function.attr == "item":
        kind = kinds.of(function.value)
        return kind if kind is None or kind == "?" else _as_python(kind)
    return of_numpy(kinds, function.attr, [function.value, *call.args], call)


def _as_python(kind: str) -> str:
    families = {"b": "bool", "i": "int", "u": "int", "f": "float", "c": "complex"}
    return families[promotion.family(kind)]


def of_limit(kinds: Kinds, call: ast.Call, attribute: str) -> Kind:
    """The kind of ``np.iinfo(np.int32).max``, ``np.finfo(np.float32).eps`` and the like."""
    path = path_of(kinds.program, call.func)
    if path == "numpy.iinfo" and attribute in ("min", "max", "bits"):
        return "int"
    if path == "numpy.finfo" and attribute in _OF_FLOATS and len(call.args) == 1:
        return dtypes.name_of(kinds.program, call.args[0], kinds.types)
    return None


def of_numpy(kinds: Kinds, name: str, arguments: list[ast.expr], call: ast.Call) -> Kind:
    """The kind of what a function of NumPy, or a method of arrays, gives.

    Args:
        kinds: of the program's names.
        name: of the function.
        arguments: by position; for a method with the array first.
        call: the call, for its keywords.
    """
    for keyword in call.keywords:
        if keyword.arg == "dtype":
            found = dtypes.name_of(kinds.program, keyword.value, kinds.types)
            return None if found is None else _named(found)
    if name in _MAKING:
        return _of_making(kinds, name, call)
    if name in ("array", "frombuffer") and len(call.args) > 1:
        found = dtypes.name_of(kinds.program, call.args[1], kinds.types)
        return None if found is None else _named(found)
    if name in _JOINING and len(arguments) > 1 and name != "concatenate":
        return None
    if not arguments:
        return None
    given = [kinds.of(each) for each in arguments]
    if "?" in given:
        return "?"
    if name in _COUNTING:
        return "int64"
    if name in _TESTING:
        return "bool_"
    first = given[0]
    function = getattr(np, name, None)
    if isinstance(function, np.ufunc) and function.nin == len(given) and function.nout == 1:
        known = [each for each in given if each is not None]
        result = promotion.of_ufunc(function, *known) if len(known) == len(given) else None
        return None if result is None else result[-1]
    if first is None:
        return None
    if name in _SUMMING:
        return _of_sum(first)
    if name in _AVERAGING:
        first = real_part(first) if name.endswith(("std", "var", "norm")) else first
        assert first is not None
        return first if promotion.family(first) in "fc" and first not in PYTHON else "float64"
    if name == "clip":
        return _of_several([first, *given[1:]])
    if name in ("real", "imag"):
        return promotion.native(real_part(first) or first)
    if name == "append":
        return promotion.native(first) if given[:2] == [first, first] else None
    if name in ("round", "around") and promotion.family(first) == "b":
        return "float16"
    if name in _KEEPING or name in _JOINING:
        return promotion.native(first)
    if name in _MULTIPLYING:
        return _of_several(given[1:] if name == "where" else given)
    return None


def _of_several(given: list[Kind]) -> Kind:
    kind: Kind = given[0] if given else None
    for each in given[1:]:
        kind = promotion.promoted(kind, each)
    return None if kind is None else promotion.native(kind)


def _of_sum(kind: str) -> str:
    """NumPy sums narrow integers in 64 bits."""
    wide = {"b": "int64", "i": "int64", "u": "uint64"}
    return wide.get(promotion.family(kind), promotion.native(kind))


def _of_making(kinds: Kinds, name: str, call: ast.Call) -> Kind:
    position = {"full": 2, "empty": 1, "zeros": 1, "ones": 1}.get(name)
    if position is not None and len(call.args) > position:
        found = dtypes.name_of(kinds.program, call.args[position], kinds.types)
        return None if found is None else _named(found)
    if name == "full":
        kind = kinds.of(call.args[1]) if len(call.args) > 1 else None
        return kind if kind in (None, "?") else promotion.native(kind)
    if name == "arange":
        return kinds.of_binary("int64", ast.Add(), _of_several([kinds.of(e) for e in call.args]))
    return "float64"


def gives_array(kinds: Kinds, call: ast.Call) -> bool:
    """Whether a call certainly gives an array."""
    path = path_of(kinds.program, call.func)
    name = path.rpartition(".")[2]
    if query.dotted(call.func) == "abs" and not path and call.args:
        return kinds.is_array(call.args[0])
    if not path and isinstance(call.func, ast.Attribute):
        return call.func.attr in _ARRAYS and kinds.is_array(call.func.value)
    if not path.startswith("numpy"):
        return False
    if name in ("where", "clip", "round", "around", "nan_to_num") and call.args:
        return any(map(kinds.is_array, call.args))
    if name in _MAKING or name in _ARRAYS:
        return True
    if isinstance(getattr(np, name, None), np.ufunc):
        return any(map(kinds.is_array, call.args))
    return False


def types_of_arguments(kinds: Kinds, helper: Program, call: ast.Call) -> Mapping[str, str] | None:
    """Parameter of a helper function -> type of what a call hands to it, where known.

    Args:
        kinds: of the calling program's names.
        helper: the function that is called.
        call: the call.
    """
    parameters = query.parameters(helper.function)
    if any(isinstance(each, ast.Starred) for each in call.args) or len(call.args) > len(parameters):
        return None
    given: dict[str, ast.expr] = dict(zip(parameters, call.args, strict=False))
    for keyword in call.keywords:
        if keyword.arg is None:
            return None
        given[keyword.arg] = keyword.value
    types: dict[str, str] = {}
    for name, value in {**_defaults(helper.function), **given}.items():
        kind = kinds.of(value)
        if kind is None or kind == "?":
            continue
        types[name] = kind if kind in PYTHON or kinds.is_array(value) else f"{kind}()"
        if kind in PYTHON and kinds.is_array(value):
            types[name] = promotion.native(kind)
    return types


def _defaults(function: ast.FunctionDef) -> dict[str, ast.expr]:
    declared = function.args
    positional = [each.arg for each in (*declared.posonlyargs, *declared.args)]
    values = declared.defaults
    found = dict(zip(positional[len(positional) - len(values) :], values, strict=True))
    for each, value in zip(declared.kwonlyargs, declared.kw_defaults, strict=True):
        if value is not None:
            found[each.arg] = value
    return found
