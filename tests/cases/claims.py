"""What astile makes of every claim of the case corpus."""

from __future__ import annotations

import ast
import re
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from astile.errors import AstileError, IllegalSchedule
from astile.ir import query
from astile.schedule.schedule import Schedule
from tests.cases import corpus
from tests.cases.values import Results, difference, run

#: Verdict of the corpus -> head of its column; in the order of the table.
COLUMNS = {
    "legal": "legal",
    "legal+bounds": "legal, other bounds",
    "legal+live": "legal, kept whole",
    "reassoc": "reassociates",
    "imperfect": "imperfect",
    "illegal": "illegal",
}


@dataclass(frozen=True)
class Outcome:
    """What astile made of one claim.

    Args:
        program: name of the corpus program.
        claim: the step, as text.
        verdict: what the corpus says about it.
        result: ``accepted``; ``refused``; ``not observable`` (called illegal, but no value shows
            it by the corpus' own word, and the step was proved to keep all values and kept all
            bits); ``wrong`` (other values, or an illegal claim accepted); or ``crashed``.
        message: first line of the refusal, or what differs.
        unnamed: of an illegal claim that was refused: what the message does not name.
        seconds: processor time of the step.
    """

    program: str
    claim: str
    verdict: str
    result: str
    message: str
    unnamed: tuple[str, ...]
    seconds: float

    @property
    def is_fault(self) -> bool:
        """Whether this is a wrong value, an illegal step accepted, or a crash."""
        return self.result in ("wrong", "crashed")

    @property
    def is_too_careful(self) -> bool:
        """Whether a legal step was refused."""
        return self.result == "refused" and self.verdict == "legal"


class Judge:
    """Judges the claims of one program, which it runs as it stands only once.

    Args:
        name: of the program.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.module = corpus.load(name)
        self.hidden = corpus.not_observable(name)
        self.plain = getattr(self.module, self.module.META["function"])
        code = self.plain.__code__
        self.names = code.co_varnames[: code.co_argcount]
        self.wanted: dict[tuple[Any, int], Results] = {}

    def claims(self, *, exact: bool = False) -> Iterator[Outcome]:
        """What astile makes of every claim."""
        for claim in self.module.META["claims"]:
            yield self.judged(claim, exact=exact)

    def judged(self, claim: dict[str, Any], *, exact: bool) -> Outcome:
        """What astile makes of one claim."""
        schedule = corpus.schedule_of(self.module, claim, exact=exact)
        missing: tuple[str, ...] = ()
        began = time.process_time()
        seconds = 0.0
        try:
            corpus.apply_claim(schedule, self.module, claim)
            seconds = time.process_time() - began
            result, message = self._accepted(schedule, claim)
        except corpus.NotCountedError as error:
            result, message = "refused", f"the loop {error} is kept untouched"
        except AstileError as error:
            seconds = time.process_time() - began
            kind = "illegal: " if isinstance(error, IllegalSchedule) else ""
            result, message = "refused", kind + str(error).splitlines()[0]
            if claim["verdict"] == "illegal":
                missing = unnamed(schedule, self.module, claim, error)
        except Exception as error:
            result, message = "crashed", f"{type(error).__name__}: {error}"
        verdict = claim["verdict"]
        return Outcome(self.name, corpus.text_of(claim), verdict, result, message, missing, seconds)

    def _accepted(self, schedule: Schedule, claim: dict[str, Any]) -> tuple[str, str]:
        """The result of a step that was accepted, and what differs."""
        proof = schedule.steps[-1].proof
        assert proof is not None
        differs = self._difference(schedule, bitwise=proof.kind == "equal")
        if differs is not None:
            return "wrong", differs
        match claim["verdict"]:
            case "illegal":
                if (claim.get("loops") or claim["buffer"]) not in self.hidden:
                    return "wrong", "an illegal step was accepted"
                return ("not observable", "") if proof.kind == "equal" else ("wrong", proof.kind)
            case "reassoc":
                return "accepted", ""
        return ("accepted", "") if proof.kind == "equal" else ("wrong", proof.kind)

    def _difference(self, schedule: Schedule, *, bitwise: bool) -> str | None:
        """The first difference from the plain function over all sizes and two seeds, or None."""
        scope: dict[str, Any] = {}
        text = schedule.source("python")
        exec(compile(text, f"<{schedule.program.name}>", "exec"), scope)
        candidate = scope[schedule.program.name]
        for size in self.module.SIZES:
            for seed in (0, 1):
                args, outputs = self.module.make_args(size, seed)
                if (size, seed) not in self.wanted:
                    self.wanted[size, seed] = run(self.plain, args, self.names)
                ignored = set(self.module.META.get("scratch", ())) - set(outputs)
                got = run(candidate, args, self.names)
                where = difference(self.wanted[size, seed], got, bitwise=bitwise, ignored=ignored)
                if where is not None:
                    return f"{where} at size {size}, seed {seed}"
        return None


def unnamed(
    schedule: Schedule, module: ModuleType, claim: dict[str, Any], error: AstileError
) -> tuple[str, ...]:
    """The loops of a claim that a message does not name, and whether it names no array.

    The lines of the user's file that it quotes do not count.
    """
    labels = claim["loops"].split() if "loops" in claim else [claim["producer"], claim["at"]]
    lines = [each for each in str(error).splitlines() if not re.match(r"\s*\d+ \|", each)]
    words = set(re.findall(r"[A-Za-z_]\w*", "\n".join(lines)))
    missing = [each for each in labels if each.rpartition(".")[2] not in words]
    written = {
        name
        for label in labels
        for node in ast.walk(corpus.loop_node(schedule, module, label))
        if isinstance(node, (ast.Assign, ast.AugAssign))
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
        for name in (query.base_name(target), *query.names_written(target))
        if name is not None
    }
    return (*missing, *(() if words & written else ("the array",)))


# --- the table ----------------------------------------------------------------------------------


def row(name: str, default: Iterable[Outcome], exact: Iterable[Outcome]) -> str:
    """The line of the table for one program, or for several.

    Args:
        name: of the program.
        default: what became of its claims.
        exact: the same under ``exact=True``.
    """
    every, strict = list(default), list(exact)
    cells = [name]
    for verdict in COLUMNS:
        cells.append(_counts(each for each in every if each.verdict == verdict))
        if verdict == "reassoc":
            cells.append(_counts(each for each in strict if each.verdict == verdict))
    both = [*every, *strict]
    cells.append(str(sum(each.result == "not observable" for each in every)))
    cells.append(str(sum(each.is_too_careful for each in every)))
    cells.append(str(sum(each.is_fault for each in both)))
    return f"| {' | '.join(cells)} |"


def _counts(outcomes: Iterable[Outcome]) -> str:
    """``accepted / refused``; empty where there is no claim."""
    results = [each.result for each in outcomes]
    if not results:
        return ""
    return f"{results.count('accepted')} / {results.count('refused')}"


def head() -> list[str]:
    """The first two lines of the table."""
    cells = ["program"]
    for verdict, words in COLUMNS.items():
        cells.append(words)
        if verdict == "reassoc":
            cells.append("the same, `exact=True`")
    cells += ["not observable", "too careful", "wrong"]
    return [f"| {' | '.join(cells)} |", f"|---|{'--:|' * (len(cells) - 1)}"]
