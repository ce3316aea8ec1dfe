"""The options that say how to judge, on top of the settings of each file's project."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nanolint.cli.launched import Launched
from nanolint.cli.parser import UsageError
from nanolint.files.door import absolute
from nanolint.launches.files import is_launch_file
from nanolint.settings import schema
from nanolint.settings.schema import LAUNCH_LINE, Sourced

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Sequence

    from nanolint.linting.plan import Plan
    from nanolint.source.values import Value


class Configuration:
    """Settings and plans for files, with the command line on top."""

    def __init__(
        self,
        options: Namespace,
        overrides: Sequence[tuple[str, Value]] = (),
        launch: Launched | None = None,
    ) -> None:
        self.options = options
        self.overrides = tuple(overrides)
        self.launch = launch or Launched()
        self._plans: dict[Path | None, Plan] = {}

    @cache  # noqa: B019 (one per command)
    def settings_of(self, folder: Path) -> Sourced:
        """The settings for the files in ``folder``; raises SettingsError."""
        if self.options.isolated:
            found = Sourced()
        elif self.options.config is not None:
            found = schema.load(Path(self.options.config))
        else:
            found = schema.discover(absolute(folder))
        return self._overridden(found)

    def plan_of(self, folder: Path) -> Plan:
        """The plan for the files in ``folder``; raises SettingsError."""
        from nanolint.linting.plan import make_plan

        found = self.settings_of(folder)
        if found.file not in self._plans:
            self._plans[found.file] = make_plan(
                found,
                os.environ,
                self.overrides,
                self.launch.arguments,
                self.launch.processes,
                scripts=tuple(absolute(Path(name)) for name in self._scripts),
                line=self.launch.line,
            )
        return self._plans[found.file]

    @property
    def _scripts(self) -> list[str]:
        return [name for name in vars(self.options).get("files") or () if is_launch_file(name)]

    def _overridden(self, found: Sourced) -> Sourced:
        """``found`` with the launch line, and every option that was given, on top of it."""
        found = found.override(LAUNCH_LINE, **self._launched())
        options = vars(self.options)
        if options.get("select"):  # what the user selects now is not for a file to take back
            found = found.override("--select", select=(), extend_select=(), ignore=())
        for name in ("select", "ignore", "extend_select"):
            given = tuple(rule for rules in options.get(name) or () for rule in rules)
            if given:
                kept = getattr(found.settings, name)
                found = found.override(_option(name), **{name: (*kept, *given)})
        if options.get("exclude"):
            given = tuple(pattern for patterns in options["exclude"] for pattern in patterns)
            kept = found.settings.extend_exclude
            found = found.override("--exclude", extend_exclude=(*kept, *given))
        if options.get("per_file_ignores"):
            given_ignores = _per_file_ignores(options["per_file_ignores"])
            ignores: dict[str, Any] = dict(found.settings.per_file_ignores)
            for pattern, rules in given_ignores.items():
                ignores[pattern] = (*ignores.get(pattern, ()), *rules)
            found = found.override("--per-file-ignores", per_file_ignores=ignores)
        for name in ("gpu", *SCALARS):
            value = options.get(name)
            if value is not None:
                value = tuple(value) if isinstance(value, list) else value
                found = found.override(_option(name), **{name: value})
        return found

    def _launched(self) -> dict[str, Any]:
        """What the launch line says of the settings."""
        launch = self.launch
        said: dict[str, Any] = {
            "allocator": launch.allocator,
            "world_size": launch.processes.count if launch.processes else None,
            "train_script": str(launch.script) if launch.script else None,
        }
        return {name: value for name, value in said.items() if value is not None}


SCALARS = (
    "in_use",
    "world_size",
    "train_script",
    "torch_version",
    "platform",
    "allocator",
    "output_format",
)


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _per_file_ignores(given: Sequence[tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    ignores: dict[str, tuple[str, ...]] = {}
    for pair in (pair for pairs in given for pair in pairs):
        pattern, colon, rule = pair.rpartition(":")
        if not (pattern and colon and rule):
            raise UsageError(f"--per-file-ignores: expected PATTERN:RULE, found {pair!r}")
        ignores[pattern] = (*ignores.get(pattern, ()), rule)
    return ignores
