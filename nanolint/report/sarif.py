"""For code scanning: SARIF 2.1.0, https://docs.oasis-open.org/sarif/sarif/v2.1.0/."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from nanolint import __version__
from nanolint.diagnostics import Safety, Severity
from nanolint.linting import registry
from nanolint.report.excerpt import relative
from nanolint.report.results import fingerprints, page_url
from nanolint.source.text import LineIndex

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from nanolint.diagnostics import Edit, Fix, QuotedPlace, SourceLine, Span
    from nanolint.report.printer import Printer
    from nanolint.report.results import FileResult, Results
    from nanolint.rule.api import Rule

SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)
HOME = "https://github.com/nanolint/nanolint"
LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}
FINGERPRINT = "nanolint/v1"  # another number when fingerprints are made in another way


def render(results: Results, printer: Printer) -> None:
    """Write one SARIF log with one run."""
    rules = {code: index for index, code in enumerate(sorted({d.code for d in results.findings}))}
    run = {
        "tool": {
            "driver": {
                "name": "nanolint",
                "semanticVersion": __version__,
                "informationUri": HOME,
                "rules": [_rule(registry.load().find(code)) for code in rules],
            }
        },
        "invocations": [_invocation(results.files)],
        "columnKind": "unicodeCodePoints",
        "newlineSequences": ["\r\n", "\r", "\n"],
        "results": [
            result
            for file in results.files
            for result in _results(file, rules, unsafe=results.unsafe_fixes)
        ],
    }
    log = {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}
    printer.stream.write(json.dumps(log, indent=2) + "\n")


def _rule(rule: Rule) -> dict[str, Any]:
    page = rule.page.read_text(encoding="utf-8")
    described: dict[str, Any] = {
        "id": rule.code,
        "name": rule.name,
        "shortDescription": {"text": rule.summary},
        "help": {"text": page, "markdown": page},
        "defaultConfiguration": {"level": LEVELS[rule.severity]},
    }
    url = page_url(rule.code)
    return described if url is None else {**described, "helpUri": url}


def _invocation(files: Iterable[FileResult]) -> dict[str, Any]:
    """Whether all went well, and which files could not be judged."""
    failures = [
        {
            "level": "error",
            "message": {"text": file.error},
            "locations": [{"physicalLocation": {"artifactLocation": _artifact(file.name)}}],
        }
        for file in files
        if file.error is not None
    ]
    return {"executionSuccessful": not failures, "toolExecutionNotifications": failures}


def _results(file: FileResult, rules: dict[str, int], *, unsafe: bool) -> Iterator[dict[str, Any]]:
    lines = LineIndex(file.text)
    for diagnostic, fingerprint in zip(file.diagnostics, fingerprints(file), strict=True):
        result: dict[str, Any] = {
            "ruleId": diagnostic.code,
            "ruleIndex": rules[diagnostic.code],
            "level": LEVELS[diagnostic.severity],
            "message": {"text": "\n".join((diagnostic.line, *diagnostic.notes))},
            "locations": [_location(diagnostic.span, file.name, lines)],
            "partialFingerprints": {FINGERPRINT: fingerprint},
        }
        related = [
            {**_location(each.span, file.name, lines), "message": {"text": each.message}}
            for each in diagnostic.related
        ]
        if diagnostic.origin is not None and diagnostic.origin.path is not None:
            related.append(_origin(diagnostic.origin, diagnostic.origin.path))
        related += [_holder(each) for each in diagnostic.holders]
        if related:
            result["relatedLocations"] = related
        if diagnostic.fix is not None and _offered(diagnostic.fix, unsafe=unsafe):
            result["fixes"] = [_fix(diagnostic.fix, file.name, lines)]
        properties = {
            "gpu": diagnostic.gpu,
            "trust": diagnostic.trust,
            "doubts": list(diagnostic.doubts) or None,
        }
        known = {name: value for name, value in properties.items() if value is not None}
        if known:
            result["properties"] = known
        yield result


def _offered(fix: Fix, *, unsafe: bool) -> bool:
    """Whether ``--fix`` would apply it. SARIF cannot say that a fix is unsafe."""
    return fix.safety is Safety.SAFE or (unsafe and fix.safety is Safety.UNSAFE)


def _fix(fix: Fix, name: str, lines: LineIndex) -> dict[str, Any]:
    changes = [_change(name, fix.edits, lines)] if fix.edits else []
    changes += [
        _change(relative(file.path), file.edits, LineIndex(file.text)) for file in fix.elsewhere
    ]
    return {"description": {"text": fix.title}, "artifactChanges": changes}


def _change(name: str, edits: Iterable[Edit], lines: LineIndex) -> dict[str, Any]:
    replacements = [
        {
            "deletedRegion": _region(edit.start, edit.end, lines),
            "insertedContent": {"text": edit.replacement},
        }
        for edit in edits
    ]
    return {"artifactLocation": _artifact(name), "replacements": replacements}


def _location(span: Span, name: str, lines: LineIndex) -> dict[str, Any]:
    region = _region(span.start, span.end, lines)
    return {"physicalLocation": {"artifactLocation": _artifact(name), "region": region}}


def _origin(place: QuotedPlace, path: Path) -> dict[str, Any]:
    region = {
        "startLine": place.row,
        "startColumn": place.start + 1,
        "endLine": place.row,
        "endColumn": place.end + 1,
    }
    return {
        "physicalLocation": {"artifactLocation": _artifact(relative(path)), "region": region},
        "message": {"text": f"{place.key} is set here"},
    }


def _holder(line: SourceLine) -> dict[str, Any]:
    return {
        "physicalLocation": {
            "artifactLocation": _artifact(relative(line.path)),
            "region": {"startLine": line.row},
        },
        "message": {"text": f"{line.message}: {line.source.strip()}"},
    }


def _region(start: int, end: int, lines: LineIndex) -> dict[str, int]:
    (start_line, start_column), (end_line, end_column) = lines.position(start), lines.position(end)
    return {
        "startLine": start_line,
        "startColumn": start_column,
        "endLine": end_line,
        "endColumn": end_column,
    }


def _artifact(name: str) -> dict[str, str]:
    """The file as a URI: relative to the working folder where its name is."""
    path = Path(name)
    return {"uri": path.as_uri() if path.is_absolute() else quote(os.fsencode(path.as_posix()))}
