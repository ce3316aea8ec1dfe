"""A part of train.py's loop that comes again is interpreted once and copied from then on."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from nanolint.tensors.device import Storage

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from nanolint.tape.tape import Handle, Mark, Tape


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

    def play(
        self,
        kind: str,
        state: Callable[[], list[Storage]],
        part: Callable[[], None],
        more: Callable[[list[Storage]], None] | None = None,
    ) -> None:
        """Run ``part``, or copy its events.

        ``state`` are the storages that live from one part to the next, by what holds them; those
        that a part adds at its end are handed to ``more`` where it is copied. A part that lets go
        of others, or leaves others behind, as a model does that keeps a tensor from one call to the
        next, is run each time.
        """
        tape, known = self._tape, self._parts.get(kind)
        held = [storage.handle for storage in state()]
        if known is None:
            start = tape.mark()
            part()
            kept = [storage.handle for storage in state()]
            end = tape.mark()
            adds = len(kept) > len(held) and more is not None and len(set(kept)) == len(kept)
            if (adds or len(held) == len(kept)) and _is_closed(tape, start, end, held, kept):
                self._parts[kind] = _Part(start, end, held, kept)
            return
        successor = dict(zip(known.held, held, strict=True))
        shift = tape.copy(known.start, known.end, successor)
        now = [successor.get(handle, handle + shift) for handle in known.kept]
        for storage, handle in zip(state(), now, strict=False):
            storage.handle = handle
        if more is not None:
            more([Storage(handle, tape.events) for handle in now[len(held) :]])


def _is_closed(
    tape: Tape, start: Mark, end: Mark, held: Sequence[Handle], kept: Sequence[Handle]
) -> bool:
    """Whether all that a part finds and lets go of is ``held``, and all that it leaves ``kept``."""
    made = range(start.allocations, end.allocations)
    freed = {~event for event in tape.events[start.events : end.events] if event < 0}
    strange = {handle for handle in freed if handle not in made}.difference(held)
    left = {handle for handle in made if handle not in freed}.difference(kept)
    return not strange and not left
