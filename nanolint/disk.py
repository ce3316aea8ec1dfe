"""The door to the disk: what lies around a file is read here, with a note of all that was asked.

So a result knows what it was worked out from: train.py, model.py, settings, data, imported
configs, and also the files that were looked for and not found. It holds for as long as the same
questions have the same answers.
"""

from __future__ import annotations

import contextlib
import os
import stat
from contextvars import ContextVar
from fnmatch import fnmatchcase
from functools import wraps
from hashlib import blake2b
from pathlib import Path

TYPE_CHECKING = False  # importing typing takes longer than all of this module
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import ParamSpec, TypeVar

    Arguments = ParamSpec("Arguments")
    Result = TypeVar("Result")

FILE, FOLDER, OTHER = "file", "folder", "other"
BROKEN_LINK, NOTHING, UNKNOWN = "broken link", "nothing", "unknown"

# A question is its kind, an absolute path, and what else it depends on. What was read maps each
# question to a digest of its answer. Both are plain, so that they can be written down.
Question = tuple[str | int, ...]
Reads = dict[Question, str]

_reads: ContextVar[Reads | None] = ContextVar("reads", default=None)
_shown: dict[str, bytes] = {}  # the unsaved text of files that an editor has open
_memos: list[dict[tuple[object, ...], tuple[object, Reads]]] = []


class UnusableError(Exception):
    """A file that cannot be used; the message says why in a few words, without the path."""


def read_bytes(path: Path, limit: int) -> bytes:
    """The content of a regular file of at most ``limit`` bytes.

    Raises UnusableError: pipes and devices are never opened, larger files never read.
    """
    place = _place(path)
    try:
        content = _shown.get(place)
        if content is None:
            content = _read(path, limit)
        if len(content) > limit:
            raise UnusableError(f"is larger than {limit:,} bytes")
    except UnusableError as error:
        _note(("content", place, limit), f"not usable: {error}".encode())
        raise
    _note(("content", place, limit), content)
    return content


def kind(path: Path) -> str:
    """FILE, FOLDER, OTHER (a device, say), BROKEN_LINK, NOTHING, or UNKNOWN: not ours to see."""
    place = _place(path)
    found = FILE if place in _shown else _kind(path)
    _note(("kind", place), found.encode())
    return found


def is_file(path: Path) -> bool:
    """Whether ``path`` is a file; False where not even that can be asked."""
    return kind(path) == FILE


def exists(path: Path) -> bool:
    """Whether there is anything at ``path``, or cannot be told."""
    return kind(path) not in (NOTHING, BROKEN_LINK)


def names(folder: Path, pattern: str = "*") -> tuple[str, ...]:
    """The names in ``folder`` that match a shell pattern, sorted; none where it cannot be read."""
    place = _place(folder)
    try:
        listed = {entry.name for entry in folder.iterdir()}
    except (OSError, ValueError):
        listed = set()
    listed.update(Path(path).name for path in _shown if os.path.dirname(path) == place)  # noqa: PTH120
    found = tuple(sorted(name for name in listed if fnmatchcase(name, pattern)))
    _note(("names", place, pattern), "\0".join(found).encode("utf-8", "surrogateescape"))
    return found


def texts(folder: Path, pattern: str, limit: int, most: int) -> tuple[tuple[str, bytes], ...]:
    """The first ``most`` files of ``folder`` that match, by name; those over ``limit`` bytes not.

    One question, however many files they are.
    """
    found = []
    digest = blake2b(digest_size=16)
    with _apart():
        for name in names(folder, pattern)[:most]:
            with contextlib.suppress(UnusableError):
                content = read_bytes(folder / name, limit)
                found.append((name, content))
                digest.update(f"{name}\0{len(content)}\0".encode("utf-8", "surrogateescape"))
                digest.update(content)
    _note(("texts", _place(folder), pattern, limit, most), digest.digest())
    return tuple(found)


