"""The engine's surroundings: rules, targets, options, and how the settings adjust a finding."""

from __future__ import annotations

from dataclasses import field, replace
from typing import TYPE_CHECKING

from nanolint.diagnostics import Safety
from nanolint.frozen import dataclass
from nanolint.run.settled import Options

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from nanolint.diagnostics import Diagnostic, Severity
    from nanolint.gpus.gpu import Machine
    from nanolint.rule.api import Need, Rule


@dataclass(frozen=True, slots=True)
class Adjustments:
    """By the codes of rules: severities, and fixes that are only shown, safe, or unsafe."""

    severities: Mapping[str, Severity] = field(default_factory=dict)
    shown: frozenset[str] = frozenset()
    safe: frozenset[str] = frozenset()
    unsafe: frozenset[str] = frozenset()

    def applied(self, found: Diagnostic) -> Diagnostic:
        """``found`` as the settings have it."""
        severity = self.severities.get(found.code, found.severity)
        fix = found.fix
        if fix is not None:
            fix = replace(fix, safety=self._safety(found.code, fix.safety))
        return replace(found, severity=severity, fix=fix)

    def _safety(self, code: str, safety: Safety) -> Safety:
        if code in self.shown or safety is Safety.DISPLAY:
            return Safety.DISPLAY
        if code in self.unsafe:
            return Safety.UNSAFE
        return Safety.SAFE if code in self.safe else safety


SYNTAX_ERROR = "NL001"  # never deselected, never suppressed: nothing else can be said of the file


@dataclass(frozen=True, slots=True)
class Setup:
    """What is the same for every file of one invocation.

    ``known_codes`` maps each code and name that a suppression may use to its rule's code.
    """

    rules: tuple[Rule, ...]
    known_codes: Mapping[str, str]
    targets: tuple[Machine, ...] = ()
    options: Options = field(default_factory=Options)
    train_script: Path | None = None
    adjustments: Adjustments = Adjustments()


@dataclass(frozen=True, slots=True)
class Skipped:
    """A selected rule that did not run on a file, and why."""

    code: str
    name: str
    need: Need
    reason: str
