"""Which stages of a program feed which, and which hold a text."""

from __future__ import annotations

import ast

from astile.errors import ScheduleError
from astile.ir import query
from astile.ir.printer import print_statement
from astile.ir.program import Program
from astile.ir.stages import Stage, stages


def producers(program: Program, stage: Stage) -> tuple[Stage, ...]:
    """The other stages that write what a stage reads, in program order.

    Args:
        program: the program.
        stage: the stage.
    """
    read = _read(program, stage)
    return tuple(each for each in _others(program, stage) if each.array in read)


def consumers(program: Program, stage: Stage) -> tuple[Stage, ...]:
    """The other stages that read what a stage writes, in program order.

    Args:
        program: the program.
        stage: the stage.
    """
    written = set().union(*(query.names_written(e) for e in _statements(program, stage)))
    written |= {a for e in _statements(program, stage) for a in query.written_arrays(e)}
    found = _others(program, stage)
    return tuple(each for each in found if written & _read(program, each))


def stages_with(program: Program, text: str) -> tuple[Stage, ...]:
    """The stages with a statement that holds a text as it is printed.

    Args:
        program: the program.
        text: the text; blanks do not count.

    Raises:
        ScheduleError: when there is none.
    """
    wanted = _plain(text)
    found = [
        each
        for each in stages(program.function)
        if wanted and any(wanted in _plain(print_statement(e)) for e in _statements(program, each))
    ]
    if not found:
        known = [each.name for each in stages(program.function)]
        raise ScheduleError(
            f"no loop, no array and no statement has {text!r}",
            code="schedule.no-such-stage",
            hints=[f"stages here: {', '.join(known) or 'none'}"],
        )
    return tuple(found)


def _plain(text: str) -> str:
    return "".join(text.split())


def _statements(program: Program, stage: Stage) -> list[ast.stmt]:
    every = list(query.statements(program.function))
    return [every[position] for position in stage.positions]


def _others(program: Program, stage: Stage) -> list[Stage]:
    own = set(stage.positions)
    return [each for each in stages(program.function) if not own & set(each.positions)]


def _read(program: Program, stage: Stage) -> set[str]:
    """The names that a stage reads, in the conditions and ranges around it as well."""
    found: set[str] = set()
    for statement in _statements(program, stage):
        found |= _values(statement)
        place = query.find_place(program.function, statement)
        for around in () if place is None else place.parents:
            for part in ast.iter_child_nodes(around):
                if isinstance(part, ast.expr):
                    found |= query.names_read(part)
    return found


def _values(statement: ast.stmt) -> set[str]:
    """The names whose value, or whose cells, a statement reads."""
    stored = {
        id(each.value) for each in query.accesses(statement) if isinstance(each.ctx, ast.Store)
    }
    if isinstance(statement, ast.AugAssign):
        stored.clear()
    names = {
        each.id
        for each in query.preorder(statement)
        if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load) and id(each) not in stored
    }
    scalar = isinstance(statement, ast.AugAssign) and isinstance(statement.target, ast.Name)
    return names | query.names_written(statement) if scalar else names