@contextlib.contextmanager
def recording() -> Iterator[Reads]:
    """Collect what is asked inside; whoever records around it is told too."""
    around = _reads.get()
    reads: Reads = {}
    token = _reads.set(reads)
    try:
        yield reads
    finally:
        _reads.reset(token)
        if around is not None:
            around.update(reads)


def unchanged(reads: Reads) -> bool:
    """Whether each question in ``reads`` would be answered as it was."""
    with _apart():
        for question, answer in reads.items():
            with recording() as now, contextlib.suppress(UnusableError):
                _ask(question)
            if now[question] != answer:
                return False
    return True


def memo(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """Keep the results of ``function``, each with what it read, until ``forget``.

    Takes positional arguments only. Exceptions are not kept.
    """
    kept: dict[tuple[object, ...], tuple[Result, Reads]] = {}

    @wraps(function)
    def remembered(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
        assert not kwargs
        entry = kept.get(args)
        if entry is None:
            with recording() as reads:
                entry = function(*args, **kwargs), reads
            kept[args] = entry
        else:
            around = _reads.get()
            if around is not None:
                around.update(entry[1])
        return entry[0]

    _memos.append(kept)  # type: ignore[arg-type]
    return remembered


def forget(path: Path | None = None) -> None:
    """Drop what was remembered of ``path``, or everything, because it may have changed."""
    if path is None:
        for kept in _memos:
            kept.clear()
        return
    place = _place(path)
    for kept in _memos:
        for key in [key for key, (_, reads) in list(kept.items()) if concerns(reads, place)]:
            kept.pop(key, None)


def concerns(reads: Reads, path: str) -> bool:
    """Whether what was read could differ when the file at the absolute ``path`` changes."""
    folder = os.path.dirname(path)  # noqa: PTH120
    return any(
        question[1] == path or (question[1] == folder and question[0] in ("names", "texts"))
        for question in reads
    )


def show(path: Path, content: bytes | None) -> None:
    """Let ``content`` stand for the file at ``path``; None: what is on the disk counts again."""
    place = _place(path)
    if _shown.get(place) != content:
        if content is None:
            del _shown[place]
        else:
            _shown[place] = content
        forget(path)


def _place(path: Path) -> str:
    return os.path.abspath(path)  # noqa: PTH100 (pathlib's leaves the dots in)


def _note(question: Question, answer: bytes) -> None:
    reads = _reads.get()
    if reads is not None:
        reads[question] = blake2b(answer, digest_size=16).hexdigest()


def _ask(question: Question) -> None:
    what, place, *rest = question
    _QUESTIONS[str(what)](Path(str(place)), *rest)


_QUESTIONS: dict[str, Callable[..., object]] = {
    "content": read_bytes,
    "kind": kind,
    "names": names,
    "texts": texts,
}


@contextlib.contextmanager
def _apart() -> Iterator[None]:
    """Tell nobody what is asked inside."""
    token = _reads.set(None)
    try:
        yield
    finally:
        _reads.reset(token)


def _read(path: Path, limit: int) -> bytes:
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            raise UnusableError("is not a regular file")
        if status.st_size > limit:
            raise UnusableError(f"is larger than {limit:,} bytes")
        with path.open("rb") as file:
            return file.read(limit + 1)
    except FileNotFoundError:
        raise UnusableError("does not exist") from None
    except (OSError, RuntimeError, ValueError) as error:
        # ValueError: a null byte in the path. RuntimeError: a symlink loop, before Python 3.13.
        reason = getattr(error, "strerror", None) or str(error)
        raise UnusableError(f"cannot be read: {reason}") from None


def _kind(path: Path) -> str:
    try:
        mode = path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return BROKEN_LINK if os.path.islink(path) else NOTHING  # noqa: PTH114
    except OSError:  # a symlink loop is one that cannot be followed either
        return BROKEN_LINK if os.path.islink(path) else UNKNOWN  # noqa: PTH114
    except (RuntimeError, ValueError):
        return UNKNOWN
    if stat.S_ISREG(mode):
        return FILE
    return FOLDER if stat.S_ISDIR(mode) else OTHER
