"""Which scripts are said to start with a config: in a README, in shell scripts, in the config."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import TYPE_CHECKING

from nanolint.errors import Unusable
from nanolint.files.door import entries, read_bytes, texts
from nanolint.regex import lazily

if TYPE_CHECKING:
    from pathlib import Path

MOST_BYTES = 1 << 18  # of a README or a shell script
MOST_FILES = 50
MOST_FOLDERS = 30  # beside the scripts, with shell scripts of their own
_CONTINUED = lazily(r"\\\r?\n")
_SCRIPT = lazily(r"[\w./-]*?([\w-]+\.py)\b")


def launching(config: Path, root: Path | None) -> set[str]:
    """The names of the scripts that stand before the config on a line: ``train_x.py a.py``."""
    if root is None:
        return set()
    found = set()
    where = config.absolute().as_posix()
    named = re.compile(rf"[\w./-]*{re.escape(config.name)}")
    for text in (*_texts(root), *_said_in(config)):
        if config.name not in text:
            continue
        for line in _CONTINUED.sub(" ", text).splitlines():
            for each in named.finditer(line):
                if where.endswith(f"/{each[0].lstrip('./')}"):
                    found.update(_SCRIPT.findall(line[: each.start()])[-1:])
    return found


def _said_in(config: Path) -> list[str]:
    """The comments of the config itself, which may say how it is launched."""
    with suppress(Unusable):
        lines = read_bytes(config, MOST_BYTES).decode("utf-8", "replace").splitlines()
        return ["\n".join(each for each in lines if each.lstrip().startswith("#"))]
    return []


def _texts(root: Path) -> list[str]:
    folders = [root]
    with suppress(OSError):
        folders += [root / name for name, _ in entries(root) if not name.startswith(".")]
    contents = [
        content
        for folder in folders[:MOST_FOLDERS]
        for _, content in texts(folder, "*.sh", MOST_BYTES, MOST_FILES)
    ]
    with suppress(Unusable):
        contents.append(read_bytes(root / "README.md", MOST_BYTES))
    return [content.decode("utf-8", "replace") for content in contents]
