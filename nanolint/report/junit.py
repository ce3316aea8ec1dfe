"""For CI servers that show test results: JUnit's XML, a failed case for each finding.

A file without any is a case that passed.
"""

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
    """Write one test suite; a file that was not judged is an error, an info is left out."""
    cases = [case for file in results.files for case in _cases(file)]
    failures = sum("<failure" in case for case in cases)
    errors = sum("<error" in case for case in cases)
    counts = f'tests="{len(cases)}" failures="{failures}" errors="{errors}"'
    write = printer.stream.write
    write('<?xml version="1.0" encoding="utf-8"?>\n')
    write(f'<testsuites {counts}>\n  <testsuite name="nanolint" {counts}>\n')
    for case in cases:
        write(f"    {case}\n")
    write("  </testsuite>\n</testsuites>\n")


def _cases(file: FileResult) -> Iterator[str]:
    start = '<testcase classname="nanolint" name='
    if file.error is not None:
        yield f"{start}{_attribute(file.name)}><error message={_attribute(file.error)}/></testcase>"
        return
    lines = LineIndex(file.text)
    found = [each for each in file.diagnostics if each.severity is not Severity.INFO]
    if not found:
        yield f"{start}{_attribute(file.name)}/>"
    for each in found:
        place = f"{file.name}:{lines.position(each.span.start)[0]}"
        text = f"{place}: {each.code} {each.line}"
        failure = f"<failure message={_attribute(text)}>{_text(text)}</failure>"
        yield f"{start}{_attribute(f'{place}: {each.code}')}>{failure}</testcase>"


def _attribute(text: str) -> str:
    return quoteattr(_UNWRITABLE.sub("\ufffd", text))


def _text(text: str) -> str:
    return escape(_UNWRITABLE.sub("\ufffd", text))
