"""Programs in a new form for tests of the proof: text with hints written as comments.

A line ends with ``# <number>: <iteration>`` to say which leaf of the original it stands for.
"""

from __future__ import annotations

import ast
import re
import textwrap

from astile.analysis.reading.statements import leaves
from astile.ir import nodes
from astile.ir.nodes import Origin
from astile.ir.program import Program
from tests.support.programs import program_from

_HINT = re.compile(r"#\s*(\d+)\s*:(.*)$")


def hinted(text: str, **fields: object) -> Program:
    """The program of a text whose lines say what they stand for.

    The hint ``# 3: i_0 * 16 + i_1, j`` stands for leaf 3 in iteration ``(i_0 * 16 + i_1, j)``.
    """
    text = textwrap.dedent(text).strip("\n") + "\n"
    program = program_from(text, **fields)  # type: ignore[arg-type]
    lines = text.splitlines()
    for leaf in leaves(program):
        found = _HINT.search(lines[leaf.node.lineno - 1])
        if found is not None:
            values = found.group(2).strip()
            parsed = ast.parse(f"({values},)" if values else "()", mode="eval").body
            assert isinstance(parsed, ast.Tuple)
            nodes.set_origin(leaf.node, Origin(int(found.group(1)), tuple(parsed.elts)))
    return program
