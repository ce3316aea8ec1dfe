"""The configs of a project, each settled to the run that it describes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.errors import Unusable
from nanolint.files.door import names
from nanolint.source.values import TooComplex, Unparsable
from nanolint.trainers.nanogpt.config import read_config
from nanolint.trainers.nanogpt.kind import CONFIG_FOLDERS, FileKind
from nanolint.trainers.nanogpt.reading import read_source

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from nanolint.run.run import Run
    from nanolint.run.settled import Options, Project

CONFIG_LIMIT = 50  # files of a folder that are read


def config_runs(project: Project, options: Options) -> Iterator[tuple[str, Run]]:
    """What train.py would run, by the config's path below its folder, in their order.

    Without those that are not known before the run, or cannot be read.
    """
    for path in _candidates(project):
        run = _run(path, project, options)
        if run is not None and project.root is not None:
            yield path.relative_to(project.root).as_posix(), run


def _candidates(project: Project) -> Iterator[Path]:
    if project.root is not None:
        for folder in CONFIG_FOLDERS:
            yield from _scripts(project.root / folder)


def _scripts(folder: Path) -> list[Path]:
    return [folder / name for name in names(folder, "*.py")[:CONFIG_LIMIT]]


def _run(path: Path, project: Project, options: Options) -> Run | None:
    try:
        config = read_config(read_source(path), path, project, options, explicit=False)
    except (Unusable, Unparsable, TooComplex):
        return None
    return config.resolved(None).as_set if config.kind is FileKind.CONFIG else None
