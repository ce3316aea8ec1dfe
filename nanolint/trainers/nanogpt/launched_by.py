"""Which scripts the launch lines in a project's README and shell scripts start with a config."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import TYPE_CHECKING

from nanolint.errors import Unusable
from nanolint.files.door import read_bytes, texts

if TYPE_CHECKING:
    from pathlib import Path

MOST_BYTES = 1 << 18  # of a README or a shell script
MOST_FILES = 50
_CONTINUED = re.compile(r"\\\r?\n")
_SCRIPT = re.compile(r"[\w./-]*?([\w-]+\.py)\b")


def launching(config: Path, root: Path | None) -> set[str]:
    """The names of the scripts that stand before the config on a line: ``train_x.py a.py``."""
    if root is None:
        return set()
    found = set()
    for text in _texts(root):
        if config.name not in text:
            continue
        for line in _CONTINUED.sub(" ", text).splitlines():
            before, name, _ = line.partition(config.name)
            if name:
                found.update(_SCRIPT.findall(before)[-1:])
    return found


def _texts(root: Path) -> list[str]:
    contents = [content for _, content in texts(root, "*.sh", MOST_BYTES, MOST_FILES)]
    with suppress(Unusable):
        contents.append(read_bytes(root / "README.md", MOST_BYTES))
    return [content.decode("utf-8", "replace") for content in contents]
