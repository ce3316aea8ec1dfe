"""The ways through a shell script: what has been set on each."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import Enum
from typing import TYPE_CHECKING

from nanolint.launches.commands import Argument
from nanolint.launches.shell.expand import Scope

if TYPE_CHECKING:
    from collections.abc import Iterable

MOST_WORLDS = 32


class Status(Enum):
    """Whether a command succeeds. A program is taken to, but ``||`` may come to its second side."""

    YES = "yes"
    NO = "no"
    EITHER = "either"
    LIKELY = "likely"


YES, NO, LIKELY = Status.YES, Status.NO, Status.LIKELY


@dataclass(slots=True)
class World:
    """What a script has set on one way to a place in it.

    ``folder`` is the working folder relative to the one at the start, None where not known.
    ``leaving`` is the command that leads away from here: ``exit``, ``return``, ``break``.
    ``status`` is how the last command ended.
    """

    variables: dict[str, tuple[Argument, ...]] = field(default_factory=dict)
    exported: frozenset[str] = frozenset()
    arguments: tuple[Argument, ...] | None = None
    folder: str | None = ""
    written: frozenset[str] = frozenset()
    leaving: str | None = None
    status: Status = Status.LIKELY

    @property
    def scope(self) -> Scope:
        """What its names stand for."""
        return Scope(self.variables, self.arguments)

    def copy(self) -> World:
        """One that goes its own way from here."""
        return replace(self, variables=dict(self.variables))

    def key(self) -> tuple[object, ...]:
        """The same for worlds between which there is no difference."""
        variables = frozenset(self.variables.items())
        others = self.exported, self.arguments, self.folder, self.written, self.leaving, self.status
        return variables, *others

    def environment(self) -> dict[str, Argument]:
        """What a program sees."""
        names = self.exported & self.variables.keys()
        return {name: self.variables[name][0] for name in names if self.variables[name]}


def hide(world: World, names: Iterable[str]) -> None:
    for name in names:
        reason = f"${name} is set in a loop"
        if name:
            world.variables[name] = (Argument(f"${name}", reason),)


def merged(worlds: list[World], most: int = MOST_WORLDS) -> list[World]:
    """Each different world once; where there are too many, one in which what differs is unknown."""
    different = list({world.key(): world for world in worlds}.values())
    if len(different) <= most:
        return different
    staying = [world for world in different if not world.leaving]
    leaving = {world.leaving: world for world in different if world.leaving}
    return [*([_blurred(staying)] if staying else []), *leaving.values()]


def _blurred(worlds: list[World]) -> World:
    """One world for several: what is not the same in all of them is not known."""
    first = worlds[0].copy()
    for name in {name for world in worlds for name in world.variables}:
        if any(world.variables.get(name) != first.variables.get(name) for world in worlds):
            reason = f"${name} has too many values"
            first.variables[name] = (Argument(f"${name}", reason),)
    first.folder = first.folder if all(w.folder == first.folder for w in worlds) else None
    first.written = frozenset().union(*(world.written for world in worlds))
    first.status = Status.LIKELY
    return first
