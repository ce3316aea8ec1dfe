"""The whole explanation of one config, a section at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.memory.verdict.replay import replay
from nanolint.report.explain import budget, card, described, failure, settings, speed
from nanolint.report.explain.log_lines import log_lines
from nanolint.report.explain.words import judged
from nanolint.report.printer import printable
from nanolint.report.runs import trace_hint

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nanolint.report.printer import Printer
    from nanolint.rule.case import Case
    from nanolint.run.settled import Resolution
    from nanolint.source.text import LineIndex

NO_TERMINAL = 80  # columns, where there is no terminal to ask
WIDEST = 100


def render(name: str, cases: Sequence[Case], lines: LineIndex, printer: Printer) -> None:
    """Write the explanation of the file called ``name``, for each of its cases."""
    width = width_of(printer)
    shown: Resolution | None = None
    for case in cases:
        if shown is None:
            printer.line((printable(name), "bold underline"))
        else:
            printer.blank()
        if (answer := judged(case)) is not None:
            printer.line(answer)
        if shown is None or not _same(shown, case.resolution):
            shown = case.resolution
            printer.blank()
            if shown.described is not None:
                described.render(shown.described, printer, shown.run)
            else:
                settings.render(case, lines, printer)
            _log(case, printer, width)
        if case is cases[0]:
            _doubts(case, printer)
        printer.blank()
        _memory(name, case, printer, width)


def width_of(printer: Printer) -> int:
    """The columns that a screen may take."""
    return min(printer.width or NO_TERMINAL, WIDEST)


def _log(case: Case, printer: Printer, width: int) -> None:
    if case.run is None:
        return
    gpu = case.target.gpu if case.target is not None else None
    who, lines = log_lines(case.run, gpu)
    if not lines:
        return
    printer.blank()
    printer.line((f"{who} will print", "bold"))
    for line in lines:
        text = f"  {line}"
        printer.line(text if len(text) <= width else f"{text[: width - 3]}...")


def _doubts(case: Case, printer: Printer) -> None:
    if case.resolution.provenance is not None:
        printer.line((printable(case.resolution.provenance), "bold"))
    for left in case.resolution.left_open:
        printer.paragraph("left open: ", text=left, indent="  ")
    for doubt in case.resolution.doubts:
        printer.paragraph(("in doubt: ", "yellow"), text=str(doubt), indent="  ")


def _memory(name: str, case: Case, printer: Printer, width: int) -> None:
    run, verdict = case.run, case.verdict
    if run is None:
        printer.line(("Memory cannot be checked", "bold yellow"))
        for unresolved in case.resolution.unresolved:
            printer.paragraph(f"  {unresolved.words}: ", text=unresolved.reason, indent="    ")
        if not any(each.impossible or each.untraced for each in case.resolution.unresolved):
            script = name if case.resolution.described is not None else None
            printer.line(f"  {trace_hint(script and printable(script))}")
    elif not run.on_gpu:
        printer.line(f"device = {run.device!r}: nothing is allocated on a GPU")
    elif verdict is None:
        budget.render(replay(run), printer, width)
        printer.blank()
        printer.line(("No target GPU", "bold"), ": name one with --gpu rtx-4070 for a verdict")
    else:
        budget.render(verdict.replay, printer, width)
        printer.blank()
        card.render(case, verdict, printer)
        failure.render(case, verdict, printer, width)
        steps = run.max_iters if case.resolution.described is None else 0
        speed.render(run, verdict.target, printer, steps=steps)


def _same(one: Resolution, other: Resolution) -> bool:
    """Whether two targets resolve to the same values, so that one table tells both."""
    return one.run == other.run and one.settings == other.settings
