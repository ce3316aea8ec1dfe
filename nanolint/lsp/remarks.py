"""What keys mean: in nanoGPT, or by the comment that a project's own train.py has on them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.errors import Unusable
from nanolint.files.notes import memo
from nanolint.lsp.cursor import assignment_line, comment_on_line
from nanolint.trainers.nanogpt.keys import meaning
from nanolint.trainers.nanogpt.reading import read_source

if TYPE_CHECKING:
    from pathlib import Path

    from nanolint.run.settled import Project


def meaning_in(project: Project, key: str) -> str:
    """What ``key`` stands for; empty where nobody says."""
    known = meaning(key)
    if known is not None:
        return known
    if project.train_script is None or key not in project.defaults:
        return ""
    return _comment(project.train_script, key)


@memo
def _comment(script: Path, key: str) -> str:
    try:
        text = read_source(script)
    except Unusable:
        return ""
    line = assignment_line(text, key)
    comment = None if line is None else comment_on_line(text, line.start)
    return "" if comment is None else text[comment.start : comment.end].lstrip("#").strip()
