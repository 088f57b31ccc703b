"""Every form of a program on every target that runs here, against the plain function."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from astile.errors import ArgumentError, AstileError
from astile.kernel import Kernel
from astile.schedule.schedule import Schedule
from tests.cases import corpus
from tests.cases.forms import Subject, reorders, split_all
from tests.cases.values import Raised, difference, run

TARGETS = ("python", "cpu", "emulate")
#: Factor and what is added to it; None stands for the number of iterations.
FACTORS: tuple[tuple[int | None, int], ...] = ((1, 0), (2, 0), (3, 0), (None, 0), (None, 1))


@dataclass(frozen=True)
class Run:
    """What one form of a program gave on one target.

    Args:
        program: its name.
        form: ``"bare"``, ``"split 2 cut"`` or the text of a claim.
        target: where it ran.
        result: ``ok``, ``refused``, ``wrong`` or ``crashed``.
        message: first line of the refusal, or what differs.
        seconds: how long it took, compilation included.
    """

    program: str
    form: str
    target: str
    result: str
    message: str
    seconds: float


def judged(
    subject: Subject,
    form: str,
    target: str,
    make: Any,
    *,
    bitwise: bool,
    sizes: Sequence[int] | None = None,
    seeds: Sequence[int] = (0, 1),
) -> Run:
    """Run a kernel at several sizes.

    Args:
        subject: the program.
        form: a word for what is run.
        target: where it runs.
        make: gives the kernel.
        bitwise: whether every bit has to agree with the plain function.
        sizes: positions in the program's sizes; all of them by default.
        seeds: of the arguments.
    """
    began = time.perf_counter()
    try:
        kernel = make()
        found = _first_difference(subject, kernel, bitwise, sizes, seeds)
        result, message = ("ok", "") if found is None else ("wrong", found)
    except AstileError as error:
        result, message = "refused", str(error).splitlines()[0]
    except Exception as error:
        result, message = "crashed", f"{type(error).__name__}: {error}"
    return Run(subject.name, form, target, result, message, time.perf_counter() - began)


def _first_difference(
    subject: Subject,
    kernel: Kernel[..., Any],
    bitwise: bool,
    sizes: Sequence[int] | None,
    seeds: Sequence[int],
) -> str | None:
    for size in range(len(subject.sizes)) if sizes is None else sizes:
        for seed in seeds:
            args, wanted = subject.plain(size, seed)
            try:
                got = run(kernel, args, subject.parameters)
            except ArgumentError:
                if isinstance(wanted[-1][1], Raised):
                    continue  # the plain function fails too, only later
                raise
            where = difference(wanted, got, bitwise=bitwise, ignored=subject.scratch)
            if where is not None:
                return f"{where} at size {subject.sizes[size]}, seed {seed}"
    return None


def _extent(subject: Subject, target: str, seeds: Sequence[int] = (0, 1)) -> dict[str, Any]:
    """Sizes and seeds: fewer of them in the emulator, which is slow."""
    if target != "emulate":
        return {"seeds": seeds}
    return {"sizes": range(min(3, len(subject.sizes))), "seeds": seeds[-1:]}


def bare(
    subject: Subject, targets: Sequence[str] = TARGETS, seeds: Sequence[int] = (0, 1)
) -> Iterator[Run]:
    """The program under ``@tile``, without a schedule."""
    for target in targets:
        yield judged(
            subject,
            "bare",
            target,
            lambda target=target: subject.bare(target),
            bitwise=False,
            **_extent(subject, target, seeds),
        )


def splits(
    subject: Subject,
    targets: Sequence[str] = TARGETS,
    factors: Sequence[tuple[int | None, int]] = FACTORS,
    tails: Sequence[str] = ("guard",),
) -> Iterator[Run]:
    """Every loop of the program split by each factor, with each tail."""
    for factor, extra in factors:
        for tail in tails:
            made = split_all(subject, factor, extra, tail)
            words = f"{factor or ('n' if not extra else f'n+{extra}')} {tail}"
            total = made.done + len(made.refused)
            form = f"split {words} ({made.done} of {total} loops)"
            if not made.done:
                reason = made.refused[0] if made.refused else "no counted loop"
                yield Run(subject.name, form, "all", "refused", reason, 0.0)
                continue
            yield from _on_each(subject, form, made.schedule, targets)


def _on_each(
    subject: Subject, form: str, schedule: Schedule, targets: Sequence[str]
) -> Iterator[Run]:
    """A schedule on every target; bits have to agree where no step has reordered sums."""
    is_equal = all(step.proof is not None and step.proof.kind == "equal" for step in schedule.steps)
    is_equal = is_equal and not schedule.original.reassociated
    for target in targets:
        yield judged(
            subject,
            form,
            target,
            lambda target=target: Kernel.of_schedule(schedule, target),
            bitwise=is_equal and target == "python",
            **_extent(subject, target),
        )


def reordered(subject: Subject, targets: Sequence[str] = TARGETS) -> Iterator[Run]:
    """Each two loops that stand in one another, reordered where that is legal."""
    for form, schedule in reorders(subject):
        if isinstance(schedule, Schedule):
            yield from _on_each(subject, form, schedule, targets)
        else:
            yield Run(subject.name, form, "all", "illegal", schedule, 0.0)


def claims(name: str, targets: Sequence[str] = TARGETS) -> Iterator[Run]:
    """The steps that the corpus claims to be legal for a program, where astile makes them."""
    module = corpus.load(name)
    subject = corpus_subject(name)
    for claim in module.META["claims"]:
        if claim["verdict"] == "illegal":
            continue
        schedule = corpus.schedule_of(module, claim)
        form = f"claim {corpus.text_of(claim)}"
        try:
            corpus.apply_claim(schedule, module, claim)
        except (AstileError, corpus.NotCountedError) as error:
            yield Run(name, form, "all", "refused", str(error).splitlines()[0], 0.0)
            continue
        yield from _on_each(subject, form, schedule, targets)


def corpus_subject(name: str) -> Subject:
    """A program of the corpus."""
    module = corpus.load(name)
    function = getattr(module, module.META["function"])
    scratch = tuple(module.META.get("scratch", ()))
    return Subject(
        name, function, lambda size, seed: module.make_args(size, seed)[0], module.SIZES, scratch
    )
