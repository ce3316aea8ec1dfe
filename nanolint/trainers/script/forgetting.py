"""What may set any of a program's own values: from there on none of them is known."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.run.terms import Given

if TYPE_CHECKING:
    from nanolint.run.equation import NotKnown
    from nanolint.trainers.script.core import Core
    from nanolint.trainers.script.things import Thing


def forget(core: Core, names: dict[object, Thing], why: NotKnown) -> None:
    """Each value that a program gives itself may be another."""
    for key, value in list(names.items()):
        if isinstance(value, Given):
            core.state.given.pop(value, None)
            core.state.journal.write(names, key, why)
