"""What `kernel.check` compares with the plain function: steps, and targets that are here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from astile import check
from astile.forms import TARGETS, Forms
from astile.ir.program import Program
from astile.runtime import arguments
from astile.runtime import compile as compiling
from astile.runtime.specialize import Specializer
from astile.schedule.step import Step


def of(forms: Forms, target: str) -> tuple[list[check.Candidate], dict[str, str]]:
    """Every step and every target that can run here, and why the others cannot.

    Args:
        forms: of the kernel.
        target: the one whose schedule's steps are meant.
    """
    found = []
    steps = forms.schedule(target).steps
    for number, step in enumerate(steps, 1):
        taken = steps[:number]  # a call may have to run without them
        after = partial(_program_after, step)
        made = forms.specializer_of(after, "python", taken)
        runner = _runner(forms, partial(_same, made))
        is_equal = getattr(step.proof, "kind", None) == "equal"
        is_exact = is_equal and not forms.program.reassociated
        found.append(check.Candidate(f"step {number}: {step.call}", runner, is_exact))
    skipped = {}
    for each in TARGETS:
        reason = compiling.why_not(each)
        if reason is None:
            runner = _runner(forms, partial(forms.specializer, each))
            label = f"target {each}"
            found.append(check.Candidate(label, runner, False, optional=each != target))
        else:
            skipped[f"target {each}"] = reason
    return found, skipped


def _runner(forms: Forms, chosen: Callable[[Mapping[str, object]], Specializer]) -> check.Call:
    def run(values: Mapping[str, object]) -> object:
        specializer = chosen(values)
        checked = arguments.check(forms.uses, (), values, specializer.target)
        may_leave = forms.may_leave(checked, specializer.target)
        return specializer.launcher(checked.types, check_bounds=may_leave)(checked)

    return run


def _same(specializer: Specializer, values: Mapping[str, object]) -> Specializer:
    return specializer


def _program_after(step: Step) -> Program:
    return step.program
