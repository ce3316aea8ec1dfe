"""The configs of a project: the assignments of each, the project around it, and its run."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from nanolint.errors import Unusable
from nanolint.files.door import names
from nanolint.frozen import dataclass
from nanolint.run.settled import Rivals
from nanolint.source.assignments import Module
from nanolint.source.comments import comments_of
from nanolint.source.parse import parse
from nanolint.source.values import TooComplex, Unparsable
from nanolint.trainers.nanogpt.configurator import environment_of, is_train_script, star_importer
from nanolint.trainers.nanogpt.kind import (
    CONFIG_FOLDERS,
    FileKind,
    classify,
    imports_loop,
    may_train,
)
from nanolint.trainers.nanogpt.reading import read_source
from nanolint.trainers.nanogpt.resolve import resolve

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nanolint.gpus.gpu import Machine
    from nanolint.run.run import Run
    from nanolint.run.settled import Options, Project, Resolution
    from nanolint.source.assignments import Comment
    from nanolint.source.values import Value

SHAPE = frozenset({"n_layer", "n_head", "n_embd"})


@dataclass(frozen=True, slots=True)
class Config:
    """A file as it was read. ``options`` are what the user said outside it.

    ``path`` is None for a text that stands for no file. A file of the kind SCRIPT describes no
    run; it is resolved all the same, for the rules that only look at its code. One of the kind
    TRAINER has no keys of nanoGPT's: what it sets is told by what it does with it.
    """

    text: str
    path: Path | None
    kind: FileKind
    module: Module
    project: Project
    options: Options

    @property
    def trace(self) -> str:
        """The command that traces the run: it settles what only a run tells."""
        script, options = self.project.train_script, self.options
        is_started = self.kind is not FileKind.CONFIG or script is None
        files = [self.path] if is_started else [script, self.path]
        line = options.line
        more = bool(line.flags or line.assigned or line.alone or options.arguments)
        folders = [Path.cwd(), *filter(None, [self.project.root])]
        words = [_within(folders, path) for path in files if path is not None] or ["train.py"]
        return " ".join(("nanolint trace -- python", *words, *["..."] * more))

    def resolved(self, target: Machine | None, *changes: tuple[str, Value]) -> Resolution:
        """Every key settled for one target; ``changes`` are keys and values put on top."""
        options = self.options
        if changes:
            options = replace(options, overrides=(*options.overrides, *changes))
        if self.kind is FileKind.TRAINER and self.path is not None:
            from nanolint.trainers.script.resolve import resolve_script  # configs do without

            return resolve_script(self.text, self.path.absolute(), options, target)
        found = resolve(self.module, self.project, options, target, config_path=self.path)
        if not self.project.rivals:
            return found
        doubt = self.project.doubts[0]  # which script it is comes first
        return replace(found, rivals=Rivals(doubt, partial(self._by_rivals, options, target)))

    def _by_rivals(self, options: Options, target: Machine | None) -> tuple[Resolution, ...]:
        """What the other scripts make of it that may run it."""
        from nanolint.trainers.nanogpt.project import find_project  # where there are any alone

        found = []
        for each in self.project.rivals:
            project = find_project(self.path, train_script=each)
            environment = environment_of(self.path, project, options)
            module = parse(self.text, environment, star_importer(project, self.path))
            found.append(resolve(module, project, options, target, config_path=self.path))
        return tuple(found)


def _within(folders: list[Path], path: Path) -> str:
    """A path as it is typed in the first of ``folders`` that it lies in."""
    inside = (path.relative_to(each) for each in folders if path.is_relative_to(each))
    return str(next(inside, path))


def read_config(
    text: str,
    path: Path | None,
    project: Project,
    options: Options,
    *,
    explicit: bool,
    target: Machine | None = None,
) -> Config:
    """Read ``text`` as the content of ``path``; ``explicit``: the user named the file itself.

    Whether a script makes a run is asked for ``target``, for which it is resolved next.

    Raises Unparsable or TooComplex.
    """
    may_run = may_train(text) or (
        explicit and path is not None and imports_loop(text, path.absolute())
    )
    if path is not None and may_run and not is_train_script(path, project):
        trainer = _trainer(text, path.absolute(), comments_of(text), options, target)
        if trainer is not None:
            return trainer
    environment = environment_of(path, project, options)
    module = parse(text, environment, star_importer(project, path))
    return config_of(module, text, path, project, options, explicit=explicit, target=target)


def config_of(
    module: Module,
    text: str,
    path: Path | None,
    project: Project,
    options: Options,
    *,
    explicit: bool,
    target: Machine | None = None,
) -> Config:
    """The config of a text that was read to ``module``; ``target`` as for ``read_config``."""
    kind = classify(module, text, path, project, explicit=explicit)
    if kind is FileKind.TRAIN_SCRIPT and not SHAPE & project.defaults.keys():
        kind = FileKind.SCRIPT  # its model has sizes of other names: llama2.c's
    if kind is FileKind.SCRIPT and path is not None and may_train(text):
        trainer = _trainer(text, path.absolute(), module.comments, options, target)
        if trainer is not None:
            return trainer
    return Config(text, path, kind, module, project, options)


def _trainer(
    text: str,
    path: Path,
    comments: tuple[Comment, ...] | None,
    options: Options,
    target: Machine | None,
) -> Config | None:
    """A script that makes a run of its own; None for any other, and without its ``comments``.

    No parser but Python's own is needed for it, which is half of the time that a check takes.
    """
    from nanolint.trainers.script.resolve import makes_run, project_of  # configs do without

    if comments is None or not makes_run(text, path, options, target):
        return None
    without_keys = Module((), (), comments)
    return Config(text, path, FileKind.TRAINER, without_keys, project_of(path), options)


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
