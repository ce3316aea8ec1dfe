"""The door to the disk: what lies around a file is read here, with a note of all that was asked.

So a result knows what it was worked out from: train.py, model.py, settings, data, imported
configs, and also the files that were looked for and not found. It holds for as long as the same
questions have the same answers.
"""

from __future__ import annotations

import os
import stat
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import wraps
from hashlib import blake2b
from typing import TYPE_CHECKING, ParamSpec, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")

FILE, FOLDER, OTHER = "file", "folder", "other"
BROKEN_LINK, NOTHING, UNKNOWN = "broken link", "nothing", "unknown"

# A question is its kind, an absolute path, and what else it depends on. What was read maps each
# question to a digest of its answer.
Question = tuple[str | int, ...]
Reads = dict[Question, str]
CONTRADICTION = ""  # the digest of two different answers to one question: it changed meanwhile

_reads: ContextVar[Reads | None] = ContextVar("reads", default=None)
_shown: dict[str, bytes] = {}  # the unsaved text of files that an editor has open
_memos: list[dict[tuple[object, ...], tuple[object, Reads]]] = []


class UnusableError(Exception):
    """A file that cannot be used; the message says why in a few words, without the path."""


def read_bytes(path: Path | str, limit: int) -> bytes:
    """The content of a regular file of at most ``limit`` bytes.

    Raises UnusableError: pipes and devices are never opened, larger files never read.
    """
    place = place_of(path)
    try:
        content = _shown.get(place)
        if content is None:
            content = _read(place, limit)
        if len(content) > limit:
            raise UnusableError(f"is larger than {limit:,} bytes")
    except UnusableError as error:
        note(("content", place, limit), f"not usable: {error}".encode())
        raise
    note(("content", place, limit), content)
    return content


def kind(path: Path | str) -> str:
    """FILE, FOLDER, OTHER (a device, say), BROKEN_LINK, NOTHING, or UNKNOWN: not ours to see."""
    place = place_of(path)
    found = FILE if place in _shown else _kind(place)
    note(("kind", place), found.encode())
    return found


def is_file(path: Path | str) -> bool:
    """Whether ``path`` is a file; False where not even that can be asked."""
    return kind(path) == FILE


def exists(path: Path | str) -> bool:
    """Whether there is anything at ``path``, or cannot be told."""
    return kind(path) not in (NOTHING, BROKEN_LINK)


def real(path: Path | str) -> str:
    """Where ``path`` leads once all links are followed."""
    place = place_of(path)
    found = os.path.realpath(place)
    note(("real", place), os.fsencode(found))
    return found


def names(folder: Path | str, pattern: str = "*") -> tuple[str, ...]:
    """The names in ``folder`` that match, sorted; none where it cannot be read.

    ``pattern`` holds one ``*`` at most, for any characters.
    """
    place = place_of(folder)
    try:
        listed = set(os.listdir(place))
    except (OSError, ValueError):
        listed = set()
    listed.update(os.path.basename(path) for path in _shown if os.path.dirname(path) == place)
    found = tuple(sorted(name for name in listed if _matches(name, pattern)))
    note(("names", place, pattern), os.fsencode("\0".join(found)))
    return found


def entries(folder: Path | str, suffix: str) -> tuple[tuple[str, bool], ...]:
    """The folders in ``folder``, and its files whose names end with ``suffix``, by name.

    Each with whether it is a folder. Links to folders are left out. Raises OSError.
    """
    place = place_of(folder)
    found = []
    try:
        with os.scandir(place) as scan:
            for entry in scan:
                is_folder = entry.is_dir(follow_symlinks=False)
                if is_folder or (entry.name.endswith(suffix) and _kind(entry.path) == FILE):
                    found.append((entry.name, is_folder))
    except OSError:
        note(("entries", place, suffix), b"not readable")
        raise
    found.sort()
    told = "\0".join(f"{name}/" if is_folder else name for name, is_folder in found)
    note(("entries", place, suffix), os.fsencode(told))
    return tuple(found)


