"""For programs: a list of findings whose shape does not change (a test pins it)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from nanolint.report.excerpt import relative
from nanolint.report.results import page_url
from nanolint.source.text import LineIndex

if TYPE_CHECKING:
    from collections.abc import Iterable

    from nanolint.diagnostics import Diagnostic, Edit, Fix, QuotedPlace, Related, SourceLine
    from nanolint.report.printer import Printer
    from nanolint.report.results import Results


def render(results: Results, printer: Printer) -> None:
    """Write all findings as one JSON list."""
    printer.stream.write(json.dumps(as_list(results), indent=2) + "\n")


def as_list(results: Results) -> list[dict[str, Any]]:
    """All findings, as the formats for programs have them."""
    findings: list[dict[str, Any]] = []
    for file in results.files:
        lines = LineIndex(file.text)
        findings += (_finding(diagnostic, file.name, lines) for diagnostic in file.diagnostics)
    return findings


def _finding(diagnostic: Diagnostic, filename: str, lines: LineIndex) -> dict[str, Any]:
    return {
        "code": diagnostic.code,
        "name": diagnostic.name,
        "severity": diagnostic.severity.value,
        "message": diagnostic.line,
        "filename": filename,
        "location": _location(diagnostic.span.start, lines),
        "end_location": _location(diagnostic.span.end, lines),
        "gpu": diagnostic.gpu,
        "fix": _fix(diagnostic.fix, lines) if diagnostic.fix else None,
        "url": page_url(diagnostic.code),
        "notes": list(diagnostic.notes),
        "details": list(diagnostic.details),
        "origin": _origin(diagnostic.origin) if diagnostic.origin else None,
        "related": [_related(related, lines) for related in diagnostic.related]
        + [_holder(each) for each in diagnostic.holders],
        "trust": diagnostic.trust,
        "doubts": list(diagnostic.doubts),
    }


def _origin(place: QuotedPlace) -> dict[str, Any]:
    """Where the value stands, outside the file; on the command line there is no file and no row."""
    return {
        "key": place.key,
        "filename": relative(place.path) if place.path else None,
        "location": {"row": place.row, "column": place.start + 1},
        "end_location": {"row": place.row, "column": place.end + 1},
        "text": place.source,
    }


def _related(related: Related, lines: LineIndex) -> dict[str, Any]:
    return {
        "message": related.message,
        "location": _location(related.span.start, lines),
        "end_location": _location(related.span.end, lines),
    }


def _holder(line: SourceLine) -> dict[str, Any]:
    """A line of another file; those of the file itself have no name of one."""
    first, last = line.start + 1, len(line.source.rstrip()) + 1
    return {
        "message": line.message,
        "filename": relative(line.path),
        "location": {"row": line.row, "column": first},
        "end_location": {"row": line.row, "column": last},
        "text": line.source.strip(),
    }


def _fix(fix: Fix, lines: LineIndex) -> dict[str, Any]:
    """``edits`` of the file at hand; those of other files, if any, stand in ``elsewhere``."""
    elsewhere = [
        {"filename": relative(file.path), "edits": _edits(file.edits, LineIndex(file.text))}
        for file in fix.elsewhere
    ]
    return {
        "safety": fix.safety.value,
        "title": fix.title,
        "edits": _edits(fix.edits, lines),
        **({"elsewhere": elsewhere} if elsewhere else {}),
    }


def _edits(edits: Iterable[Edit], lines: LineIndex) -> list[dict[str, Any]]:
    return [
        {
            "location": _location(edit.start, lines),
            "end_location": _location(edit.end, lines),
            "content": edit.replacement,
        }
        for edit in edits
    ]


def _location(offset: int, lines: LineIndex) -> dict[str, int]:
    row, column = lines.position(offset)
    return {"row": row, "column": column}
