"""Ways to plant something hostile in an empty folder."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def text(content: str, name: str = "x.py") -> Callable[[Path], object]:
    """Plant a text."""
    return raw(content.encode(), name)


def raw(content: bytes, name: str = "x.py") -> Callable[[Path], object]:
    """Plant bytes."""

    def plant(folder: Path) -> None:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)

    return plant


def both(*plants: Callable[[Path], object]) -> Callable[[Path], object]:
    """Plant several things."""

    def plant(folder: Path) -> None:
        for each in plants:
            each(folder)

    return plant


def hole(size: int, name: str) -> Callable[[Path], object]:
    """A file of ``size`` bytes that takes no place on the disk."""

    def plant(folder: Path) -> None:
        with (folder / name).open("wb") as file:
            file.truncate(size)

    return plant


def link(target: str, name: str = "x.py") -> Callable[[Path], object]:
    """A symbolic link."""
    return lambda folder: (folder / name).symlink_to(target)


def pipe(name: str = "x.py") -> Callable[[Path], object]:
    """A named pipe that nobody writes to."""
    return lambda folder: os.mkfifo(folder / name)


def folder(name: str = "x.py") -> Callable[[Path], object]:
    """A folder."""
    return lambda root: (root / name).mkdir(parents=True)


class Bomb:
    """A pickle that runs a command where it is loaded."""

    def __reduce__(self) -> tuple[object, ...]:
        return os.system, ("touch exploded",)


def nested_lists(levels: int) -> bytes:
    """A pickle of lists in lists, deeper than any recursion."""
    return b"]" * levels + b"a" * (levels - 1) + b"."


def billion() -> bytes:
    """A pickle whose lists hold each other ten times, ten levels up: 10**10 items when counted."""
    body = b"]q\x00(" + b"K\x01" * 10 + b"e"
    for level in range(9):
        body += b"]q" + bytes([level + 1]) + b"(" + (b"h" + bytes([level])) * 10 + b"e"
    return b"\x80\x02" + body + b"."
