"""Workers that draw and check programs for a while, and what they count."""

from __future__ import annotations

import argparse
import multiprocessing
import queue
import random
import time
import traceback
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from astile.errors import AstileError
from astile.lower import work as lowering
from tests.fuzz import programs
from tests.fuzz.oracle import Failure, Taken, Unused, explore
from tests.fuzz.schedules import DRAWN
from tests.fuzz.shrink import as_test, shrink

#: A worker that says nothing for so long is stopped, and its program is printed.
_SILENCE = 240.0
#: How many failures of one kind are made small.
_SHRUNK = 2
#: How many examples of refusals that look too careful are kept for each code.
_EXAMPLES = 3


@dataclass
class Tally:
    """What was counted."""

    counts: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0
    primitives: Counter[tuple[str, bool]] = field(default_factory=Counter)
    pairs: Counter[tuple[str, str]] = field(default_factory=Counter)
    failures: dict[str, list[Failure]] = field(default_factory=dict)
    found: Counter[str] = field(default_factory=Counter)
    careful: dict[str, list[str]] = field(default_factory=dict)

    def add(self, other: Tally) -> None:
        self.counts += other.counts
        self.seconds += other.seconds
        self.primitives += other.primitives
        self.pairs += other.pairs
        self.found += other.found
        for key, failures in other.failures.items():
            self.failures[key] = (self.failures.get(key, []) + failures)[:_SHRUNK]
        for key, texts in other.careful.items():
            self.careful[key] = (self.careful.get(key, []) + texts)[:_EXAMPLES]

    def take(self, taken: list[Taken], text: str) -> None:
        """Count the steps of one schedule."""
        before = ""
        for each in taken:
            self.counts["steps"] += 1
            self.counts[each.outcome] += 1
            self.primitives[each.call.primitive, each.outcome == "accepted"] += 1
            if each.replayed is not None:
                self.counts[f"witness {each.replayed.verdict}"] += 1
            if each.careful is not None:
                seen = "other values" if each.careful else "no other values seen"
                self.counts[f"{each.outcome}, {seen}"] += 1
            if before:
                self.pairs[before, each.call.primitive] += 1
            self._keep_example(each, taken, text)
            if each.outcome == "accepted":
                before = each.call.primitive

    def _keep_example(self, each: Taken, taken: list[Taken], text: str) -> None:
        suspect = each.outcome in ("refuted", "unknown") and each.careful is False
        verdict = each.replayed.verdict if each.replayed is not None else ""
        if not suspect and verdict not in ("unordered", "invalid"):
            return
        key = f"{each.code} {each.call.primitive} {verdict}".strip()
        kept = self.careful.setdefault(key, [])
        if len(kept) < _EXAMPLES:
            calls = [str(e.call) for e in taken if e.outcome == "accepted"]
            where = each.replayed.reason if each.replayed is not None else ""
            kept.append("\n".join([text.strip(), *calls, f"{each.call}: {each.message} {where}"]))


def one(
    seed: str, tally: Tally, *, emulated: float, on_cpu: float = 0.0, most: int = 6
) -> Failure | None:
    """Draw and check the program and schedule of one seed.

    Args:
        seed: where they are drawn from.
        tally: where they are counted.
        emulated: share of programs whose CUDA text is emulated.
        on_cpu: share of programs that are compiled for the CPU and run.
        most: how many steps at most.
    """
    chance = random.Random(seed)
    source = programs.draw(chance)
    exact, emulate = chance.random() < 0.15, chance.random() < emulated
    compiles = random.Random(f"cpu {seed}").random() < on_cpu  # leaves other draws as they are
    try:
        taken, failure = explore(
            source, chance, exact=exact, emulated=emulate, on_cpu=compiles, most=most
        )
    except Unused:
        tally.counts["programs not used"] += 1
        return None
    except AstileError as error:
        tally.counts["programs not read"] += 1
        tally.counts[f"not read: {error.code}"] += 1
        return None
    tally.counts["programs"] += 1
    tally.counts["programs, exact"] += exact
    tally.counts["programs, emulated where they are kernels"] += emulate
    tally.counts["programs, compiled for the CPU"] += compiles
    tally.take(taken, source.text)
    return failure


