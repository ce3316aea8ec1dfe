"""One reading at a time, and one search: they share what they learn. Those that are made ahead give
way."""

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
    """Somebody waits for an answer: what is read ahead ends. No error of what was read, so that
    nobody who expects one takes it for that."""


@contextmanager
def turn() -> Iterator[None]:
    """The block alone reads. Raises GaveWay where what is read ahead is to give way."""
    is_wanted = _gives_way.get()
    if is_wanted is not None and is_wanted():
        raise GaveWay
    with _turn:
        yield


@contextmanager
def ahead(is_wanted: Callable[[], bool]) -> Iterator[None]:
    """What the block reads is read ahead. It ends where ``is_wanted`` before a reading."""
    token = _gives_way.set(is_wanted)
    try:
        yield
    except GaveWay:
        pass
    finally:
        _gives_way.reset(token)
