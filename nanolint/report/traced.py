"""A traced run for people and as JSON: what was traced, where the memory goes, whether it fits, and
how good the profile is that was made of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nanolint.report.explain import budget, card, failure
from nanolint.report.explain.budget import OUTCOMES
from nanolint.report.explanation import gpu_json, oom_json
from nanolint.report.printer import printable
from nanolint.tape.tape import summits
from nanolint.units import MIB, format_bytes, listed
from nanolint.verdict.replay import replay_tape
from nanolint.verdict.timed import padding
from nanolint.verdict.verdict import Outcome

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from nanolint.report.printer import Printer
    from nanolint.run.profile import Profile
    from nanolint.trace.traced import Traced
    from nanolint.trace.verdict import TracedVerdict
    from nanolint.verdict.replay import Replay

NO_TERMINAL, WIDEST = 80, 100  # columns
MOST_PRINTED = 8  # lines, of what the script printed
MOST_LISTED = 4  # files, of what was not written


def render(
    command: str, traced: Traced, verdicts: Sequence[TracedVerdict], world: int, printer: Printer
) -> None:
    """Write the account of a trace, and the verdict on each machine."""
    width = min(printer.width or NO_TERMINAL, WIDEST)
    printer.line((printable(command), "bold underline"))
    printer.blank()
    _account(traced, printer)
    printer.blank()
    budget.render(_replay(traced, verdicts), printer, width)
    for verdict in verdicts:
        printer.blank()
        card.account(verdict, world, printer, sure=not doubts(traced))
        if verdict.outcome is not Outcome.COMFORTABLE and verdict.oom is not None:
            printer.blank()
            failure.error(verdict.oom, printer, width)
    if not verdicts:
        printer.blank()
        printer.line(("No target GPU", "bold"), ": name one with --gpu rtx-4070 for a verdict")


def _replay(traced: Traced, verdicts: Sequence[TracedVerdict]) -> Replay:
    return verdicts[0].replay if verdicts else replay_tape(traced.tape)


def _account(traced: Traced, printer: Printer) -> None:
    """How it was traced, and what did not happen as in a real run."""
    torch, (major, minor) = printable(traced.torch), traced.capability
    printer.line(
        ("Traced", "bold"),
        f" with torch {torch} on a pretended card of compute capability {major}.{minor}",
    )
    printer.line(
        f"  {traced.steps} optimizer step{'s' * (traced.steps != 1)}, {traced.seconds:.0f} s, "
        f"{traced.host_bytes // MIB:,} MiB of host memory"
    )
    printer.line(
        f"  PyTorch's own figures: {format_bytes(traced.allocated_bytes)} allocated, "
        f"{format_bytes(traced.reserved_bytes)} reserved at most"
    )
    for text in doubts(traced):
        printer.line(("  not certain: ", "yellow"), printable(text))
    for title, texts in (
        ("stood in for", traced.invented),
        ("not written", traced.skipped),
        ("thrown away", traced.written),
    ):
        for text in texts[:MOST_LISTED]:
            printer.line((f"  {title}: {printable(text)}", "dim"))
        if len(texts) > MOST_LISTED:
            printer.line((f"  {title}: {len(texts) - MOST_LISTED} more", "dim"))
    for text in traced.printed.splitlines()[-MOST_PRINTED:]:
        printer.line((f"  printed: {printable(text)}", "dim"))


def tried(rows: Sequence[tuple[str, Traced, TracedVerdict | None]], printer: Printer) -> None:
    """Write what each changed run reserves at most, and its verdict where there is a machine."""
    printer.blank()
    printer.line(("Traced with other values", "bold"))
    width = max(len(name) for name, _, _ in rows)
    for name, traced, verdict in rows:
        reserved = verdict.reserved_bytes if verdict else traced.reserved_bytes
        word, style = OUTCOMES[verdict.outcome] if verdict else ("", "")
        amount = f"{format_bytes(reserved):>10} reserved  "
        printer.line(f"  {printable(name):<{width}}  {amount}", (word, style))


def doubts(traced: Traced) -> list[str]:
    """What may make the real run another one."""
    found = []
    if traced.failure is not None:
        failure = traced.failure
        where = f" at {failure.place}" if failure.place else ""
        end = "its end" if failure.kind == "SystemExit" else f"{failure.kind}{where}"
        found.append(f"the script came to {end} after {traced.steps} optimizer steps")
    if traced.steps < 2:
        found.append("no second optimizer step: the optimizer's state comes with the first")
    if traced.indices:
        where = ", ".join(traced.indices[:MOST_LISTED])
        found.append(
            f"an index depends on a value on the card, and these are all 0 in a trace ({where})"
        )
    if traced.unpadded:
        m, k, n = traced.unpadded[0]
        others = f" and {len(traced.unpadded) - 1} more" if len(traced.unpadded) > 1 else ""
        found.append(
            f"torch.compile may pad the product [{m:,}, {k:,}] x [{k:,}, {n:,}]{others}: "
            f"up to {format_bytes(padding(traced.tape))} more than in this trace"
        )
    return [*found, *traced.doubts]


def as_json(command: str, traced: Traced, verdict: TracedVerdict | None) -> dict[str, Any]:
    """The object that ``--format json`` prints: explain's, as far as a trace knows it."""
    replay = _replay(traced, [verdict] if verdict else [])
    tops = summits(traced.tape, len(traced.tape.events))
    return {
        "command": command,
        "trust": "traced",
        "doubts": doubts(traced),
        "torch": traced.torch,
        "gpu": gpu_json(verdict.target, verdict.usable_bytes) if verdict else None,
        "peak": {
            "allocated_bytes": replay.peak.allocated_bytes,
            "reserved_bytes": replay.peak.reserved_bytes,
            "context_bytes": verdict.overhead_bytes if verdict else None,
            "process_bytes": verdict.process_bytes if verdict else None,
            "phase": replay.peak.phase.value,
            "at": replay.peak.at,
        },
        "phases": [
            {"name": phase.value, "allocated_bytes": tops[phase][0],
             "at": traced.tape.names[traced.tape.events[tops[phase][1]]]}
            for phase, _ in replay.phases
        ],
        "components": {component.value: nbytes for component, nbytes in replay.components},
        "largest_allocation": {"name": replay.largest.name, "bytes": replay.largest.nbytes},
        "fits": verdict.fits if verdict else None,
        "oom": oom_json(verdict.oom) if verdict and verdict.oom else None,
        "max_memory_allocated": traced.allocated_bytes,
        "max_memory_reserved": traced.reserved_bytes,
        "steps": traced.steps,
        "seconds": traced.seconds,
        "host_bytes": traced.host_bytes,
        "modules": list(traced.modules),
        "invented": list(traced.invented),
        "not_written": [*traced.skipped, *traced.written],
    }  # fmt: skip


