"""Tracebacks that end where the user's own code does.

An error says all that is to be said about it, with the user's line; how astile came to it is of use
to those who mend astile only.
"""

from __future__ import annotations

import ast
import functools
import inspect
import itertools
import linecache
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import FrameType, MappingProxyType, TracebackType
from typing import Any, ParamSpec, TypeVar, cast

from astile.diagnostics import did_you_mean
from astile.errors import AstileError, InternalError
from astile.source import SourceFile, Span

P = ParamSpec("P")
R = TypeVar("R")
C = TypeVar("C", bound=type)
E = TypeVar("E", bound=Exception)

#: Set to anything, it keeps all frames; read when an error is raised.
FULL_VARIABLE = "ASTILE_FULL_TRACEBACK"
_PACKAGE = f"{Path(__file__).parent}{os.sep}"
#: Modules whose frames come with those of astile: compilers, and the ``with`` around them.
_HIDDEN = ("numba", "numba_cuda", "contextlib")


def is_full() -> bool:
    """Whether the user asked for all frames."""
    return bool(os.environ.get(FULL_VARIABLE))


def without_own(found: TracebackType | None) -> TracebackType | None:
    """A traceback without frames of astile and numba; as it is where the user asked for all.

    Args:
        found: of an error.
    """
    if is_full():
        return found
    kept: list[TracebackType] = []
    while found is not None:
        if not _is_own(found):
            kept.append(found)
        found = found.tb_next
    made: TracebackType | None = None
    for each in reversed(kept):
        made = TracebackType(made, each.tb_frame, each.tb_lasti, each.tb_lineno)
    return made


def _is_own(each: TracebackType) -> bool:
    module = str(each.tb_frame.f_globals.get("__name__", "")).partition(".")[0]
    return _is_in_package(each.tb_frame) or module in _HIDDEN


def _is_in_package(frame: FrameType) -> bool:
    return frame.f_code.co_filename.startswith(_PACKAGE)


def for_user(error: E) -> E:
    """An error as users see it: without frames of astile, and at their call where it has no place.

    Args:
        error: raised below the function that users call, by which this is called.
    """
    caller = sys._getframe(1).f_back
    if isinstance(error, AstileError) and caller is not None and not _is_in_package(caller):
        error.placed(lambda: _call_in(caller))
    return error.with_traceback(without_own(error.__traceback__))


def _call_in(frame: FrameType) -> Span | None:
    """The call that a frame is at; None where its text is not known."""
    code = frame.f_code
    text = "".join(linecache.getlines(code.co_filename, frame.f_globals))
    place = next(itertools.islice(code.co_positions(), frame.f_lasti // 2, None), None)
    line, end_line, start, end = place or (None,) * 4
    if not text or line is None or start is None:  # Python was asked to leave columns out
        return None
    call = ast.Pass(lineno=line, col_offset=start, end_lineno=end_line, end_col_offset=end)
    return SourceFile(code.co_filename, text).span(call)


def entry(function: Callable[P, R]) -> Callable[P, R]:
    """A function that users call: what it refuses is told without the frames below.

    A misspelt option gets a suggestion, which Python's own TypeError has not.

    Args:
        function: one frame of astile, that of the call itself, stays in tracebacks.
    """

    @functools.wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return function(*args, **kwargs)
        except InternalError:
            raise
        except AstileError as error:
            raise for_user(error) from None
        except TypeError as error:
            _suggest(error, function, args, kwargs)
            raise

    return call


def _suggest(
    error: TypeError, function: Callable[..., Any], args: Sequence[Any], given: Mapping[str, Any]
) -> None:
    signature = inspect.signature(function)
    try:
        signature.bind(*args, **given)
    except TypeError:  # the call did not fit the parameters
        note_misspelt(error, function.__name__, signature.parameters, given)


def note_misspelt(
    error: TypeError, name: str, known: Iterable[str], given: Iterable[str]
) -> TypeError:
    """Tell what options of a call may mean that are none.

    Args:
        error: gets the notes.
        name: of what was called.
        known: its parameters.
        given: the options that were written.
    """
    parameters = list(known)
    for each in given:
        hint = None if each in parameters else did_you_mean(each, parameters)
        if hint is not None:
            error.add_note(f"{each!r} is no option of {name}: {hint}")
    return error


def no_attribute(
    owner: object, name: str, called: Mapping[str, str] = MappingProxyType({})
) -> AttributeError:
    """The error for an attribute that an object has not, with what may be meant.

    Args:
        owner: the object.
        name: that was looked up.
        called: what some of its attributes are called elsewhere.
    """
    message = f"{type(owner).__name__!r} object has no attribute {name!r}"
    hint = None
    if not name.startswith("_"):  # Python looks for many such, as when it copies an object
        public = [each for each in dir(owner) if not each.startswith("_")]
        hint = did_you_mean(name, public, called)
    # without the object, or Python would add a suggestion of its own
    return AttributeError(f"{message}; {hint}" if hint else message, name=name)


def entries(owner: C) -> C:
    """A class whose constructor and public methods, inherited ones too, are entries.

    Args:
        owner: is changed in place.
    """
    for name in dir(owner):
        method = inspect.getattr_static(owner, name)
        is_public = not name.startswith("_") or name == "__init__"
        if is_public and inspect.isfunction(method):
            setattr(owner, name, entry(cast("Callable[..., Any]", method)))
    return owner
