"""For CI servers that show test results: JUnit's XML, a case for each file, a failure a finding."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape, quoteattr

from nanolint.diagnostics import Severity
from nanolint.source.text import LineIndex

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nanolint.report.printer import Printer
    from nanolint.report.results import FileResult, Results

# What XML 1.0 cannot hold, not even escaped.
_UNWRITABLE = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def render(results: Results, printer: Printer) -> None:
    """Write one test suite; files that were not judged are errors, infos are no failures."""
    failures = sum(bool(_failures(file)) for file in results.files if file.error is None)
    errors = sum(file.error is not None for file in results.files)
    counts = f'tests="{len(results.files)}" failures="{failures}" errors="{errors}"'
    write = printer.stream.write
    write('<?xml version="1.0" encoding="utf-8"?>\n')
    write(f'<testsuites {counts}>\n  <testsuite name="nanolint" {counts}>\n')
    for file in results.files:
        for line in _case(file):
            write(f"    {line}\n")
    write("  </testsuite>\n</testsuites>\n")


def _case(file: FileResult) -> Iterator[str]:
    case = f'<testcase classname="nanolint" name={_attribute(file.name)}'
    if file.error is not None:
        yield f"{case}><error message={_attribute(file.error)}/></testcase>"
        return
    failures = _failures(file)
    if not failures:
        yield f"{case}/>"
        return
    # One failure a case is all that most readers show: the first is its headline.
    yield f"{case}>"
    yield f"  <failure message={_attribute(failures[0])}>{_text(chr(10).join(failures))}</failure>"
    yield "</testcase>"


def _failures(file: FileResult) -> list[str]:
    lines = LineIndex(file.text)
    return [
        f"{file.name}:{lines.position(found.span.start)[0]}: {found.code} {found.line}"
        for found in file.diagnostics
        if found.severity is not Severity.INFO
    ]


def _attribute(text: str) -> str:
    return quoteattr(_UNWRITABLE.sub("\ufffd", text))


def _text(text: str) -> str:
    return escape(_UNWRITABLE.sub("\ufffd", text))
