"""What was judged at all: below the findings, so that no silence is taken for a verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.diagnostics import Severity
from nanolint.report.printer import printable
from nanolint.run.trust import Trust

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nanolint.diagnostics import Diagnostic
    from nanolint.linting.judged import JudgedRun
    from nanolint.report.printer import Printer
    from nanolint.report.results import FileResult

READING = "NL0"  # how the codes of rules about reading begin
MOST_REASONS = 3  # that are given unless asked for more
MOST_ROWS = 20  # of the table of runs, unless asked for more
STYLES = {"fits": "green", "barely fits": "yellow", "does not fit": "red"}


def trace_hint(script: str | None = None) -> str:
    """How to have a number of what cannot be read."""
    return f"Tracing gives a number: nanolint trace -- python {script or 'train.py'} ..."


def render(files: Sequence[FileResult], printer: Printer, *, verbose: bool = False) -> None:
    """Write how many runs of ``files`` were judged, doubted and not judged.

    Nothing is written where all there is to say is that one run was judged, and not doubted.
    """
    holding = [file for file in files if file.runs]
    _reasons(files, printer, all_trainers=not holding, verbose=verbose)
    if not holding:
        without = [file.name for file in files if file.no_run is not None]
        one = without[0] if len(files) == 1 and without[:1] and without[0].endswith(".py") else None
        hint = f" {trace_hint(one and printable(one))}" if without else ""
        printer.paragraph(("No run was checked.", "bold yellow"), text=hint, indent="  ")
        return
    unknown = sum(all(run.trust == Trust.UNKNOWN for run in file.runs) for file in holding)
    doubted = sum(any(run.trust == Trust.DOUBTED for run in file.runs) for file in holding)
    others = len([file for file in files if not file.runs and not file.is_launch])
    known = len(holding) - unknown
    fits = [run.fits for file in holding for run in file.runs if run.trust != Trust.UNKNOWN]
    cards = dict.fromkeys(run.gpu for file in holding for run in file.runs if run.gpu)
    if known and cards and all(each is None for each in fits):
        return  # nobody asked whether the runs fit
    if len(holding) == 1 and not others and not doubted and not unknown and cards:
        return
    parts = []
    if not cards:
        waiting = sum(any(run.fits is None for run in file.runs) for file in holding)
        if not waiting and not others and len(holding) == 1:
            return  # on no GPU, and none is needed
        if waiting:
            parts.append(f"{_number(waiting, 'run')}, memory not checked: no target GPU")
        if waiting < len(holding):
            parts.append(f"{_number(len(holding) - waiting, 'run')} checked, on no GPU")
    else:
        if known:
            among = f", {_of(doubted, known)}in doubt" if doubted else ""
            parts.append(f"{_number(known, 'run')} checked for {', '.join(cards)}{among}")
        if unknown:
            parts.append(f"{_number(unknown, 'run') if not known else unknown} not checked")
    if others:
        parts.append(f"{_number(others, 'file')} {'hold' if others > 1 else 'holds'} no run")
    printer.line(f"{'; '.join(parts)}.")


def answers(files: Sequence[FileResult], printer: Printer, *, verbose: bool = False) -> None:
    """Write the answer for each run of which it is known in bytes: a line, or a table a card.

    Of more than ``MOST_ROWS`` runs nothing is written, unless ``verbose``.

    A single run that does not fit has its answer above, in the finding.
    """
    rows = [(file, run, run.brief) for file in files for run in file.runs if run.brief]
    if len(rows) > MOST_ROWS and not verbose:
        return
    if len(rows) == 1:
        file, run, brief = rows[0]
        if not any(brief.headline == found.message for each in files for found in each.diagnostics):
            printer.line(f"{printable(file.name)}: {brief.headline}{_doubted(run)}")
        return
    names = max((len(printable(file.name)) for file, _, _ in rows), default=0)
    outcomes = max((len(brief.outcome) for _, _, brief in rows), default=0)
    sizes = max((len(brief.margin.partition(" ")[0]) for _, _, brief in rows), default=0)
    takes = max((len(brief.takes) for _, _, brief in rows), default=0)
    margins = max((len(f"{brief.margin}{_doubted(run)}") for _, run, brief in rows), default=0)
    if printer.width is not None:  # a longer name has a line to itself
        names = max(0, min(names, printer.width - outcomes - takes - margins - 8))
    for card, total in dict.fromkeys((run.gpu, brief.total) for _, run, brief in rows):
        printer.line((f"{card}", "bold"), f" ({total})")
        for file, run, brief in rows:
            if (run.gpu, brief.total) != (card, total):
                continue
            name, (size, _, word) = printable(file.name), brief.margin.partition(" ")
            if len(name) > names:
                printer.line(f"  {name}")
                name = ""
            printer.line(
                f"  {name:<{names}}  ",
                (f"{brief.outcome:<{outcomes}}", STYLES[brief.outcome]),
                f"  {brief.takes:>{takes}}  {size:>{sizes}} {word}{_doubted(run)}",
            )


def _doubted(run: JudgedRun) -> str:
    return ", in doubt" if run.trust == Trust.DOUBTED else ""


def _of(count: int, total: int) -> str:
    if count < total:
        return f"{count} of them "
    return "all " if total > 1 else ""


def _reasons(
    files: Sequence[FileResult], printer: Printer, *, all_trainers: bool, verbose: bool
) -> None:
    """Why files that were named hold no run, and why runs of which nothing is said are not judged.

    ``all_trainers``: so of training scripts that nobody named.
    """
    reasons = []
    for file in files:
        unknown = _unknown(file)
        if file.no_run is not None and (file.named or all_trainers):
            reasons.append(("No run in", file.name, file.no_run))
        elif unknown is not None:
            reasons.append(("Not checked:", file.name, unknown))
    reasons = list(dict.fromkeys(reasons))  # runs of one file may have one reason
    shown = reasons if verbose else reasons[:MOST_REASONS]
    for head, name, why in shown:
        printer.paragraph((f"{head} ", "yellow"), text=f"{name}: {why}", indent="  ")
    if len(reasons) > len(shown):
        printer.line(
            f"{_number(len(reasons) - len(shown), 'more file')} like these (-v lists them)"
        )


def _unknown(file: FileResult) -> str | None:
    """Why no run of ``file`` is known, unless a finding says so: that something cannot be read, or
    that the script fails."""
    if any(run.trust != Trust.UNKNOWN for run in file.runs):
        return None
    if any(found.code.startswith(READING) or _fails(found) for found in file.diagnostics):
        return None
    return next((run.doubts[0] for run in file.runs), None)


def _fails(found: Diagnostic) -> bool:
    return found.severity is Severity.ERROR


def _number(count: int, word: str) -> str:
    return f"{count} {word}{'s' if count != 1 else ''}"
