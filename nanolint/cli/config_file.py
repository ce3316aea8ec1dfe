"""One config that a command is about: read, resolved for a target, judged on it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from nanolint.cli.parser import UsageError
from nanolint.frozen import dataclass

if TYPE_CHECKING:
    from nanolint.cli.streams import Streams
    from nanolint.gpus.gpu import Machine
    from nanolint.linting.plan import Plan
    from nanolint.rule.context import Case
    from nanolint.run.settled import Options, Project
    from nanolint.source.assignments import Module


STDIN, STDIN_NAME = "-", "<stdin>"


@dataclass(frozen=True, slots=True)
class ConfigFile:
    """A config under the name that the user gave it, and the project around it.

    ``path`` is None for standard input that stands for no file.
    """

    name: str
    path: Path | None
    text: str
    module: Module
    project: Project
    options: Options

    def case(self, target: Machine | None) -> Case:
        """The config on ``target``."""
        from nanolint.rule.context import Case
        from nanolint.trainers.nanogpt.resolve import resolve

        resolution = resolve(self.module, self.project, self.options, target, config_path=self.path)
        return Case(resolution, target)


@dataclass(frozen=True, slots=True)
class Named:
    """What a command is about: a file, or standard input, which may stand for one."""

    name: str
    path: Path | None
    is_stdin: bool = False

    @property
    def folder(self) -> Path:
        """Where settings are looked for."""
        return self.path.parent if self.path else Path()


def named(given: str, stands_for: str | None) -> Named:
    """What the argument ``given`` names; ``stands_for`` is ``--stdin-filename``."""
    if given == STDIN:
        return Named(stands_for or STDIN_NAME, Path(stands_for) if stands_for else None, True)
    if stands_for is not None:
        raise UsageError("--stdin-filename goes with - (standard input)")
    return Named(given, Path(given))


def open_config(file: Named, plan: Plan, streams: Streams) -> ConfigFile:
    """Read ``file``; raises UsageError, in one line, where that fails or it holds no run."""
    from nanolint.errors import Unusable
    from nanolint.files.door import read_bytes
    from nanolint.source.parse import Unparsable, parse
    from nanolint.source.refusals import TooComplex
    from nanolint.source.text import LineIndex, Undecodable, decode
    from nanolint.trainers.nanogpt.kind import FileKind, classify
    from nanolint.trainers.nanogpt.project import find_project
    from nanolint.trainers.nanogpt.resolve import star_importer
    from nanolint.trainers.nanogpt.steps import environment_of

    name, path = file.name, file.path
    project = find_project(path, train_script=plan.train_script)
    try:
        raw = streams.read_stdin() if path is None or file.is_stdin else read_bytes(path)
        text = decode(raw).text
        environment = environment_of(path, project, plan.options)
        module = parse(text, environment, star_importer(project, path))
    except Unparsable as error:
        row, _ = LineIndex(text).position(error.offset)
        raise UsageError(f"{name}: not valid Python: {error}, line {row}") from error
    except (Unusable, Undecodable, TooComplex) as error:
        raise UsageError(f"{name}: {error}") from error
    if classify(module, text, path, project, explicit=True) is FileKind.SCRIPT:
        from nanolint.trainers.no_run import why_no_run

        raise UsageError(f"{name}: holds no run: {why_no_run(text)}")
    return ConfigFile(name, path, text, module, project, plan.setup(path).options)
