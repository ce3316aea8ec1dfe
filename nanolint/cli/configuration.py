"""The options that say how to judge, on top of the settings of each file's project."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nanolint import settings
from nanolint.cli.parser import UsageError, comma_separated, positive, version
from nanolint.files.paths import absolute
from nanolint.settings import Sourced

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Sequence

    from nanolint.cli.parser import Parser
    from nanolint.plan import Plan
    from nanolint.source.values import Value


def add_target_options(parser: Parser) -> None:
    """The options that describe the run and the machine: for check and explain alike."""
    group = parser.add_argument_group("the run and its machine")
    group.add_argument(
        "--gpu",
        action="append",
        metavar="NAME|SIZE|auto",
        help="target GPU: rtx-4070, 8xA100-40GB, 12GB, 11.69GiB; repeatable, each is judged",
    )
    group.add_argument("--in-use", metavar="SIZE", help="memory that other programs hold: 2GiB")
    group.add_argument("--world-size", type=positive, metavar="N", help="number of processes")
    group.add_argument("--train-script", metavar="PATH", help="the train.py that runs the config")
    group.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="override a key, as nanoGPT's --key=value does; repeatable",
    )
    group.add_argument("--torch-version", type=version, metavar="X.Y")
    group.add_argument("--platform", choices=("linux", "windows", "wsl", "macos"))
    group.add_argument("--allocator", choices=("default", "expandable"))


def add_settings_options(parser: Parser) -> None:
    """Which settings file counts."""
    group = parser.add_argument_group("settings")
    group.add_argument("--config", type=Path, metavar="PATH", help="use this settings file")
    group.add_argument("--isolated", action="store_true", help="use no settings file")


def add_rule_options(parser: Parser) -> None:
    """Which rules run. Selectors are codes, prefixes of codes, names, or ALL."""
    group = parser.add_argument_group("rules: codes, prefixes of codes, names, or ALL")
    for option, text in (
        ("--select", "run these rules only"),
        ("--ignore", "leave these rules out"),
        ("--extend-select", "run these rules too"),
    ):
        group.add_argument(
            option, action="append", type=comma_separated, metavar="RULES", help=text
        )
    group.add_argument(
        "--per-file-ignores",
        action="append",
        type=comma_separated,
        metavar="PATTERN:RULE",
        help="leave a rule out for files that match a pattern",
    )


class Configuration:
    """Settings and plans for files, with the command line on top."""

    def __init__(self, options: Namespace, overrides: Sequence[tuple[str, Value]] = ()) -> None:
        self.options = options
        self.overrides = tuple(overrides)
        self._plans: dict[Path | None, Plan] = {}

    @cache  # noqa: B019 (one per command)
    def settings_of(self, folder: Path) -> Sourced:
        """The settings for the files in ``folder``; raises SettingsError."""
        if self.options.isolated:
            found = Sourced()
        elif self.options.config is not None:
            found = settings.load(self.options.config)
        else:
            found = settings.discover(absolute(folder))
        return self._overridden(found)

    def plan_of(self, folder: Path) -> Plan:
        """The plan for the files in ``folder``; raises SettingsError."""
        from nanolint.plan import make_plan

        found = self.settings_of(folder)
        if found.file not in self._plans:
            self._plans[found.file] = make_plan(found, os.environ, self.overrides)
        return self._plans[found.file]

    def _overridden(self, found: Sourced) -> Sourced:
        """``found`` with every option that was given on top of it."""
        options = vars(self.options)
        if options.get("select"):  # what the user selects now is not for a file to take back
            found = found.override("--select", select=(), extend_select=(), ignore=())
        for name in ("select", "ignore", "extend_select"):
            given = tuple(rule for rules in options.get(name) or () for rule in rules)
            if given:
                kept = getattr(found.settings, name)
                found = found.override(_option(name), **{name: (*kept, *given)})
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
