"""One config that a command is about: read, resolved for a target, judged on it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from nanolint.cli.parser import UsageError
from nanolint.frozen import dataclass

if TYPE_CHECKING:
    from nanolint.gpus.gpu import Machine
    from nanolint.linting.plan import Plan
    from nanolint.rule.context import Case
    from nanolint.run.settled import Options, Project
    from nanolint.source.assignments import Module


@dataclass(frozen=True, slots=True)
class ConfigFile:
    """A config under the name that the user gave it, and the project around it."""

    name: str
    text: str
    module: Module
    project: Project
    options: Options

    def case(self, target: Machine | None) -> Case:
        """The config on ``target``."""
        from nanolint.rule.context import Case
        from nanolint.trainers.nanogpt.resolve import resolve

        resolution = resolve(
            self.module, self.project, self.options, target, config_path=Path(self.name)
        )
        return Case(resolution, target)


def open_config(name: str, plan: Plan) -> ConfigFile:
    """Read the config called ``name``; raises UsageError, in one line, where that fails."""
    from nanolint.errors import Unusable
    from nanolint.files.door import read_bytes
    from nanolint.source.parse import Unparsable, parse
    from nanolint.source.refusals import TooComplex
    from nanolint.source.text import LineIndex, Undecodable, decode
    from nanolint.trainers.nanogpt.project import find_project
    from nanolint.trainers.nanogpt.resolve import star_importer

    path = Path(name)
    project = find_project(path, train_script=plan.train_script)
    try:
        text = decode(read_bytes(path)).text
        module = parse(text, project.environment, star_importer(project, path))
    except Unparsable as error:
        row, _ = LineIndex(text).position(error.offset)
        raise UsageError(f"{name}: not valid Python: {error}, line {row}") from error
    except (Unusable, Undecodable, TooComplex) as error:
        raise UsageError(f"{name}: {error}") from error
    return ConfigFile(name, text, module, project, plan.setup(path).options)
