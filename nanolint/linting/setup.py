"""The engine's surroundings: rules, targets, options; what settings and doubts make of a
finding."""

from __future__ import annotations

from dataclasses import field, replace
from typing import TYPE_CHECKING

from nanolint.diagnostics import Safety, Severity
from nanolint.frozen import dataclass
from nanolint.rule.api import Need
from nanolint.run.program import Profiled
from nanolint.run.settled import Options
from nanolint.run.trust import Trust, in_short, least, ordered, way_out

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from nanolint.diagnostics import Diagnostic
    from nanolint.gpus.gpu import Machine
    from nanolint.rule.api import Rule
    from nanolint.rule.case import Case
    from nanolint.rule.context import Context
    from nanolint.run.trust import Doubt


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


def tempered(found: Diagnostic, rule: Rule, context: Context) -> Diagnostic:
    """``found`` with the trust of the run that it is about, and what a doubt takes from it.

    Only rules that need a run and a GPU speak of memory; all other findings stay as they are.
    """
    if not rule.needs >= {Need.RUN, Need.GPU}:
        return found
    cases = context.cases
    about = [case for case in cases if case.target and case.target.label == found.gpu] or cases
    doubts = ordered(doubt for case in about for doubt in case.resolution.doubts)
    trust = least(case.resolution.trust for case in about)
    fix = found.fix
    if fix is not None and fix.safety is Safety.SAFE and any(map(_leaves_open, cases)):
        fix = replace(fix, safety=Safety.UNSAFE)  # it was worked out for all targets together
    traced = dict.fromkeys(filter(None, (_traced(case) for case in about)))
    left_open = dict.fromkeys(each for case in about for each in case.resolution.left_open)
    notes = (*found.notes, *traced, *left_open)
    found = replace(found, fix=fix, trust=trust, doubts=tuple(map(str, doubts)), notes=notes)
    if trust is Trust.READ and found.severity is Severity.ERROR and all(map(_is_close, about)):
        close = "the shortage is within the recorded error for such models"
        return replace(found, severity=Severity.WARNING, notes=(*found.notes, close))
    return _doubted(found, doubts, context.trace) if trust is Trust.DOUBTED else found


def _traced(case: Case) -> str | None:
    """Which trace a verdict is from, where it is from one."""
    is_traced = case.run is not None and isinstance(case.run.program, Profiled)
    return case.resolution.provenance if is_traced else None


def _leaves_open(case: Case) -> bool:
    return bool(case.resolution.doubts or case.resolution.left_open)


def _is_close(case: Case) -> bool:
    """Whether what is lacking is within the recorded error of the way that was used."""
    from nanolint.verdict.verdict import error_per_mille

    verdict = case.verdict
    if verdict is None:
        return False
    error = verdict.usable_bytes * error_per_mille(verdict.run, verdict.target.gpu) // 1000
    return -verdict.margin_bytes <= error


def _doubted(found: Diagnostic, doubts: Sequence[Doubt], trace: str) -> Diagnostic:
    severity = Severity.WARNING if found.severity is Severity.ERROR else found.severity
    summary = in_short(doubts)
    if summary in found.message:
        return replace(found, severity=severity)
    note = f"not certain: {summary}; {way_out(doubts, trace)}"
    return replace(found, severity=severity, notes=(*found.notes, note))
