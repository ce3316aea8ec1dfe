"""Where the memory goes: what is live at the peak, and how high each phase rises."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.report.explain.bars import Bars
from nanolint.report.explain.words import COMPONENTS, PHASES, SPLIT
from nanolint.units import format_bytes

if TYPE_CHECKING:
    from nanolint.report.printer import Printer
    from nanolint.verdict.replay import Replay

LABEL = 20  # cells
AMOUNT = 10
BAR_LIMITS = (10, 40)


def render(replay: Replay, printer: Printer, width: int) -> None:
    """Write a bar per component at the peak, and one per phase."""
    peak = replay.peak
    bars = Bars(printer.stream, _cells(width))
    printer.line(("At the peak", "bold"), f", in {peak.phase.within}")
    printer.line(f"  at: {peak.at}")
    live = sorted(replay.components, key=lambda component: -component[1])
    for component, nbytes in live:
        if nbytes:
            share = f"{100 * nbytes / peak.allocated_bytes:5.1f} %"
            bar = bars.draw(nbytes, peak.allocated_bytes)
            _line(printer, COMPONENTS[component], bar, "cyan", nbytes, share)
    _line(printer, "allocated", " " * _cells(width), "", peak.allocated_bytes, "100.0 %")
    printer.blank()
    printer.line(("The most that each phase allocates", "bold"))
    for phase, nbytes in replay.phases:
        if phase in replay.split:
            printer.line(f"  {PHASES[phase]:<{LABEL}}{SPLIT}")
            continue
        mark = "  <- peak" if phase is peak.phase else ""
        bar = bars.draw(nbytes, peak.allocated_bytes)
        _line(printer, PHASES[phase], bar, "magenta", nbytes, mark)


def _line(printer: Printer, label: str, bar: str, style: str, nbytes: int, remark: str) -> None:
    amount = f" {format_bytes(nbytes):>{AMOUNT}}"
    printer.line(f"  {label:<{LABEL}}", (bar, style), f"{amount}  {remark}".rstrip())


def _cells(width: int) -> int:
    """What is left for a bar beside its label, its amount and a remark."""
    least, most = BAR_LIMITS
    return max(least, min(most, width - LABEL - AMOUNT - 2 - 12))