def texts(folder: Path | str, pattern: str, limit: int, most: int) -> tuple[tuple[str, bytes], ...]:
    """The first ``most`` files of ``folder`` that match, by name; those over ``limit`` bytes not.

    One question, however many files they are.
    """
    place = place_of(folder)
    found = []
    told = blake2b(digest_size=16)
    with recording(apart=True):
        for name in names(place, pattern)[:most]:
            try:
                content = read_bytes(os.path.join(place, name), limit)
            except UnusableError:
                continue
            found.append((name, content))
            told.update(os.fsencode(f"{name}\0{len(content)}\0"))
            told.update(content)
    note(("texts", place, pattern, limit, most), told.digest())
    return tuple(found)


@contextmanager
def recording(*, apart: bool = False) -> Iterator[Reads]:
    """Collect what is asked inside; whoever records around it is told too, unless ``apart``."""
    reads: Reads = {}
    token = _reads.set(reads)
    try:
        yield reads
    finally:
        _reads.reset(token)
        if not apart:
            recall(reads)


def recall(reads: Reads) -> None:
    """Tell whoever records now what was read at another time."""
    around = _reads.get()
    if around is not None:
        for question, answer in reads.items():
            _add(around, question, answer)


def note(question: Question, answer: bytes) -> None:
    """Tell whoever records that ``question`` was asked, and what came of it."""
    reads = _reads.get()
    if reads is not None:
        _add(reads, question, digest(answer))


def _add(reads: Reads, question: Question, answer: str) -> None:
    if reads.setdefault(question, answer) != answer:
        reads[question] = CONTRADICTION


def unchanged(reads: Reads) -> bool:
    """Whether each question in ``reads`` would be answered as it was."""
    for question, answer in reads.items():
        with recording(apart=True) as now:
            what, *rest = question
            with suppress(UnusableError, OSError):  # noted as the answer, like any other
                QUESTIONS[str(what)](*rest)
        if now.get(question) != answer:
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
            recall(entry[1])
        return entry[0]

    _memos.append(kept)  # type: ignore[arg-type]
    return remembered


def forget(path: Path | None = None) -> None:
    """Drop what was remembered of ``path``, or everything, because it may have changed."""
    if path is None:
        for kept in _memos:
            kept.clear()
        return
    place = place_of(path)
    for kept in _memos:
        for key in [key for key, (_, reads) in list(kept.items()) if concerns(reads, place)]:
            kept.pop(key, None)


def concerns(reads: Reads, path: str) -> bool:
    """Whether what was read could differ when the file at the absolute ``path`` changes."""
    folder = os.path.dirname(path)
    return any(
        question[1] == path or (question[1] == folder and question[0] in LISTINGS)
        for question in reads
    )


def show(path: Path, content: bytes | None) -> None:
    """Let ``content`` stand for the file at ``path``; None: what is on the disk counts again."""
    place = place_of(path)
    if _shown.get(place) != content:
        if content is None:
            del _shown[place]
        else:
            _shown[place] = content
        forget(path)


def digest(content: bytes) -> str:
    """32 hexadecimal digits that stand for ``content``."""
    return blake2b(content, digest_size=16).hexdigest()


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


# By the first word of a question, what asks it again. A module above may add to it.
QUESTIONS: dict[str, Callable[..., object]] = {
    "content": read_bytes,
    "kind": kind,
    "real": real,
    "names": names,
    "entries": entries,
    "texts": texts,
}
LISTINGS = ("names", "entries", "texts")  # change when a file appears in the folder


def _read(place: str, limit: int) -> bytes:
    try:
        status = os.stat(place)
        if not stat.S_ISREG(status.st_mode):
            raise UnusableError("is not a regular file")
        if status.st_size > limit:
            raise UnusableError(f"is larger than {limit:,} bytes")
        with open(place, "rb") as file:
            return file.read(limit + 1)
    except FileNotFoundError:
        raise UnusableError("does not exist") from None
    except (OSError, ValueError) as error:  # ValueError: a null byte in the path
        reason = getattr(error, "strerror", None) or str(error)
        raise UnusableError(f"cannot be read: {reason}") from None


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
