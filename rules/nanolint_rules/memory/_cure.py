"""What would make a run fit, as the memory rules hand it to each other."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from nanolint.rule import Fix


class Cure(NamedTuple):
    """What would make the run fit: a clause for people, the fix if the file can take it.

    ``changes`` are the keys that it gives other values.
    """

    clause: str
    fix: Fix | None = None
    notes: tuple[str, ...] = ()
    changes: frozenset[str] = frozenset()
