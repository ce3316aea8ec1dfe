"""What runs leave on the disk for those after them: settings beside a checkpoint, and checkpoints.

The name of such a file is known in part only: ``base_checkpoints/*/meta_*.json``. It holds what
runs before this one in the same file of launch lines write into it, else what is on the disk.
"""

from __future__ import annotations

import posixpath
import re
from dataclasses import replace
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING

from nanolint.errors import Unusable
from nanolint.files.door import entries, is_file, names
from nanolint.files.repository import root_of
from nanolint.frozen import dataclass
from nanolint.run.described import ANY, Role, Saved, meet
from nanolint.run.equation import NotKnown
from nanolint.run.flags import plain_name
from nanolint.run.program import CHECKPOINTS, SAVED
from nanolint.run.terms import Given, Place, Surface, leaves
from nanolint.source.settings_text import Leaf, Listed, Mapped, NoSettings
from nanolint.trainers.nanogpt.reading import read_source
from nanolint.trainers.script.operations import row
from nanolint.trainers.script.things import NONE, REST, TERMS, Row, Table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from nanolint.run.described import Described
    from nanolint.source.settings_text import Node
    from nanolint.trainers.script.core import Around, Core
    from nanolint.trainers.script.things import Thing

    Describe = Callable[[Path, str, Around], Described | None]

MOST = 200  # files and folders that are looked at
DEEPEST = 8  # tables within tables
_UNKNOWN = Leaf(None, 0, 0, known=False)


@dataclass(frozen=True, slots=True)
class _Found:
    """What is taken for the file, where it stands, and why that is not certain."""

    contents: Node
    place: Place
    why: str = ""


def loaded(core: Core, like: str, read: Callable[[str], Node], place: Place) -> Thing:
    """What a file holds of whose name ``like`` is known."""
    state = core.state
    state.wanted[like] = None
    found = _written_before(state.around.saved, like) or _on_disk(state.roots, like, read)
    if found is None:
        hint = f"; {state.around.saver}" if state.around.saver else ""
        return core.unknown(f"read from {_short(like)}, which is not there{hint}", place)
    known = state.loaded.get(place, found.contents)
    state.loaded[place] = found.contents if known == found.contents else None
    if found.why:
        state.taken[NotKnown(found.why, found.place.path, found.place.line)] = None
    return _thing(core, found.contents, "", found.place)


def _short(like: str) -> str:
    """The end of a path: ``base_checkpoints/*/meta_*.json``."""
    return "/".join(like.split("/")[-3:])


def _written_before(saved: Sequence[Saved], like: str) -> _Found | None:
    """What a run before this one writes; of several the one whose name has the largest number."""
    found = [each for each in saved if meet(like, each.name)]
    if not found:
        return None
    last = max(found, key=lambda each: _counted(each.name))
    several = len({each.name for each in found}) > 1
    which = f", the last of {len(found)} by its name" if several else ""
    why = f"assuming that the checkpoint is {last.by}{which}"
    return _Found(last.contents, last.place or Place(None, 0), why)


def _on_disk(roots: Sequence[Path], like: str, read: Callable[[str], Node]) -> _Found | None:
    """What is there. Of several folders the one whose name has the largest number is taken, and of
    the files in it what all of them say."""
    paths = list(_paths(roots, like))
    folders = {each.parent for each in paths}
    if not folders:
        return None
    folder = max(folders, key=lambda each: _counted(each.as_posix()))
    files = sorted(each for each in paths if each.parent == folder)
    try:
        nodes = [read(read_source(path)) for path in files]
    except (Unusable, NoSettings):
        return None
    last = files[-1]
    others = f"one of {len(folders)} that are there"
    which = "the only one that is there" if len(folders) == 1 else others
    why = f"assuming that {_short(like)} is that of {folder.name}, {which}"
    return _Found(reduce(_agreed, nodes), Place(last, 0), why if ANY in like else "")


