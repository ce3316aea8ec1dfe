"""The project around a config: the script that runs it, and what that says."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from nanolint.files.door import BROKEN_LINK, FILE, FOLDER, kind, names
from nanolint.files.repository import root_of, upward
from nanolint.run.settled import Project
from nanolint.run.trust import Doubt, Subject
from nanolint.trainers.nanogpt.belonging import belonging, folders_below, launching, read_elsewhere
from nanolint.trainers.nanogpt.keys import KEYS, OTHER_SCRIPTS_KEYS
from nanolint.trainers.nanogpt.kind import CONFIG_FOLDERS
from nanolint.trainers.nanogpt.script_project import (
    read_project,
    trainers_in,
    trains_by_configs,
)
from nanolint.trainers.nanogpt.train_script import FOREIGN
from nanolint.units import listed

if TYPE_CHECKING:
    from pathlib import Path

TRAIN_SCRIPT_NAME = "train.py"
CONFIGURATOR_NAME = "configurator.py"
FOLDER_LIMIT = 50  # folders beside a config's that are searched for a script

_DEFAULTS = {key.name: key.default for key in KEYS.values()}

# What a config without a project is judged by.
NANOGPT = Project(
    root=None,
    train_script=None,
    defaults=_DEFAULTS,
    environment=_DEFAULTS,
    known_keys=frozenset(_DEFAULTS) | OTHER_SCRIPTS_KEYS,
)

_LEFT_ALONE = replace(
    NANOGPT,
    doubts=(
        Doubt(
            Subject.SCRIPT, "nanolint found no training script; checked with nanoGPT's own train.py"
        ),
    ),
)


def find_project(config_path: Path | None, *, train_script: Path | None = None) -> Project:
    """The project of the script that runs the config: the one that is named, the file itself where
    it is such a script, else that of the nearest folder at or above it which has one.

    Such a script loads the configurator and trains; train.py is taken before others, and those of
    the folders beside the config's where the folder itself has none. The search ends at the root of
    the repository. Which of several it is, and that one nearer by is not of this kind, are doubts.

    Without any, the project is nanoGPT's own: unusable where there is a train.py or a configurator,
    whose runs are not known then, and with a doubt for a config of a repository. Never raises.
    """
    if train_script is not None:
        found = read_project(train_script.absolute())
        if isinstance(found, Project):
            return found
        return _unusable([(train_script.absolute(), found)])
    if config_path is None:
        return NANOGPT
    path = config_path.absolute()
    if path.name != TRAIN_SCRIPT_NAME and trains_by_configs(path):
        own = read_project(path)
        if isinstance(own, Project):
            return own
    problems: list[tuple[Path, str]] = []
    for folder in upward(path.parent):
        chosen = _chosen(_candidates(folder), path, problems)
        if chosen is not None:
            return chosen
    if not problems:
        problems = [
            (folder / CONFIGURATOR_NAME, "no training script next to it loads it")
            for folder in upward(path.parent)
            if kind(folder / CONFIGURATOR_NAME) == FILE
        ]
    if problems:
        return _unusable(problems)
    return _LEFT_ALONE if _is_of_a_project(path) else NANOGPT


def _is_of_a_project(path: Path) -> bool:
    """Whether a config is among those of a repository, whose script must then be somewhere."""
    root = root_of(path.parent)
    if root is None:  # a copy without its history, perhaps
        above = next((each for each in path.parents if each.name in CONFIG_FOLDERS), None)
        return above is not None and len(names(above.parent)) > 1
    return any(each.name in CONFIG_FOLDERS for each in path.parents if root in each.parents)


def _candidates(folder: Path) -> list[Path]:
    """The training scripts in ``folder``, train.py first; where there is none, those of the folders
    in it."""
    train = folder / TRAIN_SCRIPT_NAME
    is_config = folder.name in CONFIG_FOLDERS
    scripts = list(trainers_in(folder))
    if kind(train) in (FILE, BROKEN_LINK) and not is_config:
        scripts = [train, *(each for each in scripts if each != train)]
    if not scripts and not is_config:
        scripts = [each for inner in _inner(folder) for each in trainers_in(inner)]
    if not scripts and not is_config and _has_configs(folder):
        scripts = [each for inner in folders_below(folder) for each in trainers_in(inner)]
    return scripts


def _has_configs(folder: Path) -> bool:
    return any(kind(folder / name) == FOLDER for name in CONFIG_FOLDERS)


def _inner(folder: Path) -> list[Path]:
    """The folders in one that is above configs: ``src`` beside ``config``."""
    if not _has_configs(folder):
        return []
    inner = [folder / name for name in names(folder)[:FOLDER_LIMIT] if not name.startswith(".")]
    return [each for each in inner if kind(each) == FOLDER]


def _chosen(scripts: list[Path], path: Path, problems: list[tuple[Path, str]]) -> Project | None:
    """The project of the script that a launch line beside it starts with this config, else of the
    first that is usable; ``problems`` gathers why others are not."""
    usable = [each for each in scripts if trains_by_configs(each)]
    named = {each.name: each for each in usable}
    doubts: list[Doubt] = []
    rivals: list[Path] = []
    if path in usable:
        scripts = [path]
    elif len(named) > 1:
        hints = launching(path, usable[0].parent) & named.keys()
        if len(hints) == 1:
            scripts = [named[hints.pop()]]
        else:
            suited = belonging(path, usable) or usable
            if len(suited) > 1:
                text = f"{listed(named)} run configs; checked with {suited[0].name}"
                doubts.append(Doubt(Subject.SCRIPT, text))
                rivals = suited[1:]
            if len(suited) < len(usable):
                scripts = [*suited, *(each for each in scripts if each not in suited)]
    for script in scripts:
        project = read_project(script)
        if not isinstance(project, Project):
            problems.append((script, project))
            continue
        doubts += [
            Doubt(Subject.SCRIPT, f"checked with {script.name}, not with {nearer.name}: {why}")
            for nearer, why in problems
        ]
        elsewhere = read_elsewhere(path, script) if path != script else None
        if elsewhere is not None:
            key, other = elsewhere
            text = f"only {other.name} reads {key}; checked with {script.name}"
            doubts.append(Doubt(Subject.SCRIPT, text, other))
        if not doubts:
            return project
        return replace(project, doubts=(*doubts, *project.doubts), rivals=tuple(rivals))
    return None


def _unusable(problems: list[tuple[Path, str]]) -> Project:
    return replace(
        NANOGPT,
        problems=tuple(f"{path}: {why}; memory not checked" for path, why in problems),
        unusable="; ".join(f"{path.name}: {why}" for path, why in problems),
        foreign=any(FOREIGN in why for _, why in problems),
    )
