"""What --fix would change, as a unified diff that ``patch -p0`` takes."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

from nanolint.report.printer import printable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nanolint.report.printer import Printer
    from nanolint.report.results import Results

NO_NEWLINE = "\\ No newline at end of file"
STYLES = {"+": "green", "-": "red", "@": "cyan"}


def render(results: Results, printer: Printer) -> None:
    """Write the difference that the fixes make, file by file, each once."""
    changed = [
        change
        for file in results.files
        for change in (
            *((each.before, each.text, each.name) for each in file.others),
            *(() if file.before is None else ((file.before, file.text, file.name),)),
        )
    ]
    for before, after, name in dict.fromkeys(changed):
        for line in _diff(before, after, name):
            if not printer.color:  # exactly, with every carriage return
                printer.stream.write(f"{line}\n")
            elif line.startswith(("+++", "---")):
                printer.line((printable(line), "bold"))
            else:
                printer.line((printable(line.removesuffix("\r")), STYLES.get(line[:1], "")))


def _diff(before: str, after: str, name: str) -> Iterator[str]:
    """The lines of the diff without their newlines. Only ``\\n`` ends a line, as for patch."""
    for line in difflib.unified_diff(_lines(before), _lines(after), name, name, lineterm="\n"):
        yield line.removesuffix("\n")
        if not line.endswith("\n"):
            yield NO_NEWLINE


def _lines(text: str) -> list[str]:
    lines = [f"{line}\n" for line in text.split("\n")]
    lines[-1] = lines[-1].removesuffix("\n")
    return lines if lines[-1] else lines[:-1]
