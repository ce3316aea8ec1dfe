"""Files of settings that a script reads: YAML, JSON, TOML of the project, and what they hold."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING

from nanolint.diagnostics import Span
from nanolint.errors import Unusable
from nanolint.files.door import is_file
from nanolint.run.equation import NotKnown
from nanolint.run.flags import literal
from nanolint.run.terms import Given, Number, Place, Surface
from nanolint.source.settings_text import Leaf, Listed, NoSettings, read_json, read_yaml
from nanolint.source.text import LineIndex
from nanolint.source.toml_text import read_toml
from nanolint.trainers.nanogpt.reading import read_source
from nanolint.trainers.script import saved
from nanolint.trainers.script.definitions import given_value
from nanolint.trainers.script.operations import row, scalar
from nanolint.trainers.script.sources import PROGRAM
from nanolint.trainers.script.things import NONE, REST, External, Instance, Table, Thing

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from nanolint.source.settings_text import Node
    from nanolint.trainers.script.core import Core, Handler

FILE = "open file"
_PATHS = ("pathlib.Path", "Path", "pathlib.PurePath")
SUFFIXES = (".json", ".yaml", ".yml", ".toml")
TOML = ("tomllib", "tomli", "toml")
# What only takes a table for something with attributes, which a table is here.
SAME = (
    *("omegaconf.OmegaConf.create", "omegaconf.OmegaConf.to_container", "easydict.EasyDict"),
    *("munch.munchify", "munch.Munch.fromDict", "box.Box", "addict.Dict", "omegaconf.DictConfig"),
    *("ml_collections.ConfigDict", "ml_collections.config_dict.ConfigDict"),
)


def is_of_file(thing: Thing | None) -> bool:
    """Whether a table is what a file of settings holds."""
    if isinstance(thing, Table):
        return any(is_of_file(each) for each in thing.entries.values())
    path = thing.place.path if isinstance(thing, Given) else None
    return path is not None and path.name.endswith(SUFFIXES)


def opened(path: Thing, place: Place) -> Thing | None:
    """``open(path)`` of a file of settings, or of a program; None where that is not known."""
    name = _written(path)
    if name is None or not name.endswith((*SUFFIXES, PROGRAM)):
        return None
    return Instance(External(FILE), place, {}, (Number(name),))


def path_of(text: Thing) -> str | None:
    """Where the text lies that an open file gives."""
    if isinstance(text, Instance) and text.of == External(FILE):
        return _written(text.arguments[0])
    return None


def method(owner: Instance, name: str, place: Place) -> Thing | None:
    """A method of an open file or of a path: what has the same text."""
    of = owner.of.name if isinstance(owner.of, External) else ""
    if of == FILE and name in ("read", "__enter__"):
        return owner
    if of in _PATHS and name in ("resolve", "absolute"):
        return owner
    return opened(owner, place) if of in _PATHS and name in ("open", "read_text") else None


def part_of_path(owner: Instance, name: str) -> Thing | None:
    """``path.parent``; None for anything else."""
    text = _written(owner) if name == "parent" and owner.of != External(FILE) else None
    if text is None:
        return None
    return Instance(owner.of, owner.place, {}, (Number(posixpath.dirname(text) or "."),))


def joined(left: Thing, right: Thing) -> Thing | None:
    """``path / name``; None for anything else."""
    if not isinstance(left, Instance) or not isinstance(left.of, External):
        return None
    both = [_written(each) for each in (left, right)]
    if left.of.name not in _PATHS or None in both:
        return None
    return Instance(left.of, left.place, {}, tuple(Number(each) for each in both))


def _written(path: Thing) -> str | None:
    """The text of a path."""
    if isinstance(path, Instance) and isinstance(path.of, External) and path.of.name in _PATHS:
        parts = [scalar(each) for each in path.arguments]
        known = all(isinstance(each, str) for each in parts)
        return posixpath.join(*map(str, parts)) if parts and known else None
    text = scalar(path)
    return text if isinstance(text, str) else None


def _loaded(read: Callable[[str], Node], what: str) -> Handler:
    def handler(
        core: Core, arguments: Sequence[Thing], named: Mapping[str, Thing], place: Place
    ) -> Thing:
        source = arguments[0] if arguments else next(iter(named.values()), None)
        return settings_at(core, source, read, what, place)

    return handler


def settings_at(
    core: Core, source: Thing | None, read: Callable[[str], Node], what: str, place: Place
) -> Thing:
    """What an open file holds, or the file of a name."""
    is_open = isinstance(source, Instance) and source.of == External(FILE)
    named = source.arguments[0] if isinstance(source, Instance) and is_open else source
    if isinstance(source, NotKnown) and source.like.endswith(SUFFIXES):
        return saved.loaded(core, source.like, read, place)
    name = None if named is None else _written(named)
    if name is None or not (is_open or name.endswith(SUFFIXES)):
        return core.unknown(f"read from {what} that only the run names", place)
    return _read(core, name, read, place)


def _read(core: Core, name: str, read: Callable[[str], Node], place: Place) -> Thing:
    found = list(dict.fromkeys(_places(core.state.roots, name)))
    if not found:
        return core.unknown(f"read from {name}, which is not there", place)
    if len(found) > 1:
        return core.unknown(f"read from {name}, of which the project has several", place)
    try:
        text = read_source(found[0])
        node = read(text)
    except (Unusable, NoSettings) as error:
        return core.unknown(f"read from {name}: {error}", place)
    return _thing(core, node, "", _File(found[0], LineIndex(text)))


def _places(roots: Sequence[Path], name: str) -> list[Path]:
    """Where a path leads from a folder that the script may be started in, within the project."""
    top = roots[-1] if roots else None
    found = []
    for root in roots:
        path = root / posixpath.normpath(name)
        inside = top is not None and any(path.is_relative_to(each) for each in roots)
        if inside and ".." not in path.parts and is_file(path):
            found.append(path)
    return found


def settings_in(core: Core, node: Node, path: Path) -> Thing:
    """What a part of a file's settings gives. Raises Unusable."""
    return _thing(core, node, "", _File(path, LineIndex(read_source(path))))


