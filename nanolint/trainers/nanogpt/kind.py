"""What a Python file is to nanolint: a config, a train.py, or another script."""

from __future__ import annotations

import re
from enum import Enum
from typing import TYPE_CHECKING

from nanolint.regex import lazily

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

    from nanolint.run.settled import Project
    from nanolint.source.assignments import Module

LEAST_KEYS = 2  # known keys that make a file a config
MOST_STRANGERS = 2  # names that nothing reads, for each that train.py does
CONFIG_FOLDERS = ("config", "configs")

_UNINDENTED = lazily(r"^[A-Za-z_(][^\n#]*", re.MULTILINE)
_NAME = lazily(r"[A-Za-z_]\w*")
_STAR_IMPORT = lazily(r"^from\s+[\w.]+\s+import\s+\*", re.MULTILINE)
_PROGRAM = lazily(r"^(?:@|(?:async\s+)?def\s|class\s|for\s|while\s|with\s|torch\.)", re.MULTILINE)
# What trains, or builds what is trained, is not what a train.py runs with exec.
_TRAINS = re.compile(r"\.backward\s*\(|\bnn\.Module\b|\.add_argument\s*\(|\bTrainer\s*\(")
# What asks whether it is the program itself is none that another program runs with exec.
_IS_PROGRAM = lazily(r"^if\s+__name__\s*==", re.MULTILINE)
_OWN_LOOP = re.compile(r"\.backward\s*\(|\bTrainer\s*\(")
# A call of what trains, wherever that is defined: main.py starts the Trainer of trainer.py.
_STARTS = re.compile(r"[Tt]rain\w*(?:\.\w+)?\s*\(|\.fit\s*\(|CLI\s*\(")
_DEFINES = lazily(r"\s*(?:def|class|async|from|import)\b|[^#\n]*#")
_MODE = lazily(r"\.train\s*\(\s*(?:\)|True|False|mode)")  # of a model, as against evaluation
_IMPORTS = lazily(r"^\s*(?:from|import)\s", re.MULTILINE)
_IS_RUN = lazily(r"^(?:if\s+__name__\s*==|[A-Za-z_][\w.]*\s*\()", re.MULTILINE)
_LOADS_CONFIGURATOR = re.compile(
    r"^[^#\n]*(?:\bexec\s*\([^#\n]*configurator|\b(?:from|import)\s+configurator\b)", re.MULTILINE
)


class FileKind(Enum):
    """How a file is judged."""

    CONFIG = "config"
    TRAIN_SCRIPT = "train script"  # its globals are what configs inherit; a config too
    TRAINER = "trainer"  # trains a model of its own with values of its own: its own config
    SCRIPT = "script"  # sample.py, bench.py, model.py: only its code is looked at


def may_be_config(text: str, known_keys: Collection[str]) -> bool:
    """Whether ``text`` can be a config, without parsing it: never False for one."""
    return _STAR_IMPORT.search(text) is not None or sets_keys(text, known_keys)


def sets_keys(text: str, known_keys: Collection[str]) -> bool:
    """Whether ``text`` itself names enough keys beside ``=`` signs, parsable or not."""
    found: set[str] = set()
    for line in _UNINDENTED.finditer(text):
        if "=" in line[0]:
            found.update(name for name in _NAME.findall(line[0]) if name in known_keys)
            if len(found) >= LEAST_KEYS:
                return True
    return False


def loads_configurator(text: str) -> bool:
    """Whether ``text`` runs nanoGPT's configurator, as scripts do and configs do not."""
    return _LOADS_CONFIGURATOR.search(text) is not None


def trains(text: str) -> bool:
    """Whether ``text`` looks like a training script, of whatever kind."""
    return _OWN_LOOP.search(text) is not None


def may_train(text: str) -> bool:
    """Whether ``text`` trains, or may start what does, which only its reading can tell."""
    return trains(text) or any(
        _DEFINES.match(text, text.rfind("\n", 0, call.start()) + 1, call.start() + 1) is None
        and _MODE.match(text, call.start() - 1) is None
        for call in _STARTS.finditer(text)
    )


def imports_loop(text: str, path: Path) -> bool:
    """Whether a program imports a file of its project that trains, and so may start its loop."""
    if _IMPORTS.search(text) is None or _IS_RUN.search(text) is None:
        return False
    from nanolint.trainers.script.sources import sources  # configs do without

    return any(trains(source.text) for at, source in sources(text, path) if at != path)


def may_become_config(text: str, path: Path | None, project: Project) -> bool:
    """Whether a file that is being written, empty perhaps, can be meant for a config."""
    from nanolint.trainers.nanogpt.configurator import is_train_script

    if is_train_script(path, project):
        return True
    if _PROGRAM.search(text) or loads_configurator(text):
        return False
    return project.train_script is not None or may_be_config(text, project.known_keys)


def among_configs(path: Path | None, project: Project) -> bool:
    """Whether the file lies in a config folder of a project: what it sets is then for train.py."""
    if path is None or project.root is None:
        return False
    folders = path.absolute().parents
    inside = folders[: folders.index(project.root)] if project.root in folders else folders[:0]
    return any(folder.name in CONFIG_FOLDERS for folder in inside)


def classify(
    module: Module, text: str, path: Path | None, project: Project, *, explicit: bool
) -> FileKind:
    """What the file is. ``explicit``: the user named it, so it need not look like a config."""
    from nanolint.trainers.nanogpt.configurator import is_train_script

    if is_train_script(path, project):
        return FileKind.TRAIN_SCRIPT
    if loads_configurator(text) or _TRAINS.search(text) or _IS_PROGRAM.search(text):
        return FileKind.SCRIPT
    keys = {assignment.key for assignment in module.assignments}
    keys |= {key for key, _ in module.imported}
    keys &= project.known_keys
    # Only a config's folder or its user makes a config of a program: a test, a model or a sample.py
    # whose configurator line is commented out has names like batch_size of its own.
    of_project = among_configs(path, project)
    in_folder = of_project or (path is not None and path.absolute().parent.name in CONFIG_FOLDERS)
    # The configs of a fork whose train.py is not there may set anything.
    names_tell = project.train_script is not None or not in_folder
    is_strange = project.foreign or (names_tell and _is_for_another_program(module, project))
    if is_strange and not explicit:
        return FileKind.SCRIPT
    if len(keys) >= LEAST_KEYS and (explicit or in_folder or not _PROGRAM.search(text)):
        return FileKind.CONFIG
    # One key is enough, and so is a statement that may set any, where the file lies among the
    # configs of a project. Or where somebody named it, perhaps by a glob, or a commit hook did.
    sets_any = "*" in dict(module.dynamic)
    if of_project and ((keys and not _PROGRAM.search(text)) or sets_any):
        return FileKind.CONFIG
    if explicit and (keys or (in_folder and not _PROGRAM.search(text))):
        return FileKind.CONFIG
    return FileKind.SCRIPT


def _is_for_another_program(module: Module, project: Project) -> bool:
    """Whether nearly all that the file sets means nothing to the project's train.py."""
    names = {each.key for each in module.assignments if not each.key.startswith("_")}
    unread = names - {each.name for each in module.reads}
    known, read = project.known_keys, project.names_read
    strange = [each for each in unread if each not in known and each not in read]
    return len(strange) > MOST_STRANGERS * (len(names) - len(strange))
