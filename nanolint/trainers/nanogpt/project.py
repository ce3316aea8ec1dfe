"""The project around a config: the script that it belongs to, and what that says."""

from __future__ import annotations

import ast
import re
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from nanolint.errors import Unusable
from nanolint.files.door import BROKEN_LINK, FILE, FOLDER, entries, kind, names, read_bytes, texts
from nanolint.files.notes import memo
from nanolint.files.repository import root_of, upward
from nanolint.regex import lazily
from nanolint.run.settled import Project
from nanolint.run.trust import Doubt, Subject
from nanolint.trainers.nanogpt.keys import KEYS, OTHER_SCRIPTS_KEYS
from nanolint.trainers.nanogpt.kind import CONFIG_FOLDERS
from nanolint.trainers.nanogpt.reading import read_source, syntax_tree
from nanolint.trainers.nanogpt.script_project import (
    read_project,
    scripts_in,
    settable,
    trainers_in,
    trains_by_configs,
)
from nanolint.trainers.nanogpt.train_script import FOREIGN
from nanolint.units import listed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
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


DEPTH = 3  # of folders below a project's that are searched
MOST_FOLDERS = 60
MOST_FILES = 60  # of a folder
MOST_BYTES = 1 << 18
DEFINES = b"def "  # which a config does not


def keys_set(config: Path) -> frozenset[str]:
    """The keys that a config assigns; none of one that cannot be read."""
    try:
        tree = syntax_tree(read_source(config))
    except (Unusable, RecursionError):
        return frozenset()
    return frozenset(
        target.id
        for statement in tree.body
        if isinstance(statement, ast.Assign)
        for target in statement.targets
        if isinstance(target, ast.Name) and not target.id.startswith("_")
    )


def belonging(config: Path, scripts: Sequence[Path]) -> list[Path]:
    """Those of ``scripts`` that have each key that the config sets and any of them has."""
    keys = {each: settable(each) for each in scripts}
    wanted = keys_set(config) & frozenset().union(*keys.values())
    return [each for each in scripts if wanted <= keys[each]]


@memo
def read_elsewhere(config: Path, script: Path) -> tuple[str, Path] | None:
    """A key that the config sets, that no script near reads, and a program further down that does:
    perhaps it is the config of another script."""
    near = scripts_in(script.parent)
    strange = keys_set(config) - KEYS.keys()
    for each in near:
        if not strange:
            return None
        strange -= _words(each)
    for key in sorted(strange):
        word = re.compile(rb"\b%s\b" % re.escape(key.encode()))
        for folder in folders_below(script.parent):
            for name, content in texts(folder, "*.py", MOST_BYTES, MOST_FILES):
                if folder / name != config and DEFINES in content and word.search(content):
                    return key, folder / name
    return None


def _words(path: Path) -> frozenset[str]:
    try:
        return frozenset(re.findall(r"[A-Za-z_]\w*", read_source(path)))
    except Unusable:
        return frozenset()


def folders_below(root: Path) -> Iterator[Path]:
    """The folders below one, the highest first."""
    waiting = [(root, 0)]
    found = 0
    while waiting and found < MOST_FOLDERS:
        folder, depth = waiting.pop(0)
        if depth:
            found += 1
            yield folder
        try:
            inner = entries(folder) if depth < DEPTH else ()
        except OSError:
            continue
        waiting += [(folder / name, depth + 1) for name, _ in inner if not name.startswith(".")]


MOST_LAUNCH_BYTES = 1 << 18  # of a README or a shell script
MOST_SHELL_FILES = 50
MOST_OF_SHELL = 30  # beside the scripts, with shell scripts of their own
_CONTINUED = lazily(r"\\\r?\n")
_SCRIPT = lazily(r"[\w./-]*?([\w-]+\.py)\b")


def launching(config: Path, root: Path | None) -> set[str]:
    """The names of the scripts that stand before the config on a line: ``train_x.py a.py``."""
    if root is None:
        return set()
    found = set()
    where = config.absolute().as_posix()
    named = re.compile(rf"[\w./-]*{re.escape(config.name)}")
    for text in (*_texts(root), *_said_in(config)):
        if config.name not in text:
            continue
        for line in _CONTINUED.sub(" ", text).splitlines():
            for each in named.finditer(line):
                if where.endswith(f"/{each[0].lstrip('./')}"):
                    found.update(_SCRIPT.findall(line[: each.start()])[-1:])
    return found


def _said_in(config: Path) -> list[str]:
    """The comments of the config itself, which may say how it is launched."""
    with suppress(Unusable):
        lines = read_bytes(config, MOST_LAUNCH_BYTES).decode("utf-8", "replace").splitlines()
        return ["\n".join(each for each in lines if each.lstrip().startswith("#"))]
    return []


def _texts(root: Path) -> list[str]:
    folders = [root]
    with suppress(OSError):
        folders += [root / name for name, _ in entries(root) if not name.startswith(".")]
    contents = [
        content
        for folder in folders[:MOST_OF_SHELL]
        for _, content in texts(folder, "*.sh", MOST_LAUNCH_BYTES, MOST_SHELL_FILES)
    ]
    with suppress(Unusable):
        contents.append(read_bytes(root / "README.md", MOST_LAUNCH_BYTES))
    return [content.decode("utf-8", "replace") for content in contents]
