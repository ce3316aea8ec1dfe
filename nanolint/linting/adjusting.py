"""What the user's settings make of a finding: its severity, and how safe its fix is."""

from __future__ import annotations

from dataclasses import field, replace
from typing import TYPE_CHECKING

from nanolint.diagnostics import Safety
from nanolint.frozen import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping

    from nanolint.diagnostics import Diagnostic, Severity


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
