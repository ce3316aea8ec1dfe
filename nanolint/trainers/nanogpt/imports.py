"""``from config.base import *`` between configs, followed without running anything."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.errors import Unusable
from nanolint.files.door import is_file
from nanolint.source.values import Known
from nanolint.trainers.nanogpt.reading import read_source

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from nanolint.run.settled import Project
    from nanolint.source.values import Value

DEPTH_LIMIT = 16  # imports of imports


def star_importer(
    project: Project, config_path: Path | None
) -> Callable[[str], Mapping[str, Value] | None]:
    """The callback with which source.parse follows star imports of the file at ``config_path``."""
    return _importer(_search_path(project, config_path), (), {})


def root_importer(root: Path) -> Callable[[str], Mapping[str, Value] | None]:
    """As star_importer, for the scripts in ``root``."""
    return _importer((root,), (), {})


def _search_path(project: Project, config_path: Path | None) -> tuple[Path, ...]:
    """Where ``import`` would look: train.py's folder; without one, the folders above the file."""
    if project.root is not None:
        return (project.root,)
    return () if config_path is None else tuple(config_path.absolute().parents)[:2]


def _locate(module_name: str, places: tuple[Path, ...]) -> Path | None:
    parts = module_name.split(".")
    if not all(part.isidentifier() for part in parts):
        return None  # relative: a config has no package to be relative to
    for place in places:
        path = place.joinpath(*parts).with_suffix(".py")
        if is_file(path):
            return path
    return None


def _importer(
    places: tuple[Path, ...],
    importing: tuple[Path, ...],
    done: dict[Path, Mapping[str, Value] | None],
) -> Callable[[str], Mapping[str, Value] | None]:
    """``importing``: the files whose import is under way, outermost first. ``done``: all others;
    without it, files that import each other in layers would be read exponentially often."""

    def star_import(module_name: str) -> Mapping[str, Value] | None:
        path = _locate(module_name, places)
        if path is None or path in importing or len(importing) >= DEPTH_LIMIT:
            return None
        if path not in done:
            done[path] = _exports(path, _importer(places, (*importing, path), done))
        return done[path]

    return star_import


def _exports(
    path: Path, star_import: Callable[[str], Mapping[str, Value] | None]
) -> dict[str, Value] | None:
    """What ``import *`` takes from the module at ``path``, None when that cannot be told."""
    from nanolint.source.parse import Unparsable, parse
    from nanolint.source.values import TooComplex

    try:
        module = parse(read_source(path), None, star_import)
    except (Unusable, Unparsable, TooComplex):
        return None
    if any(key == "*" for key, _ in module.dynamic):
        return None
    values = module.final
    listed = values.get("__all__")
    if listed is None:
        return {key: value for key, value in values.items() if not key.startswith("_")}
    if not isinstance(listed, Known) or not isinstance(listed.value, (list, tuple)):
        return None
    return {key: values[key] for key in listed.value if isinstance(key, str) and key in values}
