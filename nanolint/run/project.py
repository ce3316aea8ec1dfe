"""The project around a config: the train.py that runs it, and what that says."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from nanolint.run.config import Project
from nanolint.run.imports import root_importer
from nanolint.run.keys import KEYS, OTHER_SCRIPTS_KEYS
from nanolint.run.model import Dialect
from nanolint.run.pieces import recognise
from nanolint.run.reading import UnusableError, exists, read_source, syntax_tree
from nanolint.run.train_script import FOREIGN, names_read, read_train_script, settable_keys

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

TRAIN_SCRIPT_NAME = "train.py"
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

_Stamp = tuple[tuple[str, int, int], ...]
_cache: dict[Path, tuple[_Stamp, Project | str]] = {}


def find_project(config_path: Path | None, *, train_script: Path | None = None) -> Project:
    """The project of the nearest folder at or above the config that has nanoGPT's train.py.

    The search ends at the root of the repository. Without a usable train.py the project is
    nanoGPT's own; ``problems`` then says why those that were found are not used. Never raises.
    """
    if train_script is not None:
        candidates: Iterable[Path] = (train_script.absolute(),)
    else:
        candidates = () if config_path is None else _candidates(config_path.absolute())
    problems: list[str] = []
    for candidate in candidates:
        project = _project(candidate)
        if isinstance(project, Project):
            return project
        problems.append(f"{candidate} {project}; judged by nanoGPT's own defaults")
    if not problems:
        return NANOGPT
    return replace(
        NANOGPT,
        problems=tuple(problems),
        strange_pieces=(TRAIN_SCRIPT_NAME,),
        foreign=any(FOREIGN in problem for problem in problems),
    )


def _candidates(config_path: Path) -> Iterator[Path]:
    for folder in config_path.parents:
        candidate = folder / TRAIN_SCRIPT_NAME
        if exists(candidate) or _is_broken_link(candidate):
            yield candidate
        if _is_repository_root(folder):
            return


def _is_broken_link(path: Path) -> bool:
    try:
        return path.is_symlink()
    except OSError:
        return False


def _is_repository_root(folder: Path) -> bool:
    try:
        return (folder / ".git").exists()
    except OSError:
        return True


def _project(train_script: Path) -> Project | str:
    """The project of a train.py, or why there is none. Read again only when a file changed."""
    cached = _cache.get(train_script)
    if cached is not None:
        stamp, project = cached
        reads = project.reads if isinstance(project, Project) else (train_script,)
        if stamp == _stamp(train_script.parent, reads):
            return project
    try:
        project = _read_project(train_script)
        reads = project.reads
    except UnusableError as error:
        project, reads = str(error), (train_script,)
    _cache[train_script] = _stamp(train_script.parent, reads), project
    return project


def _stamp(folder: Path, reads: Iterable[Path]) -> _Stamp:
    """Changes when a file that the project was read from, or could be read from, does."""
    stamps = []
    for path in sorted({*reads, *_scripts(folder)}):
        try:
            status = path.stat() if exists(path) else path.lstat()
        except OSError:
            continue
        stamps.append((str(path), status.st_mtime_ns, status.st_size))
    return tuple(stamps)


def _scripts(folder: Path) -> list[Path]:
    try:
        return sorted(folder.glob("*.py"))[:SCRIPT_LIMIT]
    except OSError:
        return []


def _read_project(train_script: Path) -> Project:
    """Raises UnusableError when ``train_script`` is not nanoGPT's kind."""
    root = train_script.parent
    text = read_source(train_script)
    script = read_train_script(text, root_importer(root))
    recognition = recognise(script.tree, train_script)
    keys, names, scripts = _other_scripts(train_script)
    return Project(
        root=root,
        train_script=train_script,
        defaults=script.defaults,
        environment=script.environment,
        dialect=script.dialect,
        known_keys=frozenset(script.defaults) | keys,
        names_read=names_read(script.tree) | names,
        strange_pieces=recognition.strange,
        reads=tuple(dict.fromkeys((train_script, *recognition.reads, *scripts))),
        compile_mode=script.compile_mode,
        counts_emulation="including_emulation=False" not in text,
        manual_attention=recognition.manual_attention,
        settings_end=script.settings_end,
    )


def _other_scripts(train_script: Path) -> tuple[frozenset[str], frozenset[str], list[Path]]:
    """The other scripts beside train.py that load the configurator: keys, names read, paths."""
    keys: frozenset[str] = frozenset()
    names: frozenset[str] = frozenset()
    scripts = []
    for path in _scripts(train_script.parent):
        if path == train_script:
            continue
        try:
            text = read_source(path)
            tree = syntax_tree(text) if "configurator" in text else None
        except UnusableError:
            continue
        found = None if tree is None else settable_keys(tree)
        if tree is not None and found is not None:
            keys |= found
            names |= names_read(tree)
            scripts.append(path)
    return keys, names, scripts
