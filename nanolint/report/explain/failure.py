"""A run that does not fit: PyTorch's error, and every way out with its verdict."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from nanolint.report.explain.budget import OUTCOMES
from nanolint.verdict.search import step_floor_bytes
from nanolint.verdict.verdict import Outcome
from nanolint.verdict.words import amount

if TYPE_CHECKING:
    from nanolint.report.printer import Printer
    from nanolint.rule.case import Case
    from nanolint.verdict.changes import Alternative
    from nanolint.verdict.replay import OutOfMemory
    from nanolint.verdict.verdict import Verdict

CHANGE = 50  # cells


def render(case: Case, verdict: Verdict, printer: Printer, width: int) -> None:
    """Write the error, if there is one, and the ways out; nothing where all is well."""
    if verdict.outcome is Outcome.COMFORTABLE:
        return
    if verdict.oom is not None:
        printer.blank()
        error(verdict.oom, printer, width)
    printer.blank()
    ways_out(case, verdict, printer)


def error(oom: OutOfMemory, printer: Printer, width: int) -> None:
    """Write what PyTorch would say."""
    printer.line(("PyTorch would stop", "bold"), f" in {oom.phase.within}")
    printer.line(f"  at: {oom.at}")
    text = f"torch.OutOfMemoryError: {oom.message}"
    for line in textwrap.wrap(text, width - 2, break_on_hyphens=False):
        printer.line((f"  {line}", "red"))


def ways_out(
    case: Case, verdict: Verdict, printer: Printer, title: str = "What would help"
) -> None:
    """Write what would make the run fit, the cheapest first, and then what would not.

    Each way has what the process would then take, and how much less that is.
    """
    tried = case.ways_out
    ways = list(tried or ())
    helping = [way for way in ways if way.verdict.fits]
    heads = f"{'process':>{CHANGE + 13 - len(title)}}{'gain':>11}" if helping else ""
    printer.line((title, "bold"), (heads, "dim"))
    beside = next((way.beside for way in ways if way.beside), "")
    if helping and beside:
        printer.line(f"  with {beside}, which alone is not enough:")
    for cost in dict.fromkeys(way.cost for way in helping):
        printer.line((f"  {cost.value}", "dim"))
        for way in helping:
            if way.cost is cost:
                _way(way, verdict, printer)
    if not helping:
        printer.line("  nothing that was tried" + (f", even with {beside}" if beside else ""))
    if tried is not None and tried.is_under_floor:
        step = amount(step_floor_bytes(verdict.run, verdict.target.gpu))
        printer.line(f"  the optimizer step alone takes {step}, with any micro-batch")
    vain = [way for way in ways if not way.verdict.fits]
    if vain:
        printer.line(("  would not help", "dim"))
    for way in vain:
        printer.line(f"    {way.change:<{CHANGE}}{amount(way.verdict.process_bytes):>9}")


def _way(way: Alternative, verdict: Verdict, printer: Printer) -> None:
    word, style = OUTCOMES[way.verdict.outcome]
    gain = verdict.process_bytes - way.verdict.process_bytes
    gained = f"{amount(gain)}" if gain > 0 else ""
    printer.line(
        f"    {way.change:<{CHANGE}}{amount(way.verdict.process_bytes):>9}{gained:>11}  ",
        (word, style),
        (f"  {way.price}".rstrip(), "dim"),
    )
