"""A rule's page for a terminal. A file of its own: what only prints imports no rules."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from nanolint.report.results import page_text, page_url
from nanolint.rule.api import Need

if TYPE_CHECKING:
    from nanolint.rule.api import Rule

_FENCE = re.compile(r"^```(\w+) ([^\n]+)$", re.MULTILINE)
_PROPERTY = re.compile(r'(\w+)="([^"]*)"')
_SILENT = "## Not reported\n"
_HEADING = re.compile(r"^### (.+)$", re.MULTILINE)


def for_terminal(rule: Rule) -> str:
    """The Markdown of the page: facts below the title, cards beside examples, silence as a list."""
    text = _FENCE.sub(_captioned, page_text(rule))
    title, _, rest = text.partition("\n")
    before, silent, after = rest.partition(_SILENT)
    reasons = "\n".join(f"- {heading}" for heading in _HEADING.findall(after))
    listed = f"{silent}\n{reasons}\n" if reasons else silent + after
    url = page_url(rule.code)
    where = f"\nThe whole page: {url}\n" if url else ""
    return f"{title}\n\n{facts(rule)}\n{before}{listed}{where}"


def facts(rule: Rule) -> str:
    """Severity, fix and needs: ``error | fix: sometimes | needs a GPU``."""
    parts = [rule.severity.value, f"fix: {rule.fix.value}"]
    if Need.GPU in rule.needs:
        parts.append("needs a GPU")
    if not rule.default:
        parts.append("off by default")
    return " | ".join(parts)


def _captioned(fence: re.Match[str]) -> str:
    """A code block whose file and card stand above it: a terminal shows no info string."""
    properties = dict(_PROPERTY.findall(fence[2]))
    gpu = properties.get("gpu")
    parts = [properties.get("title", ""), f"on {gpu}" if gpu else ""]
    caption = " ".join(filter(None, parts))
    return f"{caption}:\n\n```{fence[1]}" if caption else f"```{fence[1]}"
