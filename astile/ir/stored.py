"""Programs as text that JSON reads, and back: what is kept from one process to the next.

A tree comes back as it was, with the facts that ride on its nodes. Lines count from the first line
of the user's text, so that a function that moved in its file is still the same.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, TypeAlias, cast

from astile.ir import nodes
from astile.ir.nodes import Origin
from astile.ir.program import Program

#: What JSON holds.
Plain: TypeAlias = "bool | int | float | str | list[Any] | dict[str, Any] | None"

_KINDS = tuple(
    sorted(
        (e for e in vars(ast).values() if isinstance(e, type) and issubclass(e, ast.AST)),
        key=lambda each: each.__name__,
    )
)
_NUMBERS = {kind: number for number, kind in enumerate(_KINDS)}
#: What stands before the elements of a list of Python, which a node has no place for.
_LIST = -1
#: Fields of a program that rewrites change.
CHANGING = ("function", "next_loop", "gone", "imports", "integers")
#: Fields that they leave as they are.
SURROUNDINGS = (
    "source",
    "constants",
    "helpers",
    "helper_programs",
    "scratch",
    "needs",
    "written",
    "ranks",
    "integers_of",
    "reassociated",
)
_PLAIN = (bool, int, float, str, type(None))


class NotStored(Exception):  # noqa: N818 - it is a finding
    """Something that has no form as text."""


def program_text(program: Program, base: Program | None) -> str:
    """A program as text, the same for the same program.

    Args:
        program: the program.
        base: the program from which it was made by rewrites; what they leave alone is left out.
            Without one everything is in the text.

    Raises:
        NotStored: when a part of it has no form as text.
    """
    line = program.source.first_line
    held: dict[str, Plain] = {
        "function": _tree(program.function, line),
        "next_loop": program.next_loop,
        "gone": [[key, text] for key, text in program.gone.items()],
        "imports": dict(program.imports),
        "integers": sorted(program.integers),
    }
    if base is None:
        held |= _surroundings(program)
    elif not _has_surroundings_of(program, base):
        raise NotStored("a rewrite changed what surrounds the function")
    return json.dumps(held, separators=(",", ":"), sort_keys=True)


def program_from(text: str | bytes, base: Program) -> Program:
    """The program of a text.

    Args:
        text: as `program_text` gives it for this base.
        base: the program from which it was made by rewrites.
    """
    held = json.loads(text)
    return replace(
        base,
        function=cast("ast.FunctionDef", _node(held["function"], base.source.first_line)),
        next_loop=held["next_loop"],
        gone=dict(held["gone"]),
        imports=held["imports"],
        integers=frozenset(held["integers"]),
    )


def _surroundings(program: Program) -> dict[str, Plain]:
    """What rewrites leave alone. Helpers are what their programs say."""
    if set(program.helpers) != set(program.helper_programs):
        raise NotStored("a helper has no program")
    return {
        "source": program.source.text,
        "constants": {
            name: [type(value).__module__, type(value).__name__, repr(value)]
            for name, value in program.constants.items()
        },
        "helpers": {
            name: program_text(each, None) for name, each in program.helper_programs.items()
        },
        "scratch": sorted(program.scratch),
        "needs": [[type(each).__name__, repr(each)] for each in program.needs],
        "ranks": dict(program.ranks),
        "integers_of": dict(program.integers_of),
        "reassociated": program.reassociated,
        "written": None if program.written is None else program_text(program.written, None),
    }


def _has_surroundings_of(program: Program, base: Program) -> bool:
    return all(getattr(program, each) is getattr(base, each) for each in SURROUNDINGS)


# --- trees --------------------------------------------------------------------------------------


def _tree(value: object, line: int) -> Plain:
    """A node as the number of its kind, its fields, its position and its facts."""
    if isinstance(value, ast.AST):
        kind, held = type(value), value.__dict__
        made: list[Any] = [_NUMBERS[kind]]
        made += [_tree(held.get(field), line) for field in kind._fields]
        place = _place(held, line)
        facts = _facts(value, line)
        known = sum(field in held for field in (*kind._fields, *nodes.POSITIONS, *nodes.FACTS))
        if known != len(held):
            raise NotStored("a node carries a fact of another kind")
        if place is not None or facts:
            made.append(place)
        if facts:
            made.append(facts)
        return made
    if isinstance(value, list):
        return [_LIST, *(_tree(each, line) for each in value)]
    if type(value) not in _PLAIN:
        raise NotStored(f"{value!r} has no form in JSON")
    return cast("Plain", value)


def _place(held: Mapping[str, Any], line: int) -> list[int | None] | None:
    """Lines and columns of a node; None for a node that astile made."""
    first, column, last, end = (held.get(each) for each in nodes.POSITIONS)
    if first is None:
        return None
    return [first - line, column, None if last is None else last - line, end]


def _facts(node: ast.AST, line: int) -> dict[str, Plain]:
    facts: dict[str, Plain] = {}
    loop, comments, notes, origin = (node.__dict__.get(each) for each in nodes.FACTS)
    if loop is not None:
        facts["loop"] = loop
    if comments:
        facts["comments"] = list(comments)
    if notes:
        facts["notes"] = dict(notes)
    if origin is not None:
        facts["origin"] = [origin.statement, [_tree(each, line) for each in origin.iteration]]
    return facts


def _node(stored: list[Any], line: int) -> ast.AST:
    kind = _KINDS[stored[0]]
    new: ast.AST = kind.__new__(kind)
    held, number = new.__dict__, 1
    for field in kind._fields:
        part = stored[number]
        number += 1
        if part.__class__ is not list:
            held[field] = part
        elif part[0] == _LIST:
            held[field] = [
                _node(each, line) if each.__class__ is list else each for each in part[1:]
            ]
        else:
            held[field] = _node(part, line)
    if len(stored) > number:
        if stored[number] is not None:
            first, column, last, end = stored[number]
            last = None if last is None else last + line
            held.update(zip(nodes.POSITIONS, (first + line, column, last, end), strict=True))
        if len(stored) > number + 1:
            _give_facts(held, stored[number + 1], line)
    return new


def _give_facts(held: dict[str, Any], facts: Mapping[str, Any], line: int) -> None:
    loop, comments, notes, origin = nodes.FACTS
    if "loop" in facts:
        held[loop] = facts["loop"]
    if "comments" in facts:
        held[comments] = tuple(facts["comments"])
    if "notes" in facts:
        found = facts["notes"].items()
        held[notes] = {key: tuple(v) if isinstance(v, list) else v for key, v in found}
    if "origin" in facts:
        statement, iteration = facts["origin"]
        made = tuple(cast("ast.expr", _node(each, line)) for each in iteration)
        held[origin] = Origin(statement, made)
