"""``collections.deque``: a list that is taken from at both ends, and keeps no more than it may."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from nanolint.interpreter.machine import Machine
    from nanolint.interpreter.values import Value


class Queue(list["Value"]):
    """A ``deque``, which holds ``most`` values if that is set."""

    def __init__(self, most: int | None) -> None:
        super().__init__()
        self.most = most


def queue(machine: Machine, values: Value = (), maxlen: Value = None) -> Value:
    """``deque(values, maxlen)``."""
    if maxlen is not None and not isinstance(maxlen, int):
        return machine.unknown("a queue of a length that is not known")
    found = Queue(maxlen)
    _extend(machine, found, values)
    return found


def _extend(machine: Machine, owner: Queue, more: Value) -> None:
    found = list(machine.iterate(more))
    machine.bounded(len(owner) + len(found))
    owner += found
    _drop_first(owner)


def _append(_machine: Machine, owner: Queue, value: Value) -> None:
    owner += [value]
    _drop_first(owner)


def _append_left(_machine: Machine, owner: Queue, value: Value) -> None:
    owner[:0] = [value]
    _drop_last(owner)


def _extend_left(machine: Machine, owner: Queue, more: Value) -> None:
    found = list(machine.iterate(more))
    machine.bounded(len(owner) + len(found))
    owner[:0] = found[::-1]
    _drop_last(owner)


def _pop_left(_machine: Machine, owner: Queue) -> Value:
    if not owner:
        raise IndexError("pop from an empty deque")
    return owner.pop(0)


def _rotate(_machine: Machine, owner: Queue, by: int = 1) -> None:
    by = by % len(owner) if owner else 0
    owner[:] = owner[len(owner) - by :] + owner[: len(owner) - by]


def _drop_first(owner: Queue) -> None:
    if owner.most is not None and len(owner) > owner.most:
        del owner[: len(owner) - owner.most]


def _drop_last(owner: Queue) -> None:
    if owner.most is not None:
        del owner[owner.most :]


METHODS: dict[str, Callable[..., Value]] = {
    "append": _append,
    "appendleft": _append_left,
    "extend": _extend,
    "extendleft": _extend_left,
    "popleft": _pop_left,
    "rotate": _rotate,
}
