"""For GitHub Actions: a workflow command for each finding, shown beside the line it is about."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.diagnostics import Severity
from nanolint.report.printer import printable
from nanolint.source.text import LineIndex

if TYPE_CHECKING:
    from collections.abc import Mapping

    from nanolint.diagnostics import Diagnostic
    from nanolint.report.printer import Printer
    from nanolint.report.results import Results

COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}

_IN_TEXT = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})
_IN_PROPERTY = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A", ":": "%3A", ",": "%2C"})


def render(results: Results, printer: Printer) -> None:
    """Write the annotations."""
    for file in results.files:
        if file.error is not None:
            printer.stream.write(_command("error", {"file": file.name}, file.error))
        lines = LineIndex(file.text)
        for diagnostic in file.diagnostics:
            place = _place(diagnostic, lines)
            title = f"{diagnostic.code} {diagnostic.name}"
            printer.stream.write(
                _command(
                    COMMANDS[diagnostic.severity],
                    {"title": title, "file": file.name, **place},
                    "\n".join((diagnostic.line, *diagnostic.notes)),
                )
            )


def _place(diagnostic: Diagnostic, lines: LineIndex) -> dict[str, int]:
    """Where the finding is. GitHub takes columns only where they are on one line."""
    row, column = lines.position(diagnostic.span.start)
    end_row, end_column = lines.position(diagnostic.span.end)
    if row == end_row:
        return {"line": row, "col": column, "endLine": end_row, "endColumn": end_column}
    return {"line": row, "endLine": end_row}


def _command(name: str, properties: Mapping[str, object], text: str) -> str:
    fields = ",".join(
        f"{key}={_escape(str(value)).translate(_IN_PROPERTY)}" for key, value in properties.items()
    )
    return f"::{name} {fields}::{_escape(text).translate(_IN_TEXT)}\n"


def _escape(text: str) -> str:
    """``text`` with nothing in it that a log would obey; newlines are escaped as GitHub has it."""
    return "".join(each if each in "\r\n" else printable(each) for each in text)
