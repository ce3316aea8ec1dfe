"""For people and editors: one line for each finding."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.report.full import STYLES
from nanolint.report.printer import printable
from nanolint.source.text import LineIndex

if TYPE_CHECKING:
    from nanolint.report.printer import Printer
    from nanolint.report.results import Results


def render(results: Results, printer: Printer) -> None:
    """Write ``path:row:column: CODE[severity] message`` for each finding."""
    for file in results.files:
        lines = LineIndex(file.text)
        for diagnostic in file.diagnostics:
            row, column = lines.position(diagnostic.span.start)
            severity = diagnostic.severity
            printer.line(
                (printable(file.name), "bold"),
                f":{row}:{column}: ",
                (f"{diagnostic.code}[{severity.value}]", STYLES[severity]),
                f" {printable(diagnostic.line)}",
            )
