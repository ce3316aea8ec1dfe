"""Findings in the protocol's words."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lsprotocol import types

from nanolint.diagnostics import Severity
from nanolint.report.results import page_url

if TYPE_CHECKING:
    from nanolint.diagnostics import Diagnostic, Fix, QuotedPlace, SourceLine
    from nanolint.lsp.positions import Positions

SOURCE = "nanolint"
SEVERITIES = {
    Severity.ERROR: types.DiagnosticSeverity.Error,
    Severity.WARNING: types.DiagnosticSeverity.Warning,
    Severity.INFO: types.DiagnosticSeverity.Information,
}
# What editors strike through, and what they grey out because it has no effect.
DEPRECATED = ("deprecated-", "renamed-", "legacy-")
WITHOUT_EFFECT = frozenset(
    {"unused-suppression", "duplicate-assignment", "ignored-dtype", "ignored-model-key"}
)


def protocol_diagnostic(found: Diagnostic, uri: str, positions: Positions) -> types.Diagnostic:
    """``found`` in the document ``uri``; its fix, if any, is in ``data``."""
    url = page_url(found.code)
    return types.Diagnostic(
        range=positions.range(found.span),
        severity=SEVERITIES[found.severity],
        code=found.code,
        code_description=None if url is None else types.CodeDescription(url),
        source=SOURCE,
        message="\n".join(found.lines),
        tags=_tags(found.name) or None,
        related_information=[
            types.DiagnosticRelatedInformation(
                types.Location(uri, positions.range(related.span)), related.message
            )
            for related in found.related
        ]
        + _origin(found.origin, positions)
        + [_holder(each, positions) for each in found.holders]
        or None,
        data={
            "name": found.name,
            "gpu": found.gpu,
            "fix": None if found.fix is None else _fix(found.fix, positions),
        },
    )


def _origin(
    place: QuotedPlace | None, positions: Positions
) -> list[types.DiagnosticRelatedInformation]:
    """Where the value stands, if that is in another file."""
    if place is None or place.path is None or place.row is None:
        return []
    stretch = positions.on_line(place.row, place.source, place.start, place.end)
    uri = Path(os.path.abspath(place.path)).as_uri()  # noqa: PTH100 (links are not followed)
    location = types.Location(uri, stretch)
    return [types.DiagnosticRelatedInformation(location, f"{place.key} is set here")]


def _holder(line: SourceLine, positions: Positions) -> types.DiagnosticRelatedInformation:
    stretch = positions.on_line(line.row, line.source, line.start, len(line.source.rstrip()))
    uri = Path(os.path.abspath(line.path)).as_uri()  # noqa: PTH100 (links are not followed)
    return types.DiagnosticRelatedInformation(types.Location(uri, stretch), line.message)


def _tags(name: str) -> list[types.DiagnosticTag]:
    if name.startswith(DEPRECATED):
        return [types.DiagnosticTag.Deprecated]
    return [types.DiagnosticTag.Unnecessary] if name in WITHOUT_EFFECT else []


def _fix(fix: Fix, positions: Positions) -> dict[str, Any]:
    return {
        "title": fix.title,
        "safety": fix.safety.value,
        "edits": [
            {"range": _plain(positions.range(edit)), "newText": edit.replacement}
            for edit in fix.edits
        ],
    }


def _plain(place: types.Range) -> dict[str, dict[str, int]]:
    return {
        end: {"line": at.line, "character": at.character}
        for end, at in (("start", place.start), ("end", place.end))
    }
