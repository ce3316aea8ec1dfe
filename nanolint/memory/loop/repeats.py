"""A part of train.py's loop that comes again is interpreted once and copied from then on."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from nanolint.memory.tape import Handle, Mark, Tape
    from nanolint.memory.tensors.device import Storage


class _Part(NamedTuple):
    start: Mark
    end: Mark
    held: Sequence[Handle]
    kept: Sequence[Handle]


class Repeats:
    """Parts by their kind. Two of a kind differ in nothing but the allocations they begin with."""

    def __init__(self, tape: Tape) -> None:
        self._tape = tape
        self._parts: dict[str, _Part] = {}

    def play(self, kind: str, state: Callable[[], list[Storage]], part: Callable[[], None]) -> None:
        """Run ``part``, or copy its events.

        ``state`` are the storages that live from one part to the next, by what holds them: as many
        before ``part`` as behind it, which may release none but these and its own.
        """
        tape, known = self._tape, self._parts.get(kind)
        held = [storage.handle for storage in state()]
        if known is None:
            start = tape.mark()
            part()
            kept = [storage.handle for storage in state()]
            self._parts[kind] = _Part(start, tape.mark(), held, kept)
            return
        successor = dict(zip(known.held, held, strict=True))
        shift = tape.copy(known.start, known.end, successor)
        for storage, handle in zip(state(), known.kept, strict=True):
            storage.handle = successor.get(handle, handle + shift)