def _paths(roots: Sequence[Path], like: str) -> Iterator[Path]:
    """The files that have such a name; ``~`` is the user's folder."""
    parts = posixpath.normpath(like).split("/")
    if parts[0] == ANY:
        return
    if parts[0] == "~":
        try:
            starts = [Path.home()]
        except RuntimeError:  # there is none
            return
        del parts[0]
    elif parts[0] == "":
        starts = [Path("/")]
        del parts[0]
    else:
        starts = list(roots)
    for start in starts:
        level = [start]
        for part in parts:
            if part.count(ANY) > 1 or part == "..":
                return
            level = [
                each / name
                for each in level[:MOST]
                for name in (names(each, part)[:MOST] if ANY in part else (part,))
            ]
        yield from (each for each in level[:MOST] if is_file(each))


def _counted(name: str) -> list[tuple[int, str]]:
    """A name by the numbers in it: d9 comes before d12."""
    pieces = re.findall(r"\d+|\D+", name)
    return [(int(each), "") if each.isdecimal() else (-1, each) for each in pieces]


def _agreed(one: Node, other: Node) -> Node:
    """What two files say alike; of the rest nothing is known."""
    if isinstance(one, Mapped) and isinstance(other, Mapped):
        second = dict(other.entries)
        return Mapped(
            tuple((key, _agreed(each, second.get(key, _UNKNOWN))) for key, each in one.entries)
        )
    if isinstance(one, Leaf) and isinstance(other, Leaf):
        return one if (one.value, one.known) == (other.value, other.known) else _UNKNOWN
    return one if one == other else _UNKNOWN


def _thing(core: Core, node: Node, key: str, place: Place) -> Thing:
    if isinstance(node, Listed):
        return row([_thing(core, each, key, place) for each in node.items])
    if isinstance(node, Mapped):
        return Table({name: _thing(core, each, str(name), place) for name, each in node.entries})
    if not node.known:
        return NotKnown(f"the saved value of {key}", place.path, place.line)
    if node.value is None:
        return NONE
    found = Given(key, node.value, Surface.SAVED, Place(place.path, place.line))
    core.state.given[found] = None
    return found


def noted(core: Core, name: str, table: Thing | None) -> None:
    """Note what a script writes."""
    if isinstance(table, Table) and name:
        core.state.saved.append(Saved(name, _node(table, DEEPEST)))


def _node(thing: Thing, depth: int) -> Node:
    """A thing as JSON has it."""
    if isinstance(thing, Table) and REST not in thing.entries and depth:
        plain = (int, float, str)
        return Mapped(
            tuple(
                (key, _node(each, depth - 1))
                for key, each in thing.entries.items()
                if isinstance(key, plain)
            )
        )
    if isinstance(thing, Row) and thing.count is None and depth:
        return Listed(tuple(_node(each, depth - 1) for each in thing.items))
    return Leaf(thing.value, 0, 0) if isinstance(thing, TERMS) else _UNKNOWN


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


DEPTH = 3  # of folders that are looked into
MOST_FOLDERS = 200


def starts_afresh(script: Path) -> bool:
    """Whether no checkpoint lies beside ``script``, nor in the repository that it stands in."""
    folder = script.absolute().parent
    return not any(map(_may_have_checkpoint, {folder, root_of(folder) or folder}))


def _may_have_checkpoint(folder: Path) -> bool:
    """Whether a checkpoint lies in ``folder`` or not far below, or that cannot be told."""
    level = [folder]
    seen = 0
    for _ in range(DEPTH):
        below = []
        for each in level:
            seen += 1
            if seen > MOST_FOLDERS:
                return True
            try:
                listed = entries(each, *CHECKPOINTS)
            except OSError:
                return True
            files = ((each / name).relative_to(folder) for name, inner in listed if not inner)
            if any(SAVED.search(name.as_posix()) for name in files):
                return True
            below += [each / name for name, inner in listed if inner and not name.startswith(".")]
        level = below
    return False
