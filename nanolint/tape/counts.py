"""What is known of a script's numbers that count steps, of whatever run.

It is the same where a whole number stands for a fraction that is being typed: that is another
family of runs, of the same script.
"""

from __future__ import annotations

from dataclasses import field
from functools import lru_cache
from typing import TYPE_CHECKING

from nanolint.frozen import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping

    from nanolint.run.program import SourceText


@dataclass(frozen=True, slots=True)
class Script:
    """A script without its numbers: those that count steps and that a second tape has shown to be
    followed, and such that it cannot be read with as symbolic ones."""

    shown: set[int] = field(default_factory=set)
    plain: set[frozenset[int]] = field(default_factory=set)


class Counts:
    """Those of a family's numbers that count steps; ``numbers`` are these in its script, by their
    places in the family, which are others where a whole number stands for a fraction."""

    def __init__(self, numbers: Mapping[int, int], script: Script) -> None:
        self._numbers, self._script = numbers, script
        self.places = frozenset(numbers)

    @property
    def shown(self) -> frozenset[int]:
        """The places of those that are shown to be followed."""
        shown = self._script.shown
        return frozenset(place for place, number in self._numbers.items() if number in shown)

    def show(self, places: frozenset[int]) -> None:
        """A second tape has shown that some are followed."""
        self._script.shown.update(self._numbers[each] for each in places & self.places)

    @property
    def are_plain(self) -> bool:
        """Whether the script cannot be read with symbolic ones."""
        return frozenset(self._numbers.values()) in self._script.plain

    def fail(self) -> None:
        """The script cannot be read with symbolic ones."""
        self._script.plain.add(frozenset(self._numbers.values()))


@lru_cache(maxsize=64)
def script_of(_texts: tuple[SourceText, ...]) -> Script:
    """What is known of a script, from whatever run of it."""
    return Script()
