"""The text of a launch script as something to fix: the runs that it starts, checked together."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from nanolint.cli.configuration import Configuration
from nanolint.diagnostics import FlagSpan, Span
from nanolint.errors import Unusable
from nanolint.files.door import read_bytes
from nanolint.linting.engine import Report, lint
from nanolint.linting.fixing import Fixed, fix_text, offered
from nanolint.linting.suppressing import unsuppressed_flags
from nanolint.settings.tables import SettingsError
from nanolint.source.text import Undecodable, decode

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from nanolint.cli.launched import Launched
    from nanolint.diagnostics import Diagnostic
    from nanolint.source.values import Plain


class LaunchText:
    """A script's text may change; ``launches`` says which runs any text of it starts."""

    def __init__(
        self, launches: Callable[[str], list[Launched]], configuration: Configuration
    ) -> None:
        self._launches = launches
        self._configuration = configuration

    def fixed(self, text: str, *, unsafe: bool) -> Fixed:
        """The text with the fixes of its flags applied, each checked on all runs of the script."""

        def fixable(found: Diagnostic) -> bool:
            safety = found.fix.safety.value if found.fix else ""
            return safety == "safe" or (unsafe and safety == "unsafe")

        return fix_text(self.lint, text, fixable=fixable)

    def offered(self, text: str) -> tuple[Diagnostic, ...]:
        """What is found on the flags, without the fixes that their own check refuses."""
        report = offered(self.lint, text, self.lint(text))
        return tuple(each for each in report.diagnostics if isinstance(each.span, FlagSpan))

    def lint(self, text: str) -> Report:
        """What is found in all runs. Only what stands on a flag has a span in ``text``, and a fix.

        What a safe fix must not change are the promises of each of the runs.
        """
        found: list[Diagnostic] = []
        promises: list[tuple[str, Plain]] = []
        runs = self._launches(text)
        # A point of a loop or a sweep that becomes another one is a run less.
        promises.append(("the number of different runs", len(set(map(meant, runs)))))
        for number, launched in enumerate(runs):
            for report in self._reports(launched):
                found += (_of_text(each, report.path) for each in report.diagnostics)
                promises += (
                    (f"{name} of run {number + 1}", value) for name, value in report.promise
                )
        flags = [each for each in found if isinstance(each.span, FlagSpan)]
        others = [each for each in found if not isinstance(each.span, FlagSpan)]
        kept = dict.fromkeys((*unsuppressed_flags(text, flags), *others))
        return Report(None, None, tuple(kept), promise=tuple(promises))

    def _reports(self, launched: Launched) -> Iterator[Report]:
        configured = Configuration(
            self._configuration.options, self._configuration.overrides, launched
        )
        for path in launched.files:
            report = _report(path, configured)
            if report is not None:
                yield report


def meant(launched: Launched) -> str:
    """What is the same for runs that do the same, wherever their words stand."""
    line = launched.line
    words = [(each.name, each.value) for each in (*line.flags, *line.variables)]
    given = [
        each if isinstance(each, Path) else (each.key, each.value) for each in launched.arguments
    ]
    return repr((launched.script, given, words, launched.processes))


def _report(path: Path, configuration: Configuration) -> Report | None:
    """The report on a config; None where it cannot be read, which its own judging says."""
    try:
        plan = configuration.plan_of(path.parent)
        return lint(decode(read_bytes(path)).text, path, plan.setup(path))
    except (Unusable, Undecodable, SettingsError):
        return None


def _of_text(found: Diagnostic, path: Path | None) -> Diagnostic:
    """``found`` in the file at ``path`` as a finding of the launch script."""
    if not isinstance(found.span, FlagSpan):
        return replace(found, span=Span(0, 0), fix=None, related=())
    fix = found.fix and replace(found.fix, in_launch_line=False)
    where = None if path is None else os.path.relpath(path)
    return replace(found, fix=fix, related=(), notes=(*found.notes, f"the run of {where}"))
