"""A part of train.py's loop that comes again is recorded once and copied from then on."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from nanolint.memory.tape import Handle, Mark, Tape


class _Part(NamedTuple):
    start: Mark
    end: Mark
    held: Sequence[Handle]
    kept: Sequence[Handle]


class Repeats:
    """Parts by their kind. Two of a kind differ in nothing but the handles they begin with."""

    def __init__(self, tape: Tape) -> None:
        self._tape = tape
        self._parts: dict[str, _Part] = {}

    def play(
        self, kind: str, held: Sequence[Handle], part: Callable[[], Sequence[Handle]]
    ) -> Sequence[Handle]:
        """The handles that outlive ``part``, which may free none but its own and ``held``."""
        known = self._parts.get(kind)
        if known is None:
            start = self._tape.mark()
            kept = part()
            self._parts[kind] = _Part(start, self._tape.mark(), held, kept)
            return kept
        successor = dict(zip(known.held, held, strict=True))
        shift = self._tape.copy(known.start, known.end, successor)
        return [successor.get(handle, handle + shift) for handle in known.kept]
