"""The story of a run: what its loop does with modes, losses and gradients, as rules read it.

It has no tensor and no node: it is plain, frozen, and kept with the tape. An entry is a fact of the
replay and not of the text. What would need no rule is not told.
"""

from __future__ import annotations

from enum import Enum
from typing import TypeAlias

from nanolint.frozen import dataclass

# The lines of the project that lead to a place, the innermost first: file and number.
Stack: TypeAlias = "tuple[tuple[str, int], ...]"


class Fact(str, Enum):
    """The kinds of entries. ``words`` and ``numbers`` of an entry are named here in their order."""

    # An optimizer's step: the gradients of steps before are added to.
    # Words: the first names; numbers: parameters of which that is so, parameters with gradients.
    KEPT = "kept"


@dataclass(frozen=True, slots=True)
class Told:
    """An entry: ``place`` is its own, ``other`` another one that it is about."""

    what: Fact
    place: Stack
    other: Stack = ()
    words: tuple[str, ...] = ()
    numbers: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Story:
    """All that is told. ``is_whole``: nothing was passed over that may change what is told."""

    entries: tuple[Told, ...] = ()
    is_whole: bool = False

    def all(self, what: Fact) -> tuple[Told, ...]:
        """The entries of a kind."""
        return tuple(filter(lambda each: each.what is what, self.entries))


CLASSES: tuple[type, ...] = (Fact, Told, Story)
NO_STORY = Story()
