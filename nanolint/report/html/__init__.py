"""One page to send: the timeline of the run, its budget, its values, what would help.

A single file without a server, a network or another file: the style, the script and the data are
in it.
"""

from __future__ import annotations

import json
from html import escape
from importlib.resources import files
from string import Template
from typing import TYPE_CHECKING

from nanolint.report.html.sections import sections, summary, timeline

if TYPE_CHECKING:
    from nanolint.rule.case import Case
    from nanolint.source.text import LineIndex


def page(name: str, case: Case, lines: LineIndex) -> str:
    """The page for the run of ``case``, a file called ``name``."""
    title = f"{name} on {case.target.label}" if case.target else name
    return Template(_part("page.html")).substitute(
        title=escape(title),
        name=escape(name),
        style=_part("page.css"),
        script=_part("timeline.js"),
        # In a script element only "</" could end it early.
        data=json.dumps(timeline(case), separators=(",", ":")).replace("</", "<\\/"),
        summary=summary(case),
        sections=sections(case, lines),
    )


def _part(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")
