"""For people: every finding with its source, its reasons and the fix that is offered."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.diagnostics import Diagnostic, Safety, Severity
from nanolint.report.excerpt import GUTTER_STYLE, excerpt, room_beside
from nanolint.report.minidiff import minidiff
from nanolint.source.text import LineIndex

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nanolint.report.printer import Printer
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
        for diagnostic in file.diagnostics:
            _finding(diagnostic, file, lines, printer)
            printer.blank()


def _finding(diagnostic: Diagnostic, file: FileResult, lines: LineIndex, printer: Printer) -> None:
    style = STYLES[diagnostic.severity]
    printer.paragraph(
        (f"{diagnostic.severity.value}[{diagnostic.code}]", f"bold {style}"),
        (f" {diagnostic.name}: ", "bold"),
        text=diagnostic.message,
        indent=INDENT,
    )
    gutter = len(str(lines.last_row))
    room = room_beside(gutter, printer.width)
    for segments in excerpt(diagnostic, file.name, lines, style, room):
        printer.line(*segments)
    for kind, text in _remarks(diagnostic):
        head = f" {' ' * gutter} = "
        indent = " " * len(f"{head}{kind}: ")
        printer.paragraph((head, GUTTER_STYLE), (f"{kind}: ", "bold"), text=text, indent=indent)
    if diagnostic.fix is not None:
        for segments in minidiff(file.text, diagnostic.fix.edits, gutter, room):
            printer.line(*segments)


def _remarks(diagnostic: Diagnostic) -> Iterator[tuple[str, str]]:
    """What stands below the excerpt, each with its kind."""
    if diagnostic.gpu is not None and diagnostic.gpu not in diagnostic.message:
        yield "gpu", diagnostic.gpu
    for note in diagnostic.notes:
        yield "note", note
    if diagnostic.fix is not None:
        yield "help", f"{diagnostic.fix.title} ({OFFERS[diagnostic.fix.safety]})"
