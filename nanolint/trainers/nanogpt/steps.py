"""What train.py reads on its launch line, from left to right, as its configurator does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.errors import Unusable
from nanolint.frozen import dataclass
from nanolint.run.settled import Layer, Origin, Override, Setting
from nanolint.source.values import Known, Unknown
from nanolint.trainers.nanogpt.imports import star_importer
from nanolint.trainers.nanogpt.keys import KEYS
from nanolint.trainers.nanogpt.reading import read_source

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from nanolint.run.settled import Options, Project
    from nanolint.source.assignments import Module
    from nanolint.source.values import Value


@dataclass(frozen=True, slots=True)
class Step:
    """A config or an override, and what it sets; ``config`` is None for an override."""

    config: Path | None
    settings: tuple[Setting, ...]


def steps(
    module: Module | None, project: Project, options: Options, config_path: Path | None
) -> Iterator[Step]:
    """What is read on top of train.py's defaults, in that order.

    The file at ``config_path`` is given as ``module``. Where the launch line does not name it, it
    is read first.
    """
    values = dict(project.environment)
    if module is not None and config_path not in options.arguments:
        yield Step(config_path, tuple(_file_settings(module, project, config_path)))
    for argument in options.arguments:
        if isinstance(argument, Override):
            step = Step(None, (_overridden(argument),))
        elif argument == config_path and module is not None:
            step = Step(argument, tuple(_file_settings(module, project, argument)))
        else:
            step = Step(argument, tuple(_other_settings(argument, project, values)))
        values |= {setting.key: setting.value for setting in step.settings}
        yield step
    for key, value in options.overrides:
        yield Step(None, (_overridden(Override(key, value)),))


def environment_of(
    config_path: Path | None, project: Project, options: Options
) -> Mapping[str, Value]:
    """The names that exist when the launch line's ``config_path`` is executed."""
    values = dict(project.environment)
    if config_path not in options.arguments:
        return values
    for step in steps(None, project, options, None):
        if step.config == config_path:
            break
        values |= {setting.key: setting.value for setting in step.settings}
    return values


def _overridden(override: Override) -> Setting:
    origin = Origin(Layer.OVERRIDE, span=override.place)
    return Setting(override.key, override.value, origin)


def _other_settings(
    path: Path, project: Project, environment: Mapping[str, Value]
) -> Iterator[Setting]:
    """What another config of the launch line sets; all keys are unknown where it is unreadable."""
    from nanolint.source.parse import Unparsable, parse
    from nanolint.source.values import TooComplex

    origin = Origin(Layer.LAUNCHED, path)
    try:
        module = parse(read_source(path), environment, star_importer(project, path))
    except (Unusable, Unparsable, TooComplex) as error:
        reason = f"{path.name} cannot be read: {error}"
        for key in {*KEYS, *project.defaults}:
            yield Setting(key, Unknown(reason), origin)
        return
    for setting in _file_settings(module, project, path):
        yield Setting(setting.key, setting.value, origin)


def _file_settings(module: Module, project: Project, config_path: Path | None) -> Iterator[Setting]:
    """What the file at ``config_path`` sets."""
    if is_train_script(config_path, project):
        yield from _train_script_settings(module, project, config_path)
        return
    assigned = {assignment.key: assignment for assignment in module.assignments}
    dynamic = dict(module.dynamic)
    imported = {key for key, _ in module.imported}
    for key, value in module.final.items():
        origin = Origin(Layer.FILE, config_path)
        if key in assigned:
            # Of a chain of writings, the last counts: an assignment, an import, or a block.
            origin = Origin(Layer.FILE, config_path, assigned[key].value_span)
            if key in imported and assigned[key].value != value and key not in dynamic:
                origin = Origin(Layer.IMPORT)
        elif key in imported:
            origin = Origin(Layer.IMPORT)
        elif key not in dynamic and key not in project.defaults:
            continue  # a function, a class or a module: nothing that train.py reads
        yield Setting(key, value, origin)
    if "*" in dynamic:
        for key in {*KEYS, *project.defaults} - module.final.keys():
            yield Setting(key, Unknown(dynamic["*"]), Origin(Layer.FILE, config_path))


def _train_script_settings(
    module: Module, project: Project, config_path: Path | None
) -> Iterator[Setting]:
    """What stands above the configurator line of a train.py.

    What the rest does to the names (under ``if ddp:``, say) is the run itself, which the replay
    knows. ``module`` may be newer than the file that ``project`` was read from.
    """
    for assignment in module.assignments:
        default = project.defaults.get(assignment.key)
        if default is None:
            continue
        if project.settings_end is not None and assignment.statement.end > project.settings_end:
            continue
        value = assignment.value
        written_again = isinstance(default, Unknown) and not default.candidates
        if written_again and isinstance(value, Known):
            value = default  # something else above the line writes it at run time
        span = assignment.value_span
        yield Setting(assignment.key, value, Origin(Layer.FILE, config_path, span))


def is_train_script(path: Path | None, project: Project) -> bool:
    """Whether the file at ``path`` is the train.py whose globals are the project's defaults."""
    script = project.train_script
    if path is None or script is None:
        return False
    if path.absolute() == script:
        return True
    try:
        return path.samefile(script)
    except OSError:
        return False
