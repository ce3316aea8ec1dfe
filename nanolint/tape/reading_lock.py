"""One reading at a time, and one search: they share what they learn. One that nobody waits for any
more, or not yet, gives way to others, in the middle of it if need be; or rests while they need no
turn, and goes on."""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from threading import RLock, get_ident
from time import sleep
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_turn = RLock()
_waiting: set[int] = set()  # threads that wait for their turn
_gives_way: ContextVar[Callable[[], bool] | None] = ContextVar("gives_way", default=None)
REST_S = 0.002


class GaveWay(BaseException):
    """Others wait for an answer: the block ends. No error of what was read, so that nobody who
    expects one takes it for that."""


@contextmanager
def turn() -> Iterator[None]:
    """The block alone reads. Raises GaveWay where it is to give way."""
    give_way()
    _wait()
    try:
        give_way()
        yield
    finally:
        _turn.release()


def _wait() -> None:
    if not _turn.acquire(blocking=False):
        _waiting.add(get_ident())
        try:
            _turn.acquire()
        finally:
            _waiting.discard(get_ident())


@contextmanager
def giving_way(is_to: Callable[[], bool]) -> Iterator[None]:
    """Where ``is_to``, what the block reads ends at its next step. Raises GaveWay then."""
    token = _gives_way.set(is_to)
    try:
        yield
    finally:
        _gives_way.reset(token)


def resting(is_to: Callable[[], bool], rests: Callable[[], bool]) -> Callable[[], bool]:
    """``is_to`` for what does nothing while it ``rests``, and ends where anybody waits for the
    turn, too."""

    def looks() -> bool:
        while not (is_to() or _waiting):
            if not rests():
                return False
            sleep(REST_S)
        return True

    return looks


def give_way() -> None:
    """A step of a reading, of a few milliseconds at most. Raises GaveWay where it is to end."""
    is_to = _gives_way.get()
    if is_to is not None and is_to():
        raise GaveWay
