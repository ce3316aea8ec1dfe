"""The commands that pages show: each line of their ``sh`` and ``console`` blocks."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING

from tests.support.repository import ROOT

if TYPE_CHECKING:
    from pathlib import Path

README = ROOT / "README.md"
DOCS = sorted((ROOT / "docs").rglob("*.md"))
_BLOCK = re.compile(r"^[ ]*```(sh|bash|console)\n(.*?)^[ ]*```", re.MULTILINE | re.DOTALL)


def commands(page: Path) -> list[str]:
    """The commands of a page in their order, without comments and prompts."""
    found: list[str] = []
    for block in _BLOCK.finditer(page.read_text(encoding="utf-8")):
        lines = block[2].replace("\\\n", " ").splitlines()
        if block[1] == "console":
            lines = [each.strip()[2:] for each in lines if each.strip().startswith("$ ")]
        for line in lines:
            words = shlex.split(line, comments=True)
            if words:
                found.append(line.partition(" #")[0].strip())
    return list(dict.fromkeys(found))
