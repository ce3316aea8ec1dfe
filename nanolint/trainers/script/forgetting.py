"""What may set any of a program's own values: from there on none of them is known."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.run.terms import Given
from nanolint.trainers.script.things import TERMS

if TYPE_CHECKING:
    from nanolint.run.equation import NotKnown
    from nanolint.trainers.script.core import Core
    from nanolint.trainers.script.things import Thing


def forget(core: Core, names: dict[object, Thing], why: NotKnown, beginning: str = "") -> None:
    """Each value that a program gives itself may be another, if its name has that beginning."""
    for key, value in list(names.items()):
        if not isinstance(value, TERMS) or not str(key).startswith(beginning):
            continue
        if str(key).startswith("__"):  # __name__ and what else Python itself has
            continue
        if isinstance(value, Given):
            core.state.given.pop(value, None)
        core.state.journal.write(names, key, why)