def work(number: int, seed: int, until: float, options: argparse.Namespace, results: Any) -> None:
    """Check programs until the time is over, and send counts every few seconds."""
    lowering.FEW = 0  # small arrays run on several cores, as large ones do
    tally, shrunk, sent = Tally(), Counter[str](), time.monotonic()
    used = time.process_time()
    step = 0
    while time.time() < until:
        name = f"{seed}-{number}-{step}"
        step += 1
        if step % 8 == 1:
            results.put(("at", number, name))
        try:
            failure = one(
                name, tally, emulated=options.emulate, on_cpu=options.cpu, most=options.most
            )
        except Exception:
            tally.counts["faults of the fuzzer"] += 1
            results.put(("text", number, f"seed {name}\n{traceback.format_exc()}"))
            continue
        if failure is not None:
            tally.counts["steps"] += 1
            tally.found[failure.signature] += 1
            shrunk[failure.signature] += 1
            if shrunk[failure.signature] <= _SHRUNK:
                results.put(("at", number, f"{name} (made small)"))
                small = shrink(failure)
                tally.failures.setdefault(failure.signature, []).append(small)
                text = f"# seed {name}\n{as_test(small, shrunk[failure.signature])}\n"
                results.put(("text", number, f"{text}# {small.message}\n"))
        if time.monotonic() - sent > 5.0:
            tally.seconds, used = time.process_time() - used, time.process_time()
            results.put(("tally", number, tally))
            tally, sent = Tally(), time.monotonic()
    tally.seconds = time.process_time() - used
    results.put(("tally", number, tally))
    results.put(("end", number, ""))


def watch(options: argparse.Namespace) -> tuple[Tally, float]:
    """Run the workers, one for each core; what they counted, and their processor time in hours."""
    context = multiprocessing.get_context("spawn")
    results = context.Queue()
    until = time.time() + options.minutes * 60
    total, seeds = Tally(), dict.fromkeys(range(options.jobs), options.seed)
    alive: dict[int, Any] = {}
    heard: dict[int, tuple[float, str]] = {}

    def start(number: int) -> None:
        arguments = (number, seeds[number], until, options, results)
        alive[number] = context.Process(target=work, args=arguments, daemon=True)
        alive[number].start()
        heard[number] = (time.monotonic(), "the start")

    began = time.monotonic()
    for number in range(options.jobs):
        start(number)
    while alive:
        try:
            kind, number, value = results.get(timeout=1.0)
        except queue.Empty:
            kind = ""
        if kind:
            heard[number] = (time.monotonic(), value if kind == "at" else heard[number][1])
        if kind == "tally":
            total.add(value)
        elif kind == "text":
            print(value, flush=True)
        elif kind == "end":
            alive.pop(number).join()
        for number, worker in list(alive.items()):
            silent = time.monotonic() - heard[number][0] > _SILENCE
            if silent or (not worker.is_alive() and results.empty()):
                print(f"worker {number} stopped at seed {heard[number][1]}", flush=True)
                total.found["hang:worker" if silent else "crash:worker"] += 1
                worker.kill()
                worker.join()
                del alive[number]
                if time.time() < until:
                    seeds[number] += 1_000_003
                    start(number)
    return total, (time.monotonic() - began) / 3600


def report(total: Tally, hours: float) -> str:
    """What was found, as text."""
    steps = total.counts["steps"]
    lines = [
        f"{steps} steps checked, {steps / hours:,.0f} an hour; "
        f"{steps / max(total.seconds, 1e-9) * 3600:,.0f} an hour of processor time"
    ]
    lines += [f"  {key}: {count}" for key, count in sorted(total.counts.items()) if key != "steps"]
    shares = [
        f"{name} {total.primitives[name, True]}/{total.primitives[name, False]}" for name in DRAWN
    ]
    lines.append("  accepted/refused: " + ", ".join(shares))
    wanted = [(a, b) for a in DRAWN for b in DRAWN]
    seen = [total.pairs[pair] for pair in wanted]
    lines.append(
        f"  pairs of primitives seen: {sum(map(bool, seen))} of {len(wanted)}, least {min(seen)}"
    )
    lines.append(f"failures: {total.found.total()}")
    lines += [f"  {key}: {count}" for key, count in total.found.most_common()]
    return "\n".join(lines)
