"""The project around a config: the script that runs it, and what that says."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from nanolint.files.door import BROKEN_LINK, FILE, FOLDER, exists, kind, names
from nanolint.run.run import Dialect
from nanolint.run.settled import Project
from nanolint.run.trust import Doubt, Subject
from nanolint.trainers.nanogpt.keys import KEYS, OTHER_SCRIPTS_KEYS
from nanolint.trainers.nanogpt.kind import CONFIG_FOLDERS
from nanolint.trainers.nanogpt.launched_by import launching
from nanolint.trainers.nanogpt.script_project import (
    read_project,
    trainers_in,
    trains_by_configs,
)
from nanolint.trainers.nanogpt.train_script import FOREIGN

if TYPE_CHECKING:
    from collections.abc import Iterator
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
    dialect=Dialect.TOTAL,
    known_keys=frozenset(_DEFAULTS) | OTHER_SCRIPTS_KEYS,
)


def find_project(config_path: Path | None, *, train_script: Path | None = None) -> Project:
    """The project of the script that runs the config: the one that is named, the file itself where
    it is such a script, else that of the nearest folder at or above it which has one.

    Such a script loads the configurator and trains; train.py is taken before others, and those of
    the folders beside the config's where the folder itself has none. The search ends at the root of
    the repository. Which of several it is, and that one nearer by is not of this kind, are doubts.

    Without any, the project is nanoGPT's own: with a doubt, and unusable where there is a train.py
    or a configurator, whose runs are not known then. Never raises.
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
    for folder in _folders(path):
        candidates = _candidates(folder, problems)
        if candidates:
            return _chosen(candidates, path, problems)
    if not problems:
        problems = [
            (folder / CONFIGURATOR_NAME, "no training script beside it loads it")
            for folder in _folders(path)
            if kind(folder / CONFIGURATOR_NAME) == FILE
        ]
    return _unusable(problems) if problems else NANOGPT


def _folders(path: Path) -> Iterator[Path]:
    for folder in path.parents:
        yield folder
        if exists(folder / ".git"):
            return


def _candidates(folder: Path, problems: list[tuple[Path, str]]) -> list[Project]:
    """The projects of the training scripts in ``folder``, train.py first; where there is neither
    one nor a train.py of another kind, those of the folders in it."""
    train = folder / TRAIN_SCRIPT_NAME
    is_config = folder.name in CONFIG_FOLDERS
    scripts = list(trainers_in(folder))
    if kind(train) in (FILE, BROKEN_LINK) and not is_config:
        scripts = [train, *(each for each in scripts if each != train)]
    if not scripts and not is_config:
        scripts = [each for inner in _inner(folder) for each in trainers_in(inner)]
    found = []
    for script in scripts:
        project = read_project(script)
        if isinstance(project, Project):
            found.append(project)
        elif script == train:
            problems.append((script, project))
    return found


def _inner(folder: Path) -> list[Path]:
    """The folders in one that is above configs: ``src`` beside ``config``."""
    if not any(kind(folder / name) == FOLDER for name in CONFIG_FOLDERS):
        return []
    inner = [folder / name for name in names(folder)[:FOLDER_LIMIT] if not name.startswith(".")]
    return [each for each in inner if kind(each) == FOLDER]


def _chosen(candidates: list[Project], path: Path, problems: list[tuple[Path, str]]) -> Project:
    """The project whose script a launch line beside it starts with this config, else the first."""
    named = {each.train_script.name: each for each in candidates if each.train_script is not None}
    chosen, doubts = candidates[0], []
    if len(named) > 1:
        hints = launching(path, candidates[0].root) & named.keys()
        if len(hints) == 1:
            chosen = named[hints.pop()]
        else:
            *others, last = named
            text = f"{', '.join(others)} and {last} run configs"
            doubts.append(Doubt(Subject.SCRIPT, f"{text}; judged by {next(iter(named))}"))
    script = chosen.train_script.name if chosen.train_script else ""
    doubts += [
        Doubt(Subject.SCRIPT, f"judged by the {script} above a {path.name} that is not used: {why}")
        for path, why in problems
    ]
    return replace(chosen, doubts=(*doubts, *chosen.doubts)) if doubts else chosen


def _unusable(problems: list[tuple[Path, str]]) -> Project:
    return replace(
        NANOGPT,
        problems=tuple(f"{path}: {why}; memory is not judged" for path, why in problems),
        unusable="; ".join(f"{path.name}: {why}" for path, why in problems),
        foreign=any(FOREIGN in why for _, why in problems),
    )