def progress(phase: str, step: int) -> str:
    """One line while it runs."""
    return printable(f"tracing: step {step}, {phase.replace('_', ' ')}")


def written(path: Path, profile: Profile, printer: Printer, *, complete: bool) -> None:
    """Write the account of a profile that was written to ``path``."""
    traces = sum(len(each.traced) for each in profile.regimes)
    printer.line(("Wrote", "bold"), f" {printable(str(path))}: {traces} traces")
    for steps in sorted({each.micro_steps for each in profile.regimes}):
        known = listed(_range(*each) for each in profile.ranges(steps))
        times = f"{steps} micro-step{'s' * (steps > 1)}"
        printer.line(f"  {times}: micro-batches {known}")
    if not complete:
        printer.line(
            ("  not complete: ", "yellow"), "sizes between these are not known; raise --most-traces"
        )
    worst = max(profile.held_out, key=lambda each: abs(each.reserved_bytes), default=None)
    if worst is None:
        printer.line("  no micro-batch was left to hold out")
    elif profile.error_per_mille == 0:
        printer.line(f"  {len(profile.held_out)} held out, each exact to the byte")
    else:
        printer.line(
            f"  {len(profile.held_out)} held out, off by up to {profile.error_per_mille / 10} %: "
            f"{format_bytes(abs(worst.reserved_bytes))} reserved at {worst.batch_size}"
        )
    printer.line(f"  of {listed(profile.files)}, torch {profile.torch}")


def _range(low: int, high: int) -> str:
    return str(low) if low == high else f"{low} to {high}"
