"""Readings that outlive their process: a tape, or why a script cannot be read, as bytes.

They are kept by all that a reading follows from, texts included, so that none is of another run.
Who waits for an answer does not wait for that: see ``later``.
"""

from __future__ import annotations

import json
import zlib
from collections import deque
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from nanolint.files import cache
from nanolint.interpreter.values import Place, Unread
from nanolint.run.stop import Stop
from nanolint.run.story import CLASSES
from nanolint.tape.lasting import read_plainly, written_plainly
from nanolint.tape.located import Located
from nanolint.tape.locating import Line, Where
from nanolint.tape.tape import Component, Phase, Step, Tape

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator

QUICKLY = 1  # zlib's level
MOST_WAITING = 16  # readings; fewer than are remembered, so that none is read again meanwhile
UNTOLD = " at 0x"  # in the words for an object that do not tell what it holds
COMPONENTS = tuple(Component)
STORY: dict[str, Any] = {each.__name__: each for each in CLASSES}
AS_THEY_ARE = ("events", "sizes", "doubts", "above", "assumed", "printed", "flops", "trained")


def find(key: str) -> Tape | Unread | None:
    """What was kept of a reading; None where nothing was."""
    content = cache.find(key)
    return None if content is None else read(content)


def has(key: str) -> bool:
    """Whether anything was kept of a reading."""
    return cache.has(key)


def can_keep(key: str) -> bool:
    """Whether what came of a reading may be kept: ``key`` cannot be that of another one, too."""
    return cache.keeps() and UNTOLD not in key


def keep(key: str, found: Tape | Unread) -> None:
    """Keep what came of a reading, now or ``later``."""
    if can_keep(key):
        _waiting.append((key, found))
        keep_waiting(MOST_WAITING if _is_later.get() else 0)


@contextmanager
def later() -> Iterator[None]:
    """What is read in the block is kept by ``keep_waiting``, but for what is too much to wait: to
    write a tape takes some 10 ms."""
    token = _is_later.set(True)
    try:
        yield
    finally:
        _is_later.reset(token)


def keep_waiting(most: int = 0) -> None:
    """Keep what waits for it, until ``most`` are left."""
    with suppress(IndexError):  # where another thread takes the last one
        while len(_waiting) > most:
            key, found = _waiting.popleft()
            cache.keep(key, written(found))


_is_later: ContextVar[bool] = ContextVar("is_later", default=False)
_waiting: deque[tuple[str, Tape | Unread]] = deque()


def written(found: Tape | Unread) -> bytes:
    """The bytes of a tape, or of why there is none."""
    said = _unread_written(found) if isinstance(found, Unread) else _tape_written(found)
    return zlib.compress(json.dumps(said).encode(), QUICKLY)


def read(content: bytes) -> Tape | Unread:
    """What ``written`` made these bytes of."""
    said = json.loads(zlib.decompress(content))
    return _unread(**said) if "reason" in said else _tape(said)


def _unread_written(error: Unread) -> dict[str, Any]:
    path, line = error.place
    return {
        "reason": error.reason,
        "path": path,
        "line": line,
        "decided": error.decided,
        "stop": error.stop and error.stop.written,
    }


def _unread(reason: str, path: str, line: int, *, decided: bool, stop: list[Any] | None) -> Unread:
    error = Unread(reason, Place(path, line))
    error.decided = decided
    error.stop = None if stop is None else Stop.read(stop)
    return error


def _tape_written(tape: Tape) -> dict[str, Any]:
    names, named = _numbered(tape.names)
    said = {
        **{each: getattr(tape, each) for each in AS_THEY_ARE},
        "names": names,
        "named": named,
        "components": list(map(COMPONENTS.index, tape.components)),
        "phases": [(at, phase.value) for at, phase in tape.phases],
        "steps": tape.steps,
        "stop": tape.stop and tape.stop.written,
        "story": written_plainly(tape.story),
    }
    if isinstance(tape, Located):
        said["wheres"], said["placed"] = _numbered(tape.wheres)
    return said


def _tape(said: dict[str, Any]) -> Tape:
    tape = Located() if "wheres" in said else Tape()
    for each in AS_THEY_ARE:
        setattr(tape, each, said[each])
    tape.stop = said["stop"] and Stop.read(said["stop"])
    tape.story = read_plainly(said["story"], STORY)
    tape.names = [said["names"][each] for each in said["named"]]
    tape.components = [COMPONENTS[each] for each in said["components"]]
    tape.phases = [(at, Phase(phase)) for at, phase in said["phases"]]
    tape.steps = [
        Step(tuple((kind, flops) for kind, flops in done), tokens) for done, tokens in said["steps"]
    ]
    if isinstance(tape, Located):
        wheres = [each and _where(*each) for each in said["wheres"]]
        tape.wheres = [wheres[each] for each in said["placed"]]
    return tape


def _where(stack: list[tuple[str, int]], call: int) -> Where:
    return Where(tuple(Line(path, number) for path, number in stack), call)


def _numbered(values: Iterable[Hashable]) -> tuple[list[Hashable], list[int]]:
    """Each value once, and for all of them its number among these."""
    numbers: dict[Hashable, int] = {}
    column = [numbers.setdefault(each, len(numbers)) for each in values]
    return list(numbers), column
