"""One reading at a time, and one search: they share what they learn. One that nobody waits for any
more, or not yet, gives way to others, in the middle of it if need be."""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from threading import RLock
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_turn = RLock()
_gives_way: ContextVar[Callable[[], bool] | None] = ContextVar("gives_way", default=None)


class GaveWay(BaseException):
    """Others wait for an answer: the block ends. No error of what was read, so that nobody who
    expects one takes it for that."""


@contextmanager
def turn() -> Iterator[None]:
    """The block alone reads. Raises GaveWay where it is to give way."""
    give_way()
    with _turn:
        give_way()
        yield


@contextmanager
def giving_way(is_to: Callable[[], bool]) -> Iterator[None]:
    """Where ``is_to``, what the block reads ends at its next step. Raises GaveWay then."""
    token = _gives_way.set(is_to)
    try:
        yield
    finally:
        _gives_way.reset(token)


def give_way() -> None:
    """A step of a reading, of a few milliseconds at most. Raises GaveWay where it is to end."""
    is_to = _gives_way.get()
    if is_to is not None and is_to():
        raise GaveWay
