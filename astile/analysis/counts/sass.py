"""Machine code of NVIDIA GPUs as text: instructions, loops, and what the main loop consists of."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

_INSTRUCTION = re.compile(
    r"/\*([0-9a-f]{4,})\*/\s+(?:\{\s*)?(?:@!?(U?P\w+)\s+)?([A-Z][A-Z0-9_.]*)\s*(.*?);"
)
_LABEL = re.compile(r"^\s*\.?(L_x_\d+):")
_LINE = re.compile(r'//## File "(.*?)", line (\d+)')
_TARGET = re.compile(r"L_x_\d+")
#: Instructions that compute on numbers; the main loop is the one that has most of them.
_ARITHMETIC = ("FFMA", "HMMA", "HGMMA", "DFMA", "FADD", "FMUL", "DADD", "DMUL", "HFMA2", "HADD2")
#: Instructions of memory, whose width in bits is part of the name.
_MEMORY = (
    *("LDG", "STG", "LDS", "STS", "LDL", "STL", "LD", "ST", "LDC", "LDSM", "LDGSTS"),
    *("ATOM", "ATOMS", "ATOMG", "RED"),
)
_WIDTHS = ("64", "128", "U8", "S8", "U16", "S16")
#: Integer arithmetic, moves, and comparisons: what an inner loop should have little of.
_OVERHEAD = (
    *("IMAD", "IADD", "IADD3", "LEA", "SHF", "LOP3", "ISETP", "SEL", "IMNMX", "VIADD", "VIMNMX"),
    *("UIADD3", "UIMAD", "ULEA", "USHF", "ULOP3", "UISETP", "USEL", "PRMT", "IABS", "SGXT"),
    *("MOV", "UMOV", "R2UR", "S2R", "S2UR", "CS2R", "I2F", "F2I"),
)


@dataclass(frozen=True)
class Instruction:
    """One instruction.

    Args:
        operation: with its modifiers: ``"LDG.E.128"``.
        operands: as text.
        line: of the Python text that it was made from, None where unknown.
    """

    operation: str
    operands: str
    line: int | None

    @property
    def name(self) -> str:
        """The operation, and the width of an access: ``"LDG.128"``."""
        base, *modifiers = self.operation.split(".")
        if base in _MEMORY:
            return ".".join([base, *(each for each in modifiers if each in _WIDTHS)])
        return f"{base}.{modifiers[0]}" if self.operation.startswith("IMAD.MOV") else base


@dataclass(frozen=True)
class Code:
    """The instructions of one kernel.

    Args:
        instructions: all of them, in order.
        loops: first and last instruction of each loop.
    """

    instructions: Sequence[Instruction]
    loops: Sequence[tuple[int, int]]

    def main_loop(self) -> Sequence[Instruction]:
        """The innermost loop with most arithmetic; nothing where there is no loop."""
        inner = [
            each
            for each in self.loops
            if not any(o != each and each[0] <= o[0] and o[1] <= each[1] for o in self.loops)
        ]
        bodies = [self.instructions[first : last + 1] for first, last in inner]
        return max(bodies, key=_arithmetic, default=())

    def local_bytes(self) -> int:
        """Bytes that instructions store to memory of the thread: spilled registers and arrays."""
        return sum(_width(each) for each in self.instructions if each.name.startswith("STL"))


def _arithmetic(body: Sequence[Instruction]) -> int:
    return sum(each.operation.startswith(_ARITHMETIC) for each in body)


def _width(instruction: Instruction) -> int:
    bits = [each for each in instruction.operation.split(".") if each in _WIDTHS]
    return int(bits[0].strip("US")) // 8 if bits else 4


def overhead(mix: Counter[str] | dict[str, int]) -> int:
    """Integer arithmetic and moves among instructions.

    Args:
        mix: name of an instruction -> how many there are.
    """
    return sum(count for name, count in mix.items() if name.partition(".")[0] in _OVERHEAD)


def mix_of(instructions: Sequence[Instruction]) -> dict[str, int]:
    """Name of an instruction -> how many there are, most of them first."""
    return dict(Counter(each.name for each in instructions).most_common())


def parse(text: str) -> Code:
    """The instructions of the one kernel of a disassembly.

    Args:
        text: as nvdisasm prints it.
    """
    instructions: list[Instruction] = []
    labels: dict[str, int] = {}
    line: int | None = None
    for each in text.splitlines():
        label = _LABEL.match(each)
        place = _LINE.search(each)
        if label:
            labels[label[1]] = len(instructions)
        elif place:
            line = int(place[2])
        elif "@!PT" not in each and (found := _INSTRUCTION.search(each)):  # which never runs
            instructions.append(Instruction(found[3], found[4], line))
    loops = []
    for position, each_instruction in enumerate(instructions):
        target = _TARGET.search(each_instruction.operands)
        if each_instruction.operation.startswith("BRA") and target:
            start = labels.get(target[0], position + 1)
            if start < position:
                loops.append((start, position))
    return Code(instructions, loops)
