"""What a doubt about a run makes of a finding about its memory.

The one place where trust decides severity and safety: an error about a doubted run is a warning, a
fix that rests on one is unsafe, and the finding names what is doubted. So is one about a model that
was read, where no more is lacking than such verdicts may be off by.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from nanolint.diagnostics import Safety, Severity
from nanolint.rule.api import Need
from nanolint.run.program import Profiled
from nanolint.run.trust import Trust, in_short, least, ordered, way_out

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nanolint.diagnostics import Diagnostic
    from nanolint.rule.api import Rule
    from nanolint.rule.case import Case
    from nanolint.rule.context import Context
    from nanolint.run.trust import Doubt


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
