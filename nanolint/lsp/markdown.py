"""Markdown with foreign text in it, and the same as plain text.

What a project says in its comments and strings must never become a link or an image: an editor
would load it.
"""

from __future__ import annotations

import re

_SPECIAL = re.compile(r"([\\`*_\[\]<>!&])")
_ESCAPED = re.compile(r"\\([\\`*_\[\]<>!&])")
_MARKED = re.compile(r"\*\*(.+?)\*\*|``[ ](.+?)[ ]``|(?<!`)`([^`\n]+)`(?!`)")


def escaped(text: str) -> str:
    """``text`` on one line, to be read as it stands."""
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))


def code(text: str) -> str:
    """``text`` as code. It has no newlines: it is a literal of Python."""
    return f"`` {text} ``" if "`" in text else f"`{text}`"


def plain(markdown: str) -> str:
    """What ``markdown`` says, without its marks; blocks of code keep theirs."""
    unmarked = _MARKED.sub(lambda match: match[1] or match[2] or match[3], markdown)
    return _ESCAPED.sub(r"\1", unmarked)
