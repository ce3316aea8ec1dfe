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
    Safety.SAFE: "fix with --fix",
    Safety.UNSAFE: "fix with --fix --unsafe-fixes",
    Safety.DISPLAY: "possible change, not applied",
}


def render(results: Results, printer: Printer) -> None:
    """Write all findings, file by file."""
    for file in results.files:
        lines = LineIndex(file.text)
        room = room_beside(len(str(lines.last_row)), printer.width)
        differences: dict[tuple[Edit, ...], list[list[Segment]]] = {}
        for diagnostic in file.diagnostics:
            _finding(diagnostic, file, lines, room, printer)
            if diagnostic.fix is not None:
                edits = diagnostic.fix.edits
                if edits not in differences:  # which several findings may share
                    differences[edits] = [*minidiff(file.text, lines, edits, room)]
                for segments in differences[edits]:
                    printer.line(*segments)
            printer.blank()


def _finding(
    diagnostic: Diagnostic, file: FileResult, lines: LineIndex, room: int, printer: Printer
) -> None:
    style = STYLES[diagnostic.severity]
    printer.paragraph(
        (f"{diagnostic.severity.value}[{diagnostic.code}]", f"bold {style}"),
        (f" {diagnostic.name}: ", "bold"),
        text=diagnostic.message,
        indent=INDENT,
    )
    gutter = len(str(lines.last_row))
    for segments in excerpt(diagnostic, file.name, lines, style, room):
        printer.line(*segments)
    for kind, text in _remarks(diagnostic):
        head = f" {' ' * gutter} = "
        indent = " " * len(f"{head}{kind}: ")
        printer.paragraph((head, GUTTER_STYLE), (f"{kind}: ", "bold"), text=text, indent=indent)


def _remarks(diagnostic: Diagnostic) -> Iterator[tuple[str, str]]:
    """What stands below the excerpt, each with its kind."""
    if diagnostic.gpu is not None and diagnostic.gpu not in diagnostic.message:
        yield "gpu", diagnostic.gpu
    for note in diagnostic.notes:
        yield "note", note
    if diagnostic.fix is not None:
        yield "help", f"{diagnostic.fix.title} ({OFFERS[diagnostic.fix.safety]})"
