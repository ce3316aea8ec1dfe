"""The project around a config: the train.py that runs it, and what that says."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from nanolint.errors import Unusable
from nanolint.files.door import BROKEN_LINK, FILE, exists, kind, names
from nanolint.files.notes import memo
from nanolint.frozen import dataclass
from nanolint.run.run import Dialect
from nanolint.run.settled import Project
from nanolint.run.trust import Doubt, Subject
from nanolint.trainers.nanogpt.choices import open_choices
from nanolint.trainers.nanogpt.imports import root_importer
from nanolint.trainers.nanogpt.keys import KEYS, OTHER_SCRIPTS_KEYS
from nanolint.trainers.nanogpt.reading import read_source, syntax_tree
from nanolint.trainers.nanogpt.recognition.pieces import recognise
from nanolint.trainers.nanogpt.train_script import (
    FOREIGN,
    compile_calls,
    names_read,
    read_train_script,
    settable_keys,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

TRAIN_SCRIPT_NAME = "train.py"
CONFIGURATOR_NAME = "configurator.py"
JUDGED_AS_NANOGPT = "judged by nanoGPT's own defaults"
TRAINING_KEYS = frozenset({"batch_size", "max_iters"})  # which bench.py and sample.py lack
SCRIPT_LIMIT = 200  # Python files beside train.py that are searched for more keys

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


@dataclass(frozen=True, slots=True)
class _Others:
    """What the other scripts beside a train.py that load the configurator let a config set, and
    which names they read; ``trainers`` names one for each key that only those which train have."""

    keys: frozenset[str]
    read: frozenset[str]
    trainers: Mapping[str, str]


def find_project(config_path: Path | None, *, train_script: Path | None = None) -> Project:
    """The project of the nearest folder at or above the config that has nanoGPT's train.py.

    The search ends at the root of the repository. Without a usable train.py the project is
    nanoGPT's own; ``problems`` then says why those that were found are not used, or that there is
    a configurator.py for scripts of other names. Never raises.
    """
    folders = [] if config_path is None else list(_folders(config_path.absolute()))
    if train_script is not None:
        candidates = [train_script.absolute()]
    else:
        found = (folder / TRAIN_SCRIPT_NAME for folder in folders)
        candidates = [each for each in found if kind(each) in (FILE, BROKEN_LINK)]
    problems: list[str] = []
    for candidate in candidates:
        project = _project(candidate)
        if isinstance(project, Project):
            return project
        problems.append(f"{candidate}: {project}; {JUDGED_AS_NANOGPT}")
    if not problems:
        problems = [
            f"{folder} has no {TRAIN_SCRIPT_NAME}; {JUDGED_AS_NANOGPT}, unless --train-script "
            "names another"
            for folder in folders
            if kind(folder / CONFIGURATOR_NAME) == FILE
        ]
    if not problems:
        return NANOGPT
    return replace(
        NANOGPT,
        problems=tuple(problems),
        doubts=tuple(Doubt(Subject.SCRIPT, problem) for problem in problems),
        foreign=any(FOREIGN in problem for problem in problems),
    )


def _folders(config_path: Path) -> Iterator[Path]:
    for folder in config_path.parents:
        yield folder
        if exists(folder / ".git"):
            return


@memo
def _project(train_script: Path) -> Project | str:
    """The project of a train.py, or why there is none."""
    try:
        return _read_project(train_script)
    except Unusable as error:
        return str(error)


def _scripts(folder: Path) -> list[Path]:
    return [folder / name for name in names(folder, "*.py")[:SCRIPT_LIMIT]]


def _read_project(train_script: Path) -> Project:
    """Raises Unusable when ``train_script`` is not nanoGPT's kind."""
    root = train_script.parent
    text = read_source(train_script)
    script = read_train_script(text, root_importer(root))
    recognition = recognise(script.tree, train_script)
    others = _other_scripts(train_script)
    own = names_read(script.tree)
    return Project(
        root=root,
        train_script=train_script,
        defaults=script.defaults,
        environment=script.environment,
        dialect=script.dialect,
        simulated_gpus=script.simulated_gpus,
        known_keys=others.keys.union(script.defaults),
        names_read=others.read | own,
        elsewhere={
            key: name
            for key, name in others.trainers.items()
            if key not in {*KEYS, *script.defaults, *own}
        },
        doubts=recognition.doubts,
        compile_mode=script.compile_mode,
        counts_emulation="including_emulation=False" not in text,
        deletes_logits=recognition.deletes_logits,
        settings_end=script.settings_end,
        open_choices=open_choices(script.tree),
        tree=script.tree,
        configurator=script.configurator,
        compiles=any(True for _ in compile_calls(script.tree)),
    )


def _other_scripts(train_script: Path) -> _Others:
    keys: set[str] = set()
    read: frozenset[str] = frozenset()
    trainers: dict[str, str] = {}
    samplers: frozenset[str] = frozenset()
    for path in _scripts(train_script.parent):
        if path == train_script:
            continue
        try:
            text = read_source(path)
            tree = syntax_tree(text) if "configurator" in text else None
        except Unusable:
            continue
        found = None if tree is None else settable_keys(tree)
        if tree is not None and found is not None:
            keys |= found
            read |= names_read(tree)
            if found >= TRAINING_KEYS:
                trainers = dict.fromkeys(found, path.name) | trainers
            else:
                samplers |= found
    only = {key: name for key, name in trainers.items() if key not in samplers}
    return _Others(frozenset(keys), read, only)
