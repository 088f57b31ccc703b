"""Which calls only compute a value: no effects, nothing written, the same result each time."""

from __future__ import annotations

import ast
import dis
from collections.abc import Callable, Mapping
from types import CodeType

from astile.ir import query
from astile.ir.casts import ROUNDINGS, array_of_type
from astile.ir.program import Program


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_BUILTINS = _words(
    "abs all any bool complex divmod float int len max min pow range round sum tuple zip "
    "enumerate isinstance slice"
)
_NUMPY_SCALARS = _words(
    "float16 float32 float64 int8 int16 int32 int64 uint8 uint16 uint32 uint64 intp uintp "
    "complex64 complex128 bool_ double single longlong half float_ int_ dtype"
)
_NUMPY_VALUES = _words(
    "abs absolute add all allclose amax amin any arccos arccosh arcsin arcsinh arctan arctan2 "
    "arctanh argmax argmin argsort around average bitwise_and bitwise_or bitwise_xor ceil clip "
    "conj conjugate cos cosh count_nonzero cross cumprod cumsum deg2rad degrees diff divide dot "
    "einsum equal exp exp2 expm1 fabs floor floor_divide fmax fmin fmod gcd greater "
    "greater_equal hypot imag inner invert isclose isfinite isinf isnan isscalar kron "
    "left_shift less less_equal log log10 log1p log2 logaddexp logical_and logical_not "
    "logical_or logical_xor matmul max maximum mean median min minimum mod multiply ndim "
    "negative nonzero not_equal outer percentile positive power prod ptp quantile rad2deg "
    "radians real reciprocal remainder result_type right_shift rint round searchsorted shape "
    "sign signbit sin sinc sinh size sort sqrt square std subtract sum tan tanh tensordot trace "
    "trapezoid tril triu true_divide trunc unique var vdot where"
)
#: Functions that make a new array, never a view of an old one.
_NUMPY_MAKERS = _words(
    "arange array bincount concatenate copy empty empty_like eye full full_like geomspace "
    "histogram hstack identity linspace logspace ones ones_like stack vstack zeros "
    "zeros_like"
)
#: Values that may be the argument itself, or a scalar: not fresh arrays.
_NOT_FRESH = _words("real imag trace") | _NUMPY_SCALARS
_METHODS = _words(
    "all any argmax argmin argsort astype conj copy cumprod cumsum dot item max mean min nonzero "
    "prod round std sum tolist trace var"
)
_STORES = _words(
    "STORE_GLOBAL DELETE_GLOBAL STORE_ATTR DELETE_ATTR STORE_SUBSCR DELETE_SUBSCR STORE_DEREF "
    "IMPORT_NAME YIELD_VALUE LOAD_ATTR LOAD_BUILD_CLASS MAKE_FUNCTION STORE_SLICE"
)


class Calls:
    """Tells what calls of a program do.

    Args:
        program: the program.
        bound: names that the function itself binds.
    """

    def __init__(self, program: Program, bound: frozenset[str]) -> None:
        self._program = program
        self._bound = bound
        self._helpers: dict[str, bool] = {}

    def path(self, function: ast.expr) -> str | None:
        """``numpy.sqrt`` for ``np.sqrt`` under ``import numpy as np``; builtins as they are."""
        word = query.dotted(function)
        if word is None:
            return None
        head, _, rest = word.partition(".")
        if head in self._bound or head in self._program.helpers:
            return None
        base = self._program.imports.get(head, "numpy" if head == "np" else None)
        if base is None:
            known = head not in self._program.constants
            return word if known else None
        return f"{base}.{rest}" if rest else base

    def is_pure(self, call: ast.Call) -> bool:
        """Whether a call only computes a value from its arguments."""
        if any(keyword.arg in (None, "out", "where") for keyword in call.keywords):
            return False
        function = call.func
        path = self.path(function)
        if path in ROUNDINGS:
            return True
        if path is not None:
            head, _, last = path.rpartition(".")
            if not head:
                return last in _BUILTINS
            if head in ("math", "cmath") or path == "numpy.linalg.norm":
                return True
            if head == "numpy":
                return last in _NUMPY_SCALARS | _NUMPY_VALUES | _NUMPY_MAKERS
            if head in ("shared", "local"):
                return last in _NUMPY_MAKERS
        if isinstance(function, ast.Name) and function.id in self._program.helpers:
            return function.id not in self._bound and self._is_pure_helper(function.id)
        if isinstance(function, ast.Attribute):
            base = query.base_name(function.value)
            cast = array_of_type(function) in self._bound
            return cast or (base in self._bound and function.attr in _METHODS)
        return False

    def is_fresh(self, value: ast.expr) -> bool:
        """Whether an expression makes a new array, or a scalar: never a view of another array."""
        match value:
            case ast.BinOp() | ast.UnaryOp() | ast.Compare() | ast.Constant():
                return True
            case ast.Call():
                if not self.is_pure(value):
                    return False
                path = self.path(value.func)
                if path is None:
                    method = value.func.attr if isinstance(value.func, ast.Attribute) else ""
                    copies = all(each.arg != "copy" for each in value.keywords)
                    return copies and method in _METHODS - {"conj", "trace"}
                copies = not any(keyword.arg == "copy" for keyword in value.keywords)
                return copies and path.rpartition(".")[2] not in _NOT_FRESH
        return False

    def _is_pure_helper(self, name: str) -> bool:
        if name not in self._helpers:
            self._helpers[name] = False  # while it is looked at, for recursion
            self._helpers[name] = _only_computes(self._program.helpers[name], 4)
        return self._helpers[name]


def _only_computes(function: Callable[..., object], depth: int) -> bool:
    """Whether a Python function stores nothing outside and calls only such functions."""
    function = getattr(function, "py_func", function)
    code = getattr(function, "__code__", None)
    if not isinstance(code, CodeType) or depth == 0:
        return False
    known: Mapping[str, object] = getattr(function, "__globals__", {})
    for instruction in dis.get_instructions(code):
        name = str(instruction.argval)
        if instruction.opname in _STORES - {"LOAD_ATTR"}:
            return False
        if instruction.opname == "LOAD_DEREF":
            return False
        if instruction.opname == "LOAD_GLOBAL" and not _is_harmless(name, known, depth):
            return False
        if instruction.opname in ("LOAD_ATTR", "LOAD_METHOD") and name not in _ATTRIBUTES:
            return False
    return True


#: Attributes that a helper may take: those of math and numpy that compute, and shapes.
_ATTRIBUTES = (
    _words(
        "shape size ndim pi e inf nan acos acosh asin asinh atan atan2 atanh cbrt comb copysign "
        "dist erf erfc fsum gamma isqrt ldexp lgamma pow prod tau ulp sqrt exp log"
    )
    | (_NUMPY_VALUES - frozenset(["sort"]))
    | _NUMPY_SCALARS
)


def _is_harmless(name: str, known: Mapping[str, object], depth: int) -> bool:
    if name not in known:
        return name in _BUILTINS or name in ("True", "False", "None")
    value = known[name]
    if isinstance(value, (bool, int, float, complex, str)):
        return True
    if getattr(value, "__name__", None) in ("numpy", "math", "cmath"):
        return True
    module = getattr(value, "__module__", None)
    if module in ("math", "cmath", "numpy") and getattr(value, "__name__", "") in _ATTRIBUTES:
        return True
    return callable(value) and _only_computes(value, depth - 1)
