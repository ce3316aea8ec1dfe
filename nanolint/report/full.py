"""For people: every finding with its source, its reasons and the fix that is offered."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.diagnostics import Diagnostic, Safety, Severity
from nanolint.report.excerpt import GUTTER_STYLE, excerpt, room_beside
from nanolint.report.minidiff import minidiff
from nanolint.source.text import LineIndex

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nanolint.diagnostics import Edit
    from nanolint.report.printer import Printer, Segment
    from nanolint.report.results import FileResult, Results

STYLES = {Severity.ERROR: "red", Severity.WARNING: "yellow", Severity.INFO: "cyan"}
INDENT = "  "

OFFERS = {
    Safety.SAFE: "--fix",
    Safety.UNSAFE: "--fix --unsafe-fixes",
    Safety.DISPLAY: "shown only",
}


def render(results: Results, printer: Printer) -> None:
    """Write all findings, file by file."""
    for file in results.files:
        lines = LineIndex(file.text)
        room = room_beside(len(str(lines.last_row)), printer.width)
        differences: dict[tuple[Edit, ...], list[list[Segment]]] = {}
        for diagnostic in file.diagnostics:
            _finding(diagnostic, file, lines, room, printer, verbose=results.verbose)
            if diagnostic.fix is not None:
                edits = diagnostic.fix.edits
                if edits not in differences:  # which several findings may share
                    differences[edits] = [*minidiff(file.text, lines, edits, room)]
                for segments in differences[edits]:
                    printer.line(*segments)
            printer.blank()


def _finding(
    diagnostic: Diagnostic,
    file: FileResult,
    lines: LineIndex,
    room: int,
    printer: Printer,
    *,
    verbose: bool,
) -> None:
    style = STYLES[diagnostic.severity]
    printer.paragraph(
        (f"{diagnostic.severity.value}[{diagnostic.code}]", f"bold {style}"),
        (": ", "bold"),
        text=diagnostic.message,
        indent=INDENT,
    )
    gutter = len(str(lines.last_row))
    for segments in excerpt(diagnostic, file.name, lines, style, room):
        printer.line(*segments)
    for kind, text in _remarks(diagnostic, verbose=verbose):
        head = f" {' ' * gutter} = "
        indent = " " * len(f"{head}{kind}: ")
        printer.paragraph((head, GUTTER_STYLE), (f"{kind}: ", "bold"), text=text, indent=indent)


def _remarks(diagnostic: Diagnostic, *, verbose: bool) -> Iterator[tuple[str, str]]:
    """What stands below the excerpt, each with its kind: the remedy last, beside its difference."""
    if diagnostic.gpu is not None and diagnostic.gpu not in diagnostic.message:
        yield "gpu", diagnostic.gpu
    for note in (*diagnostic.notes, *(diagnostic.details if verbose else ())):
        yield "note", note
    fix = diagnostic.fix
    if fix is not None:
        yield "help", f"{diagnostic.remedy or fix.title} ({OFFERS[fix.safety]})"
    elif diagnostic.remedy:
        yield "help", diagnostic.remedy
