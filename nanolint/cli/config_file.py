"""One config that a command is about: read, resolved for a target, judged on it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from nanolint.cached import cached_property
from nanolint.cli.parser import UsageError
from nanolint.frozen import dataclass

if TYPE_CHECKING:
    from nanolint.cli.streams import Streams
    from nanolint.gpus.gpu import Machine
    from nanolint.linting.plan import Plan
    from nanolint.rule.case import Case
    from nanolint.trainers.nanogpt.config import Config


STDIN, STDIN_NAME = "-", "<stdin>"


@dataclass(frozen=True)
class ConfigFile:
    """A config under the name that the user gave it.

    Pickled, it is its text: another process reads it again, for syntax trees do not travel.
    """

    name: str
    path: Path | None
    text: str
    plan: Plan

    @cached_property
    def config(self) -> Config:
        """The text as it was read; raises Unparsable or TooComplex."""
        from nanolint.trainers.nanogpt.config import read_config
        from nanolint.trainers.nanogpt.project import find_project

        project = find_project(self.path, train_script=self.plan.train_script)
        options = self.plan.setup(self.path).options
        return read_config(self.text, self.path, project, options, explicit=True)

    def case(self, target: Machine | None) -> Case:
        """The config on ``target``."""
        from nanolint.rule.case import case_of

        return case_of(self.config, target)


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
        raise UsageError("--stdin-filename needs - (standard input)")
    return Named(given, Path(given))


def open_config(file: Named, plan: Plan, streams: Streams) -> ConfigFile:
    """Read ``file``; raises UsageError, in one line, where that fails or it holds no run."""
    from nanolint.errors import Unusable
    from nanolint.files.door import read_bytes
    from nanolint.source.text import LineIndex, Undecodable, decode
    from nanolint.source.values import TooComplex, Unparsable
    from nanolint.trainers.nanogpt.kind import FileKind

    name, path = file.name, file.path
    try:
        raw = streams.read_stdin() if path is None or file.is_stdin else read_bytes(path)
        text = decode(raw).text
        opened = ConfigFile(name, path, text, plan)
        config = opened.config
    except Unparsable as error:
        row, _ = LineIndex(text).position(error.offset)
        raise UsageError(f"{name}: not valid Python: {error}, line {row}") from error
    except (Unusable, Undecodable, TooComplex) as error:
        raise UsageError(f"{name}: {error}") from error
    options = config.options
    if config.kind is FileKind.SCRIPT:
        from nanolint.trainers.no_run import why_no_run

        raise UsageError(f"{name}: holds no run: {why_no_run(text, path, options)}")
    from nanolint.cli.launched import refused_by_parser, refused_by_project

    if config.kind is FileKind.TRAINER:
        refused = refused_by_parser(text, path, options)
    else:
        refused = refused_by_project(text, path, options, plan.train_script)
    if refused is not None:
        raise UsageError(f"{name}: {refused}")
    return opened
