"""Which micro-batch fits which card: the table of ``nanolint fit``, and its JSON."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from nanolint.frozen import dataclass
from nanolint.report.printer import printable
from nanolint.run.trust import least, ordered
from nanolint.verdict.speed import LEAST_PERCENT, MOST_PERCENT, speed
from nanolint.verdict.words import amount, room

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nanolint.gpus.gpu import Machine
    from nanolint.report.printer import Printer
    from nanolint.run.run import Run
    from nanolint.run.settled import Resolution
    from nanolint.run.trust import Doubt
    from nanolint.verdict.search import Fit

_LINE = re.compile(r":\d+(?=\))")  # in a place within a doubt
MICRO_BATCH, ACCUMULATION = "batch_size", "accumulation"


@dataclass(frozen=True, slots=True)
class Row:
    """One card. ``resolution`` is the config on it; ``fit`` is None where none fits.

    ``asked`` marks a card that the user or the settings named.
    """

    target: Machine
    resolution: Resolution
    fit: Fit | None
    asked: bool

    @property
    def run(self) -> Run | None:
        """The run as the file has it, None where it is not known."""
        return self.resolution.run


def as_json(name: str, rows: Sequence[Row]) -> dict[str, Any]:
    """The object that ``--format json`` prints. Sizes are bytes."""
    return {
        "file": name,
        "trust": least(row.resolution.trust for row in rows),
        "doubts": [str(doubt) for doubt in _doubts(rows)],
        "cards": [_card(row) for row in rows],
    }


def _doubts(rows: Sequence[Row]) -> tuple[Doubt, ...]:
    """Each once, where two cards have it of two lines of a file."""
    found: dict[tuple[object, ...], Doubt] = {}
    for doubt in (each for row in rows for each in row.resolution.doubts):
        found.setdefault((doubt.subject, _LINE.sub("", doubt.text), doubt.path), doubt)
    return ordered(found.values())


def _card(row: Row) -> dict[str, Any]:
    gpu, fit = row.target.gpu, row.fit
    return {
        "gpu": row.target.label,
        "total_bytes": gpu.total_bytes,
        "in_use_bytes": row.target.in_use_bytes,
        "dtype": row.run.dtype if row.run else None,
        "effective_batch_size": row.run.effective_batch_size if row.run else None,
        "fit": None
        if fit is None
        else {
            "batch_size": fit.run.batch_size,
            "gradient_accumulation_steps": fit.run.gradient_accumulation_steps,
            "eval_iters": fit.run.eval_iters,
            "allocated_bytes": fit.verdict.replay.peak.allocated_bytes,
            "process_bytes": fit.verdict.process_bytes,
            "margin_bytes": fit.verdict.margin_bytes,
            "tokens_per_second": _pace(row, fit),
        },
    }


def _pace(row: Row, fit: Fit) -> list[int] | None:
    """The least and the most, under the assumption that the text names."""
    found = speed(fit.run, row.target)
    return None if found is None else list(found.tokens_per_second)


def render(name: str, rows: Sequence[Row], printer: Printer) -> None:
    """Write the table."""
    run = next(row.run for row in rows if row.run)
    widest = max(len(row.target.label) for row in rows)
    equation = next(row.resolution.equation for row in rows if row.run)
    if run.eval_only:
        kept = f"{run.batch_size * run.eval_iters:,} sequences evaluated"
    elif equation is not None:
        kept = f"{equation.tokens_per_step():,} tokens a step kept"
    else:
        kept = f"effective batch {run.effective_batch_size:,} kept"
    printer.line((printable(name), "bold"))
    printer.line(f"the largest micro-batch that fits comfortably, {kept}")
    for doubt in _doubts(rows):
        printer.paragraph(("not certain: ", "yellow"), text=str(doubt), indent="  ")
    factor = None if equation is None else equation.factor
    batch = printable(factor.key) if factor is not None else MICRO_BATCH
    column = max(len(batch), len(MICRO_BATCH))
    steps = "eval_iters" if run.eval_only else ACCUMULATION
    ends = f"{'process':>9} {'to spare':>9} {'tokens/s':>9}"
    line = f" {'total':>9} {batch:>{column}} {steps:>12}  {ends}"
    printer.line((f"  {'':<{widest}}{line}".rstrip(), "dim"))
    for row in rows:
        style = "bold" if row.asked else ""
        total = amount(row.target.gpu.total_bytes)
        label = (f"{row.target.label:<{widest}}", style)
        printer.line("  ", label, f" {total:>9} ", _format_row(row, column))
    if any(row.fit and row.fit.is_own for row in rows):
        printer.line(("  * the value of the file", "dim"))
    if any(row.fit and speed(row.fit.run, row.target) for row in rows):
        text = f"tokens/s: assumed, {LEAST_PERCENT} to {MOST_PERCENT} % of the card's peak"
        printer.line((f"  {text}", "dim"))
    lacking = [row.target.label for row in rows if row.resolution.in_float16]
    if lacking:
        cards = ", ".join(lacking)
        printer.line((f"  counted in float16, without bfloat16 (NL203): {cards}", "yellow"))


def _format_row(row: Row, column: int) -> tuple[str, str]:
    fit = row.fit
    if fit is None:
        return f"{'no run' if row.run is None else 'none fits':>{column}}", "red"
    run = fit.run
    own = "*" if fit.is_own else " "
    # nanoGPT's key counts the passes of all processes; a script's own loop those of one.
    own_loop = row.resolution.equation is not None
    passes = run.micro_steps if own_loop else run.gradient_accumulation_steps
    steps = run.eval_iters if run.eval_only else passes
    amounts = f"{amount(fit.verdict.process_bytes):>9} {room(fit.verdict):>9}"
    found = speed(run, row.target)
    pace = "" if found is None else "-".join(map(_short, found.tokens_per_second))
    return f"{run.batch_size:>{column - 1}}{own} {steps:>12}  {amounts} {pace:>9}".rstrip(), ""


def _short(number: int) -> str:
    """``17k``, ``1.2M``, ``830``."""
    if number >= 10_000_000:
        return f"{number / 1_000_000:.0f}M"
    if number >= 1_000_000:
        return f"{number / 1_000_000:.1f}M"
    if number >= 10_000:
        return f"{number / 1000:.0f}k"
    return f"{number / 1000:.1f}k" if number >= 1000 else str(number)