class _File:
    def __init__(self, path: Path, lines: LineIndex) -> None:
        self._path, self._lines = path, lines

    def place(self, leaf: Leaf) -> Place:
        row, _ = self._lines.position(leaf.start)
        return Place(self._path, row, Span(leaf.start, leaf.end) if leaf.end else None)


def _thing(core: Core, node: Node, key: str, file: _File) -> Thing:
    if isinstance(node, Listed):
        return row([_thing(core, each, f"{key}[{at}]", file) for at, each in enumerate(node.items)])
    if not isinstance(node, Leaf):
        return Table({name: _thing(core, each, str(name), file) for name, each in node.entries})
    place = file.place(node)
    if not node.known:
        return NotKnown("a value of a kind that no setting has", place.path, place.line)
    if node.value is None:
        return Number(None)
    return given_value(core, key, node.value, Surface.ENTRY, place)


def _open(
    core: Core, arguments: Sequence[Thing], named: Mapping[str, Thing], place: Place
) -> Thing:
    path = arguments[0] if arguments else named.get("file")
    if isinstance(path, NotKnown):
        return path
    found = opened(path, place) if path is not None else None
    return found or core.unknown("calls open at run time", place)


def _dumped(
    core: Core, arguments: Sequence[Thing], named: Mapping[str, Thing], _place: Place
) -> Thing:
    """``json.dump(table, file)``."""
    both = dict(zip(("obj", "fp"), arguments, strict=False)) | dict(named)
    file = both.get("fp")
    if isinstance(file, NotKnown):
        saved.noted(core, file.like, both.get("obj"))
    elif isinstance(file, Instance) and file.of == External(FILE):
        saved.noted(core, _written(file.arguments[0]) or "", both.get("obj"))
    return NONE


def _same(
    _core: Core, arguments: Sequence[Thing], named: Mapping[str, Thing], place: Place
) -> Thing:
    first = arguments[0] if arguments else None
    if isinstance(first, (Table, NotKnown)):
        return first
    if first is not None:
        return NotKnown("settings", place.path, place.line)
    entries: dict[object, Thing] = {}
    entries.update(named)
    return Table(entries)


def _merged(
    _core: Core, arguments: Sequence[Thing], _named: Mapping[str, Thing], place: Place
) -> Thing:
    """``OmegaConf.merge``: each over those before it, entry by entry."""
    result: Thing = Table()
    for each in arguments:
        result = over(result, each, place)
    return result


def over(under: Thing, above: Thing, place: Place) -> Thing:
    """Settings over others: tables entry by entry, of anything else the upper one."""
    if isinstance(above, NotKnown):
        return above
    if not isinstance(under, Table) or not isinstance(above, Table):
        is_made = isinstance(above, Instance)
        return NotKnown("settings", place.path, place.line) if is_made else above
    entries = dict(under.entries)
    for key, value in above.entries.items():
        entries[key] = over(entries[key], value, place) if key in entries else value
    if REST in above.entries:
        return above.entries[REST]
    return Table(entries)


def _of_launch_line(
    core: Core, arguments: Sequence[Thing], named: Mapping[str, Thing], place: Place
) -> Thing:
    """``OmegaConf.from_cli()``: the words ``a.b=1`` of the launch line."""
    if arguments or named:
        return core.unknown("settings of a list of words", place)
    table = Table()
    for word in core.state.around.assigned:
        inner = table
        *outer, last = word.key.split(".")
        for name in outer:
            found = inner.entries.setdefault(name, Table())
            inner = found if isinstance(found, Table) else Table()
        if isinstance(word.value, NotKnown):
            inner.entries[last] = word.value
        else:
            where = word.place or core.state.around.launched
            given = Given(word.key, literal(word.value), Surface.FLAG, where)
            core.state.given[given] = None
            inner.entries[last] = given
    return table


def _of_path(function: Callable[[str], str]) -> Handler:
    def handler(
        core: Core, arguments: Sequence[Thing], _named: Mapping[str, Thing], place: Place
    ) -> Thing:
        text = _written(arguments[0]) if arguments else None
        return core.unknown("a path at run time", place) if text is None else Number(function(text))

    return handler


_YAML = _loaded(read_yaml, "a YAML file")
_JSON = _loaded(read_json, "a JSON file")
_TOML = _loaded(read_toml, "a TOML file")
_OMEGA = _loaded(lambda text: read_yaml(text, floats=True), "a YAML file")

HANDLERS: dict[str, Handler] = {
    "open": _open,
    "io.open": _open,
    "json.dump": _dumped,
    "os.path.dirname": _of_path(posixpath.dirname),
    "os.path.normpath": _of_path(posixpath.normpath),
    **dict.fromkeys(("os.path.abspath", "os.path.realpath"), _of_path(str)),
    **dict.fromkeys(("json.load", "json.loads", "orjson.loads"), _JSON),
    **{f"yaml.{each}": _YAML for each in ("load", "safe_load", "full_load", "unsafe_load")},
    **dict.fromkeys((f"{each}.{how}" for each in TOML for how in ("load", "loads")), _TOML),
    "omegaconf.OmegaConf.load": _OMEGA,
    "omegaconf.OmegaConf.merge": _merged,
    "omegaconf.OmegaConf.from_cli": _of_launch_line,
    **dict.fromkeys(SAME, _same),
}
