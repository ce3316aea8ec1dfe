"""Notes of what was asked of the disk, so that an answer knows what it was worked out from.

A note is a question and a digest of its answer: train.py's content, the names in a folder, a file
that was looked for and not found. What was worked out holds as long as the same questions have the
same answers: ``memo`` keeps it until ``forget``, the language server asks ``unchanged``.
"""

from __future__ import annotations

import os
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import wraps
from hashlib import blake2b
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple, ParamSpec, TypeAlias, TypeVar

from nanolint.errors import Unusable

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")

# A question is its kind, an absolute path, and what else it depends on. What was read maps each
# question to a digest of its answer.
Question: TypeAlias = tuple[str | int, ...]
Reads: TypeAlias = dict[Question, str]
CONTRADICTION = ""  # the digest of two different answers to one question: it changed meanwhile
LISTINGS = (
    "names",
    "entries",
    "texts",
    "listing",
)  # questions whose answer a new file in the folder changes


class Supposed(NamedTuple):
    """Files whose content is supposed to be another one, and what was worked out from that."""

    places: Collection[str]
    kept: dict[object, tuple[object, Reads]]

    def matters(self, reads: Reads) -> bool:
        """Whether what was read is another thing then."""
        return any(concerns(reads, place) for place in self.places)


_reads: ContextVar[Reads | None] = ContextVar("reads", default=None)
_supposed: ContextVar[Supposed | None] = ContextVar("supposed", default=None)
_forgotten, _forgetting = 0, Lock()  # how often ``forget`` was called, by one thread at a time
_memos: list[dict[tuple[object, ...], tuple[object, Reads]]] = []
_askers: dict[str, Callable[..., object]] = {}  # by the kind of a question, what asks it again


def digest(content: bytes) -> str:
    """32 hexadecimal digits that stand for ``content``."""
    return blake2b(content, digest_size=16).hexdigest()


def note(question: Question, answer: bytes) -> None:
    """Note, for whoever collects notes, that ``question`` was asked and what came of it."""
    reads = _reads.get()
    if reads is not None:
        _add(reads, question, digest(answer))


@contextmanager
def noting(*, apart: bool = False) -> Iterator[Reads]:
    """Collect the notes of the block; those around it get them too, unless ``apart``."""
    reads: Reads = {}
    token = _reads.set(reads)
    try:
        yield reads
    finally:
        _reads.reset(token)
        if not apart:
            recall(reads)


@contextmanager
def unnoted() -> Iterator[None]:
    """Note nothing in the block, which whoever collects notes knows otherwise."""
    token = _reads.set(None)
    try:
        yield
    finally:
        _reads.reset(token)


def recall(reads: Reads) -> None:
    """Add notes that were taken at another time."""
    around = _reads.get()
    if around is not None:
        for question, answer in reads.items():
            _add(around, question, answer)


def _add(reads: Reads, question: Question, answer: str) -> None:
    if reads.setdefault(question, answer) != answer:
        reads[question] = CONTRADICTION


def asks(kind: str) -> Callable[[Callable[Arguments, Result]], Callable[Arguments, Result]]:
    """Register the function that asks questions of this kind: ``@asks("content")``.

    It takes what stands in the question behind its kind, and notes the answer.
    """

    def register(asker: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
        _askers[kind] = asker
        return asker

    return register


def unchanged(reads: Reads) -> bool:
    """Whether each question in ``reads`` would be answered as it was."""
    for question, answer in reads.items():
        with noting(apart=True) as now:
            kind, *rest = question
            with suppress(Unusable, OSError):  # noted as the answer, like any other
                _askers[str(kind)](*rest)
        if now.get(question) != answer:
            return False
    return True


def concerns(reads: Reads, path: str) -> bool:
    """Whether what was read could differ when the file at the absolute ``path`` changes."""
    folder = os.path.dirname(path)
    return any(
        question[1] == path or (question[1] == folder and question[0] in LISTINGS)
        for question in reads
    )


def memo(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """Keep the results of ``function``, each with what it read, until ``forget``.

    Takes positional arguments only. Exceptions are not kept, nor is what another thread has had
    forgotten meanwhile.
    """
    kept: dict[tuple[object, ...], tuple[Result, Reads]] = {}

    @wraps(function)
    def remembered(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
        assert not kwargs
        supposed = _supposed.get()
        entry = kept.get(args)
        if supposed is not None and (entry is None or supposed.matters(entry[1])):
            entry = supposed.kept.get((remembered, args))  # type: ignore[assignment]
        if entry is not None:
            recall(entry[1])
            return entry[0]
        before = _forgotten
        with noting() as reads:
            entry = function(*args, **kwargs), reads
        if supposed is not None and supposed.matters(reads):
            supposed.kept[remembered, args] = entry
            return entry[0]
        with _forgetting:
            if _forgotten == before:
                kept[args] = entry
        return entry[0]

    _memos.append(kept)  # type: ignore[arg-type]
    return remembered


@contextmanager
def supposing(places: Collection[str]) -> Iterator[None]:
    """Keep what the block works out from the files at these absolute paths for the block alone."""
    token = _supposed.set(Supposed(places, {}))
    try:
        yield
    finally:
        _supposed.reset(token)


def forget(place: str | None = None) -> None:
    """Drop what was kept of the absolute path ``place``, or everything: it may have changed."""
    global _forgotten
    with _forgetting:
        _forgotten += 1
        for kept in _memos:
            if place is None:
                kept.clear()
            else:
                for key in [key for key, (_, reads) in kept.items() if concerns(reads, place)]:
                    del kept[key]
