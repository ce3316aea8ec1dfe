"""A run that does not fit: PyTorch's error, and every way out with its verdict."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from nanolint.memory.verdict.alternatives import Alternatives
from nanolint.memory.verdict.verdict import Outcome
from nanolint.report.explain.words import OUTCOMES
from nanolint.units import format_bytes

if TYPE_CHECKING:
    from nanolint.memory.verdict.replay import OutOfMemory
    from nanolint.memory.verdict.verdict import Verdict
    from nanolint.report.printer import Printer
    from nanolint.rule.context import Case

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
    told = f"torch.OutOfMemoryError: {oom.message}"
    for line in textwrap.wrap(told, width - 2, break_on_hyphens=False):
        printer.line((f"  {line}", "red"))


def ways_out(
    case: Case, verdict: Verdict, printer: Printer, title: str = "What would help"
) -> None:
    """Write each alternative with what the process would then need, and its verdict."""
    assert case.run is not None  # a verdict implies a run
    ways = Alternatives(case.run, verdict.target)
    printer.line((title, "bold"), f"{'process':>{CHANGE + 11 - len(title)}}")
    for way in ways:
        word, style = OUTCOMES[way.verdict.outcome]
        amount = format_bytes(way.verdict.process_bytes)
        printer.line(f"  {way.change:<{CHANGE}}{amount:>9}  ", (word, style))
