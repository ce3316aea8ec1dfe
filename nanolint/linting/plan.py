"""How the files under one settings file are judged: rules, targets, and which fixes count."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from nanolint.cached import cached_property
from nanolint.diagnostics import Severity
from nanolint.files.door import absolute, is_file
from nanolint.files.repository import matches
from nanolint.frozen import dataclass
from nanolint.linting import registry
from nanolint.linting.registry import Registry, Selection, UnknownRule
from nanolint.linting.setup import Adjustments, Setup
from nanolint.run.settled import NO_LINE, Options
from nanolint.settings.tables import SettingsError
from nanolint.settings.targets import OPTION, Choice, choose, usual
from nanolint.settings.torch_version import (
    NEWEST,
    find_native_packages,
    find_older_transformers,
    find_torch_version,
)
from nanolint.tape.torch import native_doubts

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from nanolint.gpus.gpu import Machine
    from nanolint.launches.launch import Processes
    from nanolint.rule.api import Rule
    from nanolint.run.flags import LaunchLine
    from nanolint.run.settled import Override
    from nanolint.settings.schema import Sourced
    from nanolint.source.values import Value


@dataclass(frozen=True)
class Plan:
    """Picklable, so that worker processes can be told; make it with ``make_plan``."""

    sourced: Sourced
    chosen: Choice
    options: Options
    train_script: Path | None = None

    def __reduce__(self) -> tuple[type[Plan], tuple[object, ...]]:
        """Leave out what was derived: rules hold functions, which do not travel."""
        return Plan, (self.sourced, self.chosen, self.options, self.train_script)

    def setup(self, path: Path | None) -> Setup:
        """What the engine needs to judge ``path``."""
        options = self.options
        folder = absolute(path).parent if path else Path.cwd()
        if options.torch_version is None:
            asked = find_torch_version(folder)
            options = replace(options, torch_version=asked.version, oldest_torch=asked.oldest)
        native = native_doubts(find_native_packages(folder), options.torch_version or NEWEST)
        older = find_older_transformers(folder)
        options = replace(options, native=tuple(native), older_transformers=older)
        claimed = self.chosen.claimed(path, self.sourced.root)
        if any(target.count is not None for target in claimed) and not self._sized_by_option:
            options = replace(options, world_size=None)
        return Setup(
            rules=self._rules_for(path),
            known_codes=self._known_codes,
            targets=claimed or self.chosen.targets,
            options=options,
            train_script=self.train_script,
            adjustments=self._adjustments,
        )

    @property
    def _sized_by_option(self) -> bool:
        return self.sourced.from_command("world-size")

    @cached_property
    def usual(self) -> tuple[Machine, ...]:
        """The usual cards, for runs whose card nobody named."""
        return usual(self.sourced)

    def check(self) -> None:
        """Raise SettingsError for a selector that names no rule."""
        _ = self._rules, self._adjustments
        for codes in self.sourced.settings.per_file_ignores.values():
            self._matching("per-file-ignores", codes)

    @cached_property
    def _registry(self) -> Registry:
        return registry.load()

    @cached_property
    def _rules(self) -> tuple[Rule, ...]:
        settings = self.sourced.settings
        for key, selectors in (
            ("select", settings.select),
            ("extend-select", settings.extend_select),
            ("ignore", settings.ignore),
        ):
            self._matching(key, selectors)
        return self._registry.choose(
            Selection(settings.select, settings.extend_select, settings.ignore)
        )

    @cached_property
    def _known_codes(self) -> Mapping[str, str]:
        rules = self._registry.rules
        return {text.lower(): rule.code for rule in rules for text in (rule.code, rule.name)}

    @cached_property
    def _adjustments(self) -> Adjustments:
        settings = self.sourced.settings
        everything = frozenset(rule.code for rule in self._registry.rules)
        fixable = self._matching("fixable", settings.fixable)
        return Adjustments(
            severities={
                code: Severity(severity)
                for selector, severity in settings.severity.items()
                for code in self._matching("severity", [selector])
            },
            shown=(everything - fixable) | self._matching("unfixable", settings.unfixable),
            safe=self._matching("extend-safe-fixes", settings.extend_safe_fixes),
            unsafe=self._matching("extend-unsafe-fixes", settings.extend_unsafe_fixes),
        )

    def _rules_for(self, path: Path | None) -> tuple[Rule, ...]:
        """The selected rules without those that ``per-file-ignores`` takes away."""
        ignored: set[str] = set()
        for pattern, codes in self.sourced.settings.per_file_ignores.items():
            if path is not None and matches(path, (pattern,), self.sourced.root):
                ignored |= self._matching("per-file-ignores", codes, whole_families=False)
        return tuple(rule for rule in self._rules if rule.code not in ignored)

    def _matching(
        self, key: str, selectors: Iterable[str], *, whole_families: bool = True
    ) -> frozenset[str]:
        matching = partial(self._registry.matching, whole_families=whole_families)
        try:
            return frozenset().union(*map(matching, selectors))
        except UnknownRule as error:
            raise SettingsError(f"{self.sourced.place(key)}: {error}") from error


def make_plan(
    sourced: Sourced,
    environment: Mapping[str, str],
    overrides: tuple[tuple[str, Value], ...] = (),
    arguments: tuple[Path | Override, ...] = (),
    processes: Processes | None = None,
    scripts: tuple[Path, ...] = (),
    line: LaunchLine = NO_LINE,
) -> Plan:
    """The plan that ``sourced`` stands for; raises SettingsError for what cannot be followed.

    ``arguments``, ``processes`` and ``line`` are those of the launch line, ``scripts`` those that
    were named; see Options.
    """
    settings = sourced.settings
    chosen = choose(sourced, environment)
    ranked = processes is not None and processes.ranked
    if sourced.origin("world-size").startswith("--"):
        processes = None
    options = Options(
        arguments=arguments,
        overrides=overrides,
        world_size_doubt=processes.why if processes else None,
        every_card=processes is not None and processes.every_card,
        ranked=ranked,
        local_ranks=processes.local if processes else None,
        spread=processes is not None and processes.count is not None and processes.local is None,
        world_size=_world_size(sourced, chosen),
        torch_version=_version(settings.torch_version),
        oldest_torch=_version(settings.torch_version),
        scripts=scripts,
        line=line,
    )
    plan = Plan(sourced, chosen, options, _train_script(sourced))
    plan.check()
    return plan


def _world_size(sourced: Sourced, chosen: Choice) -> int | None:
    """The number of processes; None leaves it to a target's count.

    A count (``8xA100``) that was given nearer to the run than ``world-size`` wins over it. Where
    both were given in one place they must agree: part of a machine, or several of the kind.
    """
    origin, world_size = sourced.origin("world-size"), sourced.settings.world_size
    from_command = sourced.from_command("world-size")
    together = origin == chosen.origin or (from_command and chosen.origin == OPTION)
    counted = [target for target in chosen.targets if target.count is not None]
    if counted and not from_command and not together:
        return None
    for target in counted if together and world_size is not None else ():
        if _disagree(target.count, world_size):
            place = sourced.place("world-size")
            raise SettingsError(
                f"{place}: {world_size} does not go with {target.label}; give only one of them"
            )
    return world_size


def _disagree(count: int | None, world_size: int | None) -> bool:
    """Whether neither number is a multiple of the other."""
    return bool(count and world_size and count % world_size and world_size % count)


def _version(text: str | None) -> tuple[int, int] | None:
    match = re.match(r"(\d+)\.(\d+)", text) if text else None
    return (int(match[1]), int(match[2])) if match else None


def _train_script(sourced: Sourced) -> Path | None:
    """The file that the settings name; on the command line it is relative to the working folder."""
    name = sourced.settings.train_script
    if name is None:
        return None
    from_option = sourced.from_command("train-script")
    path = Path(name) if from_option else sourced.root / name
    if not is_file(path):
        raise SettingsError(f"{sourced.place('train-script')}: no such file: {path}")
    return path
