"""hydra: a function that is given what some files of settings come to, put together."""

from __future__ import annotations

import ast
import re
from contextlib import suppress
from os.path import normpath
from pathlib import Path
from typing import TYPE_CHECKING

from nanolint.errors import Refused
from nanolint.files.door import is_file
from nanolint.run.equation import NotKnown
from nanolint.source.hydra_files import layers
from nanolint.trainers.nanogpt.reading import read_source, syntax_tree
from nanolint.trainers.script.modules import roots_of
from nanolint.trainers.script.operations import scalar
from nanolint.trainers.script.settings_files import over, settings_in
from nanolint.trainers.script.things import NONE, Table, is_call_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from nanolint.run.program import SourceText
    from nanolint.run.terms import Place
    from nanolint.trainers.script.core import Core
    from nanolint.trainers.script.things import Function, Thing

MAIN = "hydra.main"
ORDER = ("config_path", "config_name")
_REFERENCE = re.compile(r"\$\{(\w+(?:\.\w+)*)\}")
_TARGET = re.compile(r"\b_target_[\"']?\s*:\s*[\"']?(\w+(?:\.\w+)+)")
MOST_REFERENCES = 8  # to values that refer to others


def files_of_hydra(sources: Mapping[Path, SourceText]) -> Iterator[Path]:
    """The files of settings that functions of the sources are given."""
    for path, source in sources.items():
        if f"{MAIN}(" in source.text:
            for folder, name in _named(source.text):
                found = _folder(path, folder)
                if found is not None:
                    yield from _files(found, name)


def modules_of_targets(text: str) -> list[str]:
    """The modules of what settings have hydra instantiate: ``_target_: models.gpt.GPT``."""
    return [each.rpartition(".")[0] for each in _TARGET.findall(text)]


def settings_of(core: Core, function: Function, place: Place) -> dict[str, Thing]:
    """What hydra gives a function's parameter; nothing where it is none of hydra's, or where that
    is not known."""
    made = next((each for each in function.decorators if is_call_of(each, MAIN)), None)
    parameters = function.node.args.args
    source = function.scope.source.path
    if made is None or source is None or not parameters or not core.state.around.is_bare:
        return {}
    given = dict(zip(ORDER, made.arguments, strict=False)) | made.named
    folder, name = (scalar(given.get(each, NONE)) for each in ORDER)
    beside = _folder(source, folder) if isinstance(folder, str) else None
    if beside is None or not isinstance(name, str):
        return {}
    settings: Thing = Table()
    try:
        for each in layers(name, lambda path: _text_of(beside / path)):
            settings = over(settings, settings_in(core, each.own, beside / each.path), place)
    except Refused as error:
        settings = core.unknown(f"read from hydra's settings: {error}", place)
    return {parameters[0].arg: _referred(settings, settings, place)}


def _referred(thing: Thing, root: Thing, place: Place, depth: int = 0) -> Thing:
    """With what values that refer to others come to: ``${model.width}``."""
    if isinstance(thing, Table):
        return Table({key: _referred(each, root, place) for key, each in thing.entries.items()})
    text = scalar(thing)
    if not isinstance(text, str) or "${" not in text:
        return thing
    found, path = root, _REFERENCE.fullmatch(text)
    for key in path[1].split(".") if path else ():
        found = found.entries.get(key, NONE) if isinstance(found, Table) else NONE
    if path is None or isinstance(found, Table) or found is NONE or depth == MOST_REFERENCES:
        return NotKnown("the target of a setting's reference", place.path, place.line)
    return _referred(found, root, place, depth + 1)


def _folder(source: Path, folder: str) -> Path | None:
    """The folder of settings that a file names; None for one that is outside of the project."""
    found = Path(normpath(source.parent / folder))
    inside = any(found.is_relative_to(each) for each in roots_of(source))
    return found if inside else None


def _text_of(path: Path) -> str | None:
    return read_source(path) if is_file(path) else None


def _named(text: str) -> Iterator[tuple[str, str]]:
    """The folder and the name of the settings in each call of ``hydra.main``."""
    try:
        tree = syntax_tree(text)
    except (Refused, RecursionError):
        return
    for each in ast.walk(tree):
        if isinstance(each, ast.Call) and ast.unparse(each.func) == MAIN:
            given = dict(zip(ORDER, each.args, strict=False))
            given |= {each.arg: each.value for each in each.keywords if each.arg is not None}
            folder, name = (_text(given.get(each)) for each in ORDER)
            if folder is not None and name is not None:
                yield folder, name


def _text(node: ast.expr | None) -> str | None:
    value = node.value if isinstance(node, ast.Constant) else None
    return value if isinstance(value, str) else None


def _files(folder: Path, name: str) -> Iterator[Path]:
    """Those that are read, whether or not all of them can be put together."""
    found: list[Path] = []

    def text_at(below: str) -> str | None:
        text = _text_of(folder / below)
        if text is not None:
            found.append(folder / below)
        return text

    with suppress(Refused):
        layers(name, text_at)
    yield from found
