"""Read a file as bytes, with bounds: regular files only, and not too large."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING, BinaryIO

from nanolint.files import door

if TYPE_CHECKING:
    from pathlib import Path

MOST_BYTES = 8 << 20  # far beyond what is parsed; keeps a stray data file out of memory

_KINDS = (
    (stat.S_ISDIR, "a directory"),
    (stat.S_ISFIFO, "a named pipe (give - to read from standard input)"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
    (stat.S_ISSOCK, "a socket"),
)


class Unreadable(Exception):
    """A file that cannot be judged, and why, in a few words."""


def read(path: Path) -> bytes:
    """The content of ``path``, noted like all that is read; raises Unreadable."""
    # Opening a pipe without O_NONBLOCK would wait for its writer.
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    try:
        with open(os.open(path, flags), "rb", closefd=True) as file:  # noqa: PTH123
            _refuse_special(os.fstat(file.fileno()).st_mode)
            raw = read_bounded(file)
    except OSError as error:
        raise Unreadable(reason(error)) from error
    door.note(("content", door.place_of(path), MOST_BYTES), raw)
    return raw


def read_bounded(file: BinaryIO) -> bytes:
    """All of ``file``; raises Unreadable when that is more than MOST_BYTES."""
    raw = file.read(MOST_BYTES + 1)
    if len(raw) > MOST_BYTES:
        raise Unreadable(f"larger than {MOST_BYTES >> 20} MiB")
    return raw


def _refuse_special(mode: int) -> None:
    for is_kind, name in _KINDS:
        if is_kind(mode):
            raise Unreadable(f"not a file but {name}")


def reason(error: OSError | ValueError) -> str:
    """What the system says is wrong, without number and file name."""
    told = getattr(error, "strerror", None) or str(error)
    return told[:1].lower() + told[1:]
