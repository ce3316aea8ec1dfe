"""What was judged at all: below the findings, so that no silence is taken for a verdict."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, TypeAlias

from nanolint.diagnostics import Severity
from nanolint.linting.judged import NAME_YOURS, NO_CARD, STOPS, Brief, JudgedRun
from nanolint.report.printer import printable
from nanolint.run.trust import Trust

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nanolint.diagnostics import Diagnostic
    from nanolint.report.printer import Printer
    from nanolint.report.results import FileResult

READING = "NL0"  # how the codes of rules about reading begin
MOST_REASONS = 3  # that are given unless asked for more
MOST_ROWS = 20  # of the table of runs, unless asked for more
STYLES = {"fits": "green", "barely fits": "yellow", "does not fit": "red", "stops": "red"}

_SET = re.compile(r"--set [\w.-]+=[^\s;,)]+")

Row: TypeAlias = "tuple[FileResult, JudgedRun, Brief]"


def render(files: Sequence[FileResult], printer: Printer, *, verbose: bool = False) -> None:
    """Write how many runs of ``files`` were judged, doubted and not judged.

    Nothing is written if all there is to say is that one run was judged, and not doubted.
    """
    holding = [file for file in files if file.runs]
    waiting = [file for file in files if file.trains]
    _reasons(files, printer, verbose=verbose)
    if not holding:
        told = any(
            each.trains or each.is_launch or each.no_run or each.diagnostics for each in files
        )
        why = f": {_without_runs(len(files))}; name a file to see why" if files and not told else ""
        printer.line(("No run was checked", "bold yellow"), f"{why}.")
        return
    unknown = sum(all(run.is_unknown for run in file.runs) for file in holding)
    doubted = sum(any(_is_doubted(run) for run in file.runs) for file in holding)
    known = len(holding) - unknown
    unknown += len(waiting)
    others = sum(not (file.runs or file.is_launch or file.trains) for file in files)
    asked = [run for file in holding for run in file.runs if not run.is_unknown]
    cards = dict.fromkeys(run.gpu for file in holding for run in file.runs if run.gpu)
    if cards and known and all(run.fits is None for run in asked):
        return  # nobody asked whether the runs fit
    if len(holding) == 1 and not (others or unknown) and (not doubted or not cards):
        return
    parts = []
    if known:
        on = f"for {', '.join(cards)}" if cards else "without a card"
        among = f", {_of(doubted, known)}doubted" if doubted else ""
        parts.append(f"{_number(known, 'run')} checked {on}{among}")
    if unknown:
        parts.append(f"{unknown if known else _number(unknown, 'run')} not checked")
    if others:
        parts.append(_without_runs(others))
    printer.line(f"{'; '.join(parts)}.")


def rows_of(files: Sequence[FileResult]) -> list[Row]:
    """Returns each run of which the answer is known."""
    return [(file, run, run.brief) for file in files for run in file.runs if run.brief]


def answers(
    files: Sequence[FileResult], printer: Printer, *, verbose: bool = False, told: bool = False
) -> None:
    """Write the answer for each run of which it is known in bytes: a line, or a table a card.

    Of more than ``MOST_ROWS`` runs nothing is written, unless ``verbose``. ``told``: that for a
    single run stands above.
    """
    rows = rows_of(files)
    if len(rows) == 1:
        if not told and headed(files) is None:
            answer(*rows[0], printer)
    elif len(rows) <= MOST_ROWS or verbose:
        names = max((len(printable(file.run_name)) for file, _, _ in rows), default=0)
        for card in dict.fromkeys(run.gpu for _, run, _ in rows):
            _table(card, [row for row in rows if row[1].gpu == card], names, printer)


def answer(file: FileResult, run: JudgedRun, brief: Brief, printer: Printer) -> None:
    """Write the answer for a run in a line."""
    if brief.outcome == STOPS:
        return  # which a finding says
    more = f"; {run.way_out}" if run.way_out else ""
    if run.gpu is None and brief.outcome != NO_CARD:
        more += f"; {NAME_YOURS}"
    printer.paragraph(text=f"{file.run_name}: {brief.headline}{more}", indent="  ")


def headed(files: Sequence[FileResult]) -> Diagnostic | None:
    """Returns the finding that is the verdict on the only run of ``files``, if there is one."""
    rows = rows_of(files)
    if len(rows) != 1:
        return None
    brief = rows[0][2]
    found = (each for file in files for each in file.diagnostics)
    return next((each for each in found if brief.headline in (each.message, each.code)), None)


def _table(card: str | None, rows: Sequence[Row], names: int, printer: Printer) -> None:
    """Write a row for each run on one card."""
    columns = list(zip(*(_cells(run, brief) for _, run, brief in rows), strict=True))
    widths = [max(map(len, column)) for column in columns]
    if printer.width is not None:  # a longer name has a line to itself
        names = max(0, min(names, printer.width - sum(widths) - 8))
    total = next((brief.total for _, _, brief in rows if brief.total), NAME_YOURS)
    printer.line((card or "no card is named", "bold"), f" ({total})" if card else f": {total}")
    for file, run, brief in rows:
        name, (outcome, takes, margin) = printable(file.run_name), _cells(run, brief)
        if len(name) > names:
            printer.line(f"  {name}")
            name = ""
        printer.line(
            f"  {name:<{names}}  ",
            (f"{outcome:<{widths[0]}}", STYLES.get(outcome, "")),
            f"  {takes:>{widths[1]}}  {margin}".rstrip(),
        )


def _cells(run: JudgedRun, brief: Brief) -> tuple[str, str, str]:
    """Returns what a row says of a run: ``fits``, ``10.7 GiB``, ``1.0 to spare, in doubt``."""
    doubt = ", not certain" if _is_doubted(run) else ""
    if run.gpu is None and brief.outcome != STOPS:
        return "needs", brief.takes, f"{brief.outcome}{doubt}"
    return brief.outcome, brief.takes, f"{brief.margin}{doubt}"


def _is_doubted(run: JudgedRun) -> bool:
    return run.trust == Trust.DOUBTED and bool(run.doubts)


def _of(count: int, total: int) -> str:
    if count < total:
        return f"{count} of them "
    return "all " if total > 1 else ""


def _reasons(files: Sequence[FileResult], printer: Printer, *, verbose: bool) -> None:
    """Write why runs are not known, and why files that were named hold none."""
    reasons = []
    for file in files:
        unknown = _unknown(file)
        if file.no_run is not None:
            reasons.append((file.name, *_without_run(file, file.no_run)))
        elif unknown is not None:
            settles = f"; {unknown.way_out}" if unknown.way_out else ""
            reasons.append((file.run_name, "Not checked: ", f"{unknown.doubts[0]}{settles}"))
    reasons = list(dict.fromkeys(reasons))  # runs of one file may have one reason
    shown = reasons if verbose else reasons[:MOST_REASONS]
    for name, head, why in shown:
        printer.paragraph((head, "yellow"), text=f"{name}: {why}", indent="  ")
    if len(reasons) > len(shown):
        printer.line(
            f"{_number(len(reasons) - len(shown), 'more file')} like these (-v lists them)"
        )


def _without_run(file: FileResult, why: str) -> tuple[str, str]:
    """Returns how to say that a file holds no run, and what settles it if it trains."""
    if not file.trains:
        return "No run in ", why
    asked = dict.fromkeys(_SET.findall(why))
    if asked:
        return "Not checked: ", f"needs {' '.join(asked)}: {why}"
    trace = f"nanolint trace -- python {file.name} ..."
    return "Not checked: ", f"{why}; `{trace}` gives a number"


def _unknown(file: FileResult) -> JudgedRun | None:
    """Returns a run of a file of which no run is known, unless a finding says why: that something
    cannot be read, or that the script fails."""
    if not all(run.is_unknown for run in file.runs):
        return None
    if any(found.code.startswith(READING) or _fails(found) for found in file.diagnostics):
        return None
    return next(iter(file.runs), None)


def _fails(found: Diagnostic) -> bool:
    return found.severity is Severity.ERROR


def _without_runs(count: int) -> str:
    return f"{_number(count, 'file')} {'hold' if count > 1 else 'holds'} no run"


def _number(count: int, word: str) -> str:
    return f"{count} {word}{'s' if count != 1 else ''}"
