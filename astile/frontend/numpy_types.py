"""Types that functions of NumPy give, by the types of what they take.

NumPy makes its own numbers of Python's: `np.sqrt(2.0)` and `x.sum()` decide the type of what is
computed with them, as `2.0` does not.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from astile.frontend.vocabulary import PRODUCTS, SAME_TYPE, TRUTHS
from astile.ir.needs import Source, joined_type, maybe, sure

_REAL: Source = ("weak", "float")
_TRUTH: Source = ("dtype", "bool")
_OF_PYTHON = {"int": int, "float": float, "complex": complex}
#: What a count is of: before NumPy 2.4 an integer of Python.
COUNT: Source = (
    ("dtype", "int64") if isinstance(np.count_nonzero(()), np.integer) else ("weak", "int")
)


def of_cells(
    word: str, arguments: Sequence[set[Source]], *, are_numbers: bool
) -> set[Source] | None:
    """Types that a function which computes cell by cell gives, at most; None: not known.

    Args:
        word: the function.
        arguments: types of each; none where nothing is known of them yet.
        are_numbers: whether all arguments are numbers.
    """
    if word in TRUTHS:
        return {_TRUTH}
    if word == "where":
        arguments = arguments[1:] if len(arguments) == 3 else ()
    if not all(arguments):
        return set()
    if are_numbers:
        arguments = _of_numpy(arguments)
    found: set[Source] = set().union(*arguments)
    if word == "where":
        return found
    function = getattr(np, word)
    if isinstance(function, np.ufunc):
        if all(map(is_known, arguments)):
            return _resolved(function, arguments)
        if _keeps_integers(function):
            return found
        return None if any(map(_is_narrow, found)) else {*found, _REAL}
    if word in ("round", "around", "fix") and is_known(found):
        joined = joined_type(found, {})
        kinds = "f" if word == "fix" else "iuf"
        return found if joined is not None and joined.kind in kinds else None
    return found if word in SAME_TYPE and word not in ("round", "around") else {*found, _REAL}


def of_reduction(word: str, sources: set[Source]) -> set[Source] | None:
    """Types of a number that an array is reduced to, at most; None: not known.

    Args:
        word: the reduction.
        sources: types of the cells.
    """
    if word in ("any", "all"):
        return {_TRUTH}
    if word in ("argmax", "argmin"):
        return {("dtype", "int64")}
    if word == "count_nonzero":
        return {COUNT}
    if sources and all(sure(each)[0] == "weak" for each in sources):
        return None
    if word in ("max", "min", "ptp", *PRODUCTS):
        return sources
    surely = map(sure, sources)
    integers = any(kind == "dtype" and np.dtype(name).kind in "biu" for kind, name in surely)
    if integers and not is_known(sources):
        return None
    summed = set(map(_summed, sources))
    return summed if word in ("sum", "prod") or not sources else {*summed, _REAL}


def is_known(sources: Iterable[Source]) -> bool:
    """Whether no argument of a call decides which type sources join to."""
    return all(sure(each)[0] in ("dtype", "weak") for each in sources)


def is_chosen(sources: Iterable[Source]) -> bool:
    """Whether sources are those of a value that is one of several."""
    return any(sure(each) != each for each in sources)


def is_whole(sources: Iterable[Source]) -> bool:
    """Whether sources that are known join to a type of integers or truth values."""
    joined = joined_type(sources, {})
    return joined is not None and joined.kind in "biu"


def _of_numpy(arguments: Sequence[set[Source]]) -> Sequence[set[Source]]:
    """Types of numbers as NumPy takes them: those of Python count where there are no others."""
    made = [{_number(each) for each in argument} for argument in arguments]
    if any(sure(each)[0] != "weak" for argument in made for each in argument):
        return made
    return [set(map(_of_python, each)) for each in made]


def _number(source: Source) -> Source:
    kind, name = sure(source)
    made: Source = ("number" if kind == "like" else kind, name)
    return made if sure(source) == source else maybe(made)


def _of_python(source: Source) -> Source:
    """The type that NumPy gives a number of Python."""
    made: Source = ("dtype", np.result_type(_OF_PYTHON[source[1]]).name)
    return made if sure(source) == source else maybe(made)


def _summed(source: Source) -> Source:
    """NumPy adds narrow integers and truth values in 64 bits."""
    kind, name = sure(source)
    if (kind, name) != source:
        return maybe(_summed((kind, name)))
    if kind == "like":
        return "sum", name
    if kind != "dtype":
        return source
    letter = np.dtype(name).kind
    return "dtype", {"b": "int64", "i": "int64", "u": "uint64"}.get(letter, name)


def _resolved(function: np.ufunc, arguments: Sequence[set[Source]]) -> set[Source] | None:
    """The type that a function gives for types that are known."""
    if (function.nin, function.nout) != (len(arguments), 1):
        return None
    operands = [_operand(each) for each in arguments]
    if any(each is None for each in operands):
        return None
    try:
        *_, made = function.resolve_dtypes((*operands, None))
    except TypeError:
        return None
    return {("dtype", made.name)}


def _operand(sources: set[Source]) -> np.dtype[Any] | type | None:
    names = [name for kind, name in sources if kind == "weak"]
    if len(names) < len(sources):
        return joined_type(sources, {})
    return _OF_PYTHON[max(names, key=list(_OF_PYTHON).index)]


def _is_narrow(source: Source) -> bool:
    """Whether NumPy computes functions of such integers in float16 or float32."""
    kind, name = sure(source)
    return kind == "dtype" and np.dtype(name).kind in "biu" and np.dtype(name).itemsize < 4


def _keeps_integers(function: np.ufunc) -> bool:
    """Whether a function gives integers for integers, as `np.square` does."""
    return any(each[0] in "lq" and each[-1] in "lq" for each in function.types)
