"""Which files in the working folder the script reads: its run may depend on what they hold."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

MOST_BYTES = 1 << 20  # larger ones are data, whose values change no size
READING = ("r", "rb", "rt")
DATA = (".pyc", ".so", ".bin", ".npy", ".pt")


def watch() -> set[str]:
    """The absolute names of what is opened from now on, as long as the process lives."""
    files: set[str] = set()
    folder = f"{Path.cwd()}{os.sep}"

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open" and isinstance(arguments[0], str) and arguments[1] in READING:
            path = str(Path(arguments[0]).absolute())
            if path.startswith(folder):
                files.add(path)

    sys.addaudithook(hook)
    return files


def small(files: set[str]) -> list[str]:
    """Those that are no data, are in no hidden folder and are still there."""
    found = []
    for name in sorted(files):
        path = Path(name)
        hidden = any(part.startswith((".", "__")) for part in path.relative_to(Path.cwd()).parts)
        if hidden or name.endswith(DATA) or "site-packages" in path.parts:
            continue
        if path.is_file() and path.stat().st_size <= MOST_BYTES:
            found.append(name)
    return found
