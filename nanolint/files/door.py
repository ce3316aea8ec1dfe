"""The door to the disk: every file, folder and link is read here, with a note of what was asked.

The unsaved text that an editor shows stands for the file (``show``). Nothing but regular files is
opened, nothing is read past a limit, and what cannot be read is ``Unusable``, with the reason.
"""

from __future__ import annotations

import os
import stat
from contextlib import contextmanager
from contextvars import ContextVar
from hashlib import blake2b
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

from nanolint.errors import Unusable
from nanolint.files import notes
from nanolint.files.notes import asks, note, noting

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

MOST_BYTES = 8 << 20  # far beyond what is parsed; keeps a stray data file out of memory

FILE, FOLDER, OTHER = "file", "folder", "other"
BROKEN_LINK, NOTHING, UNKNOWN = "broken link", "nothing", "unknown"

_KINDS = (
    (stat.S_ISDIR, "a directory"),
    (stat.S_ISFIFO, "a named pipe (give - to read from standard input)"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
    (stat.S_ISSOCK, "a socket"),
)

_shown: dict[str, bytes] = {}  # the unsaved text of files that an editor has open
# What else stands for files, for one thread.
_instead: ContextVar[Mapping[str, bytes]] = ContextVar("instead", default=MappingProxyType({}))


@asks("content")
def read_bytes(path: Path | str, limit: int = MOST_BYTES) -> bytes:
    """The content of a regular file of at most ``limit`` bytes.

    Raises Unusable: what pipes and devices hold is never read, nor a larger file.
    """
    place = place_of(path)
    try:
        content = _stands_for(place)
        if content is None:
            content = _read(place, limit)
        if len(content) > limit:
            raise _too_large(limit)
    except Unusable as error:
        note(("content", place, limit), f"not usable: {error}".encode())
        raise
    note(("content", place, limit), content)
    return content


def read_bounded(file: BinaryIO, limit: int = MOST_BYTES) -> bytes:
    """All of ``file``, standard input say; raises Unusable when that is more than ``limit``."""
    content = file.read(limit + 1)
    if len(content) > limit:
        raise _too_large(limit)
    return content


def reason(error: OSError | ValueError) -> str:
    """What the system says is wrong, without number and file name."""
    text = getattr(error, "strerror", None) or str(error)
    return text[:1].lower() + text[1:]


@asks("kind")
def kind(path: Path | str) -> str:
    """FILE, FOLDER, OTHER (a device, say), BROKEN_LINK, NOTHING, or UNKNOWN: not ours to see."""
    place = place_of(path)
    found = _kind(place) if _stands_for(place) is None else FILE
    note(("kind", place), found.encode())
    return found


def is_file(path: Path | str) -> bool:
    """Whether ``path`` is a file; False where not even that can be asked."""
    return kind(path) == FILE


def exists(path: Path | str) -> bool:
    """Whether there is anything at ``path``, or cannot be told."""
    return kind(path) not in (NOTHING, BROKEN_LINK)


@asks("real")
def real(path: Path | str) -> str:
    """Where ``path`` leads once all links are followed."""
    place = place_of(path)
    found = os.path.realpath(place)
    note(("real", place), os.fsencode(found))
    return found


@asks("names")
def names(folder: Path | str, pattern: str = "*") -> tuple[str, ...]:
    """The names in ``folder`` that match, sorted; none where it cannot be read.

    ``pattern`` holds one ``*`` at most, for any characters.
    """
    place = place_of(folder)
    try:
        listed = set(os.listdir(place))
    except (OSError, ValueError):
        listed = set()
    standing = (*_shown, *_instead.get())
    listed.update(os.path.basename(path) for path in standing if os.path.dirname(path) == place)
    found = tuple(sorted(name for name in listed if _matches(name, pattern)))
    note(("names", place, pattern), os.fsencode("\0".join(found)))
    return found


@asks("entries")
def entries(folder: Path | str, *suffixes: str) -> tuple[tuple[str, bool], ...]:
    """The folders in ``folder``, and its files whose names end with a suffix, by name.

    Each with whether it is a folder. Links to folders are left out. Raises OSError.
    """
    place = place_of(folder)
    found = []
    with _scanned(place, "entries", place, *suffixes) as scan:
        for entry in scan:
            is_folder = entry.is_dir(follow_symlinks=False)
            if is_folder or (entry.name.endswith(suffixes) and _kind(entry.path) == FILE):
                found.append((entry.name, is_folder))
    found.sort()
    listing = "\0".join(f"{name}/" if is_folder else name for name, is_folder in found)
    note(("entries", place, *suffixes), os.fsencode(listing))
    return tuple(found)


@contextmanager
def _scanned(place: str, *asked: str | int) -> Iterator[Iterator[os.DirEntry[str]]]:
    """Scan a folder; an OSError, here or in the block, is noted as the answer to ``asked``."""
    try:
        with os.scandir(place) as scan:
            yield scan
    except OSError:
        note(asked, b"not readable")
        raise


class Entry(NamedTuple):
    """A folder or a regular file, by name. ``version`` changes with the content of a file."""

    name: str
    is_folder: bool
    nbytes: int
    version: int


@asks("listing")
def listing(folder: Path | str) -> tuple[Entry, ...]:
    """The folders in ``folder``, and its files of at most MOST_BYTES, by name.

    What was worked out from a file holds as long as its entry is the same: size and time. Links to
    folders are left out. Raises OSError.
    """
    place = place_of(folder)
    found = []
    with _scanned(place, "listing", place) as scan:
        for entry in scan:
            is_folder = entry.is_dir(follow_symlinks=False)
            standing = None if is_folder else _stands_for(entry.path)
            if is_folder:
                found.append(Entry(entry.name, True, 0, 0))
            elif standing is not None and not _is_saved(entry.path, standing):
                version = int.from_bytes(blake2b(standing, digest_size=8).digest(), "big")
                found.append(Entry(entry.name, False, len(standing), version))
            elif entry.is_file():
                status = entry.stat()
                if status.st_size <= MOST_BYTES:
                    found.append(Entry(entry.name, False, status.st_size, status.st_mtime_ns))
    found.sort()
    note(("listing", place), os.fsencode(repr(found)))
    return tuple(found)


def _is_saved(place: str, content: bytes) -> bool:
    try:
        return _read(place, len(content)) == content
    except Unusable:
        return False


@asks("texts")
def texts(folder: Path | str, pattern: str, limit: int, most: int) -> tuple[tuple[str, bytes], ...]:
    """The first ``most`` files of ``folder`` that match, by name; those over ``limit`` bytes not.

    One question, however many files they are.
    """
    place = place_of(folder)
    found = []
    digest = blake2b(digest_size=16)
    with noting(apart=True):
        for name in names(place, pattern)[:most]:
            try:
                content = read_bytes(os.path.join(place, name), limit)
            except Unusable:
                continue
            found.append((name, content))
            digest.update(os.fsencode(f"{name}\0{len(content)}\0"))
            digest.update(content)
    note(("texts", place, pattern, limit, most), digest.digest())
    return tuple(found)


def show(path: Path, content: bytes | None) -> None:
    """Let ``content`` stand for the file at ``path``; None: what is on the disk counts again."""
    place = place_of(path)
    if _shown.get(place) != content:
        if content is None:
            del _shown[place]
        else:
            _shown[place] = content
        forget(path)


@contextmanager
def instead(contents: Mapping[Path, bytes]) -> Iterator[None]:
    """Let ``contents`` stand for these files within the block, whatever an editor shows of them.

    Other threads see nothing of it.
    """
    standing = {**_instead.get(), **{place_of(path): each for path, each in contents.items()}}
    token = _instead.set(standing)
    try:
        with notes.supposing(standing):
            yield
    finally:
        _instead.reset(token)


def _stands_for(place: str) -> bytes | None:
    """What stands for the file at ``place``, if anything does."""
    content = _instead.get().get(place)
    return _shown.get(place) if content is None else content


def forget(path: Path | None = None) -> None:
    """Drop what was kept of ``path``, or everything, because it may have changed."""
    notes.forget(None if path is None else place_of(path))


def absolute(path: Path) -> Path:
    """``path`` from the root on, without ``..``; links are not followed: a linked config belongs to
    the link's folder."""
    return Path(os.path.abspath(path))


def place_of(path: Path | str) -> str:
    """``path`` from the root on; where it has ``..``, links decide what that means."""
    text = os.fspath(path)
    if ".." in text:
        return os.path.join(os.getcwd(), text)
    return os.path.abspath(text)


def _matches(name: str, pattern: str) -> bool:
    head, star, tail = pattern.partition("*")
    if not star:
        return name == pattern
    return len(name) >= len(head) + len(tail) and name.startswith(head) and name.endswith(tail)


def _read(place: str, limit: int) -> bytes:
    # What becomes a pipe meanwhile: opening it without O_NONBLOCK would wait for its writer.
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    try:
        _refuse(os.stat(place), limit)
        with open(os.open(place, flags), "rb", closefd=True) as file:
            status = os.fstat(file.fileno())
            _refuse(status, limit)
            content = file.read(status.st_size + 1)  # to ask for more than there is costs time
            return content + read_bounded(file, limit) if len(content) > status.st_size else content
    except (OSError, ValueError) as error:  # ValueError: a null byte in the path
        raise Unusable(reason(error)) from error


def _refuse(status: os.stat_result, limit: int) -> None:
    for is_kind, name in _KINDS:
        if is_kind(status.st_mode):
            raise Unusable(f"not a file but {name}")
    if status.st_size > limit:
        raise _too_large(limit)


def _too_large(limit: int) -> Unusable:
    mebibytes, rest = divmod(limit, 1 << 20)
    return Unusable(f"larger than {limit:,} bytes" if rest else f"larger than {mebibytes} MiB")


def _kind(place: str) -> str:
    try:
        mode = os.stat(place).st_mode
    except (FileNotFoundError, NotADirectoryError):
        return BROKEN_LINK if os.path.islink(place) else NOTHING
    except OSError:  # a symlink loop is one that cannot be followed either
        return BROKEN_LINK if os.path.islink(place) else UNKNOWN
    except ValueError:
        return UNKNOWN
    if stat.S_ISREG(mode):
        return FILE
    return FOLDER if stat.S_ISDIR(mode) else OTHER
