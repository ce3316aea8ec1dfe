"""The user's folder of what is kept between two commands; to lose it costs time and nothing else.

It is ``$NANOLINT_CACHE``, by default ``~/.cache/nanolint``; an empty name means none. A checkout
keeps nothing: its code changes from one command to the next, and an installed wheel's does not.
"""

from __future__ import annotations

import hashlib
import os
import sys
from contextlib import suppress
from functools import cache
from pathlib import Path

VARIABLE = "NANOLINT_CACHE"
MOST_BYTES = 1 << 20  # in each of 256 folders: together some 4,000 readings of GPT-2 (124M)
LEAST_BYTES = 4 << 10  # that a file takes of a disk
MOST_LINES_BYTES = 64 << 10  # of one name: some hundred answers
DIGEST_BYTES = hashlib.sha256().digest_size


def folder() -> Path | None:
    """Where things are kept; None where the user wants nothing kept, or has no home."""
    named = os.environ.get(VARIABLE)
    if named is not None:
        return Path(named) if named else None
    with suppress(RuntimeError):
        return usual_folder()
    return None


def usual_folder() -> Path:
    """Where things are kept unless the user says otherwise. Raises RuntimeError without a home.

    A relative folder is ignored, as the XDG specification demands: it would be the project's.
    """
    known = Path(os.environ.get("LOCALAPPDATA" if os.name == "nt" else "XDG_CACHE_HOME", ""))
    return (known if known.is_absolute() else Path.home() / ".cache") / "nanolint"


def keeps() -> bool:
    """Whether anything is kept at all."""
    return _build() is not None and folder() is not None


def find(name: str) -> bytes | None:
    """What this very build of nanolint has kept by a name; None where it has not."""
    path = _path(name)
    if path is None:
        return None
    try:
        content = path.read_bytes()
        digest, content = content[:DIGEST_BYTES], content[DIGEST_BYTES:]
        if hashlib.sha256(content).digest() != digest:  # it was cut off, or changed
            return None
    except OSError:
        return None
    with suppress(OSError):
        os.utime(path)  # what is used stays
    return content


def keep(name: str, content: bytes) -> None:
    """Keep ``content`` by a name, in the place of what was used least lately."""
    path = _path(name)
    if path is None:
        return
    beside = path.with_name(f"{path.name}.{os.getpid()}")
    with suppress(OSError):  # a full disk, a folder that is not ours: then it is read again
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            beside.write_bytes(hashlib.sha256(content).digest() + content)
            beside.replace(path)
        finally:
            beside.unlink(missing_ok=True)
        _make_room(path.parent)


def has(name: str) -> bool:
    """Whether anything is kept by a name, for who does not want it now."""
    path = _path(name)
    with suppress(OSError):  # a folder that is not ours
        return path is not None and path.is_file()
    return False


def lines(name: str) -> list[bytes]:
    """What ``add_line`` has kept by a name, without what was cut off or changed."""
    path = _path(name)
    found: list[bytes] = []
    if path is None:
        return found
    with suppress(OSError):
        for line in path.read_bytes().split(b"\n"):
            digest, _, content = line.partition(b" ")
            if content and digest == _line_digest(content):
                found.append(content)
        os.utime(path)
    return found


def add_line(name: str, content: bytes) -> None:
    """Keep a line, without a break in it, beside those that are kept by a name already, or in the
    place of too many of them."""
    path = _path(name)
    if path is None:
        return
    with suppress(OSError):
        nbytes = path.stat().st_size if path.exists() else 0
        path.parent.mkdir(parents=True, exist_ok=True)
        mode = "ab" if nbytes < MOST_LINES_BYTES else "wb"
        with path.open(mode, buffering=0) as file:  # one write: whole, whoever else writes
            file.write(b"\n" + _line_digest(content) + b" " + content)
        if not nbytes:
            _make_room(path.parent)


def _line_digest(content: bytes) -> bytes:
    return hashlib.sha256(content).hexdigest().encode()


def _make_room(place: Path) -> None:
    """Let go of what was used least lately, where there is too much."""
    with os.scandir(place) as found:
        entries = [(each.stat(), each.path) for each in found]
    nbytes = 0
    for about, path in sorted(entries, key=lambda each: -each[0].st_mtime_ns):
        nbytes += max(about.st_size, LEAST_BYTES)
        if nbytes > max(MOST_BYTES, about.st_size):
            Path(path).unlink(missing_ok=True)


def _path(name: str) -> Path | None:
    build, place = _build(), folder()
    if build is None or place is None:
        return None
    digest = hashlib.sha256(f"{build}\n{name}".encode("utf-8", "surrogatepass")).hexdigest()
    return place / "readings" / digest[:2] / digest[2:]


@cache
def _build() -> str | None:
    """What tells this code and its Python from any other; None for a checkout.

    A wheel's RECORD has the digest of each of its files.
    """
    package = Path(__file__).parents[1]
    try:
        (path,) = package.parent.glob(f"{package.name}-*.dist-info/RECORD")
        record = path.read_bytes()
    except (OSError, ValueError):  # there is none, or more than one
        return None
    if b"nanolint/__init__.py,sha256=" not in record.replace(b"\\", b"/"):
        return None
    return f"{hashlib.sha256(record).hexdigest()} {sys.version_info[:3]} {sys.byteorder}"
