"""For GitLab's merge requests: a Code Quality report, one JSON list.

https://docs.gitlab.com/ci/testing/code_quality/#code-quality-report-format
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from nanolint.diagnostics import Severity
from nanolint.report.results import fingerprints
from nanolint.source.text import LineIndex

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nanolint.report.printer import Printer
    from nanolint.report.results import FileResult, Results

SEVERITIES = {Severity.ERROR: "major", Severity.WARNING: "minor", Severity.INFO: "info"}


def render(results: Results, printer: Printer) -> None:
    """Write the list; what could not be judged is an entry too."""
    found = [issue for file in results.files for issue in _issues(file)]
    printer.stream.write(json.dumps(found, indent=2) + "\n")


def _issues(file: FileResult) -> Iterator[dict[str, Any]]:
    if file.error is not None:
        yield _issue(file.name, 1, "unusable", file.error, "blocker", file.name)
    lines = LineIndex(file.text)
    for found, fingerprint in zip(file.diagnostics, fingerprints(file), strict=True):
        row, _ = lines.position(found.span.start)
        severity = SEVERITIES[found.severity]
        # GitLab takes two issues with one fingerprint for one, also where the files differ.
        yield _issue(file.name, row, found.code, found.line, severity, f"{file.name}:{fingerprint}")


def _issue(
    name: str, row: int, code: str, text: str, severity: str, fingerprint: str
) -> dict[str, Any]:
    return {
        "description": text,
        "check_name": code,
        "fingerprint": fingerprint,
        "severity": severity,
        "location": {"path": name, "lines": {"begin": row}},
    }
