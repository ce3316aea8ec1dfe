"""The runs that a script goes on from: what those before it save, or what another one would."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from nanolint.errors import Unusable
from nanolint.files.door import names
from nanolint.frozen import dataclass
from nanolint.run.equation import NotKnown
from nanolint.run.flags import plain_name
from nanolint.run.roles import Role
from nanolint.run.saved import meet
from nanolint.run.terms import Given, Place, leaves
from nanolint.trainers.nanogpt.reading import read_source

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from nanolint.run.described import Described
    from nanolint.run.saved import Saved
    from nanolint.trainers.script.core import Around

    Describe = Callable[[Path, str, Around], Described | None]

MOST_SCRIPTS = 30  # of a folder, that may save what another one loads


@dataclass(frozen=True, slots=True)
class Before:
    """What was saved; or ``saver``, which says what would save it. ``said`` are the values put on
    top that decide about it."""

    saved: tuple[Saved, ...] = ()
    saver: str = ""
    said: tuple[str, ...] = ()

    @property
    def is_nothing(self) -> bool:
        """Whether nothing is known of any such run."""
        return not (self.saved or self.saver)


def earlier(path: Path, found: Described, around: Around, describe: Describe) -> Before:
    """What the runs before the one of ``path`` save of what it wants.

    Where none is known, a script beside it that saves such a file stands for one, once a value was
    put on top that decides about that: ``--set depth=12``.
    """
    said: dict[str, None] = {}
    saved: list[Saved] = []
    before = around.before or ()
    for at, each in enumerate(before):  # which may itself go on from one before it
        own = replace(each.around, before=before[:at] or None)
        other = _described(each.script, own, describe)
        if other is not None:
            by = f"the one that {each.script.name} saves"
            saved += _of(other, found, each.place, by)
            said.update(dict.fromkeys(_said(other, around)))
    if saved:
        return Before(tuple(saved), said=tuple(said))
    for script in _beside(path):
        own = replace(around, words=(), assigned=(), before=None)
        other = _described(script, own, describe)
        if other is None or not any(_of(other, found, Place(script, 0), "")):
            continue
        if given := tuple(_said(other, around)):
            values = ", ".join(f"{name}={_value(around, name)}" for name in given)
            by = f"the one that {script.name} saves with {values} and its other defaults"
            return Before(tuple(_of(other, found, Place(script, 0), by)), said=given)
        why = f"{script.name} saves it, for which --set says with what{_example(other)}"
        return Before(saver=why)
    return Before()


def _described(path: Path, around: Around, describe: Describe) -> Described | None:
    try:
        return describe(path, read_source(path), around)
    except Unusable:
        return None


def _value(around: Around, name: str) -> object:
    word = around.change(name)
    return word.value if word is not None else None


def _of(other: Described, found: Described, place: Place, by: str) -> Iterator[Saved]:
    """What a script saves under a name that is wanted."""
    for each in other.saved:
        if any(meet(name, each.name) for name in found.wanted):
            yield replace(each, place=place, by=by)


def _said(other: Described, around: Around) -> Iterator[str]:
    """The values put on top that the other run is given, too."""
    names = dict.fromkeys(plain_name(given.key) for given in other.given)
    yield from (name for name in names if around.change(name) is not None)


def _beside(path: Path) -> Iterator[Path]:
    """The other scripts of the folder that train."""
    for name in names(path.parent, "*.py")[:MOST_SCRIPTS]:
        other = path.parent / name
        try:
            if other != path and ".backward(" in read_source(other):
                yield other
        except Unusable:
            continue


def _example(other: Described) -> str:
    """``: --set depth=20``, by what decides how many layers there are."""
    layers = other.roles.get(Role.LAYERS)
    if layers is None or isinstance(layers, NotKnown):
        return ""
    given = next((each for each in leaves(layers) if isinstance(each, Given)), None)
    return "" if given is None else f": --set {plain_name(given.key)}={given.value}"
