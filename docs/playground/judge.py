"""What the page asks of nanolint: one text, one card, one answer as JSON."""

from __future__ import annotations

import json

import nanolint
from nanolint.errors import UserError
from nanolint.gpus.catalogue import load
from nanolint.report.explanation import case_of
from nanolint.report.html import page
from nanolint.source.text import LineIndex

NAME = "config.py"
NO_LIBCST = (
    "this text needs more than the plain reader that runs in a browser; use the command nanolint"
)


def cards() -> str:
    """The names of the cards, for the list of choices."""
    return json.dumps([gpu.name for gpu in load() if gpu.vendor == "nvidia"])


def judge(text: str, gpu: str) -> str:
    """The findings, the text with its safe fixes, and the report; or why there are none."""
    try:
        return json.dumps(_answer(text, gpu or None))
    except UserError as error:
        return json.dumps({"error": str(error)})
    except ModuleNotFoundError:
        return json.dumps({"error": NO_LIBCST})


def _answer(text: str, gpu: str | None) -> dict[str, object]:
    lines = LineIndex(text)
    findings = [
        {
            "line": lines.position(found.span.start)[0],
            "code": found.code,
            "name": found.name,
            "severity": found.severity.value,
            "message": found.message,
            "notes": [*found.notes, *([found.fix.title] if found.fix else [])],
        }
        for found in nanolint.lint_text(text, gpu=gpu)
    ]
    answer: dict[str, object] = {
        "findings": findings,
        "fixed": nanolint.fix_text(text, gpu=gpu),
    }
    try:
        case, _ = case_of(text, None, gpu)
    except UserError as error:
        return answer | {"why": str(error)}
    if case.run is None:
        return answer | {"why": case.resolution.why_unknown}
    if case.run.on_gpu:
        answer["report"] = page(NAME, case, lines)
    return answer
