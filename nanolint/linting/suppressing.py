"""Which findings a comment in the file suppresses, and which suppressions did nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.diagnostics import FlagSpan
from nanolint.linting.setup import SYNTAX_ERROR
from nanolint.rule.api import Need
from nanolint.rule.context import UnusedSuppression
from nanolint.source.suppressions import find

if TYPE_CHECKING:
    from nanolint.diagnostics import Diagnostic
    from nanolint.linting.setup import Setup, Skipped
    from nanolint.rule.context import Context
    from nanolint.source.suppressions import Suppression


def unsuppressed(
    context: Context,
    findings: list[Diagnostic],
    setup: Setup,
    skipped: list[Skipped],
) -> list[Diagnostic]:
    """The findings that no comment suppresses. Tells ``context`` which suppressions did nothing."""
    suppressions = () if context.fault else find(context.module.comments, context.text)
    families = {rule.code: rule.family or rule.code for rule in setup.rules}
    used: set[tuple[Suppression, str]] = set()
    kept: list[Diagnostic] = []
    for diagnostic in findings:
        if isinstance(diagnostic.span, FlagSpan):
            kept.append(diagnostic)  # which no comment in this file is about
            continue
        row = context.row(diagnostic.span.start)
        family = families[diagnostic.code]
        hits = [
            (suppression, code)
            for suppression in suppressions
            if suppression.covers(row)
            for code in _codes(suppression, setup)
            if not code or families.get(code) == family
        ]
        used.update(hits)
        if not hits or diagnostic.code == SYNTAX_ERROR:
            kept.append(diagnostic)
    ran = families.keys() - {skip.code for skip in skipped}
    # A rule that needs a GPU might have found what a comment without codes suppresses.
    all_ran = not any(skip.need in (Need.RUN, Need.GPU, Need.TRAIN_SCRIPT) for skip in skipped)
    varying = {"", *(rule.code for rule in setup.rules if rule.depends_on_machine)}
    context.suppressions = suppressions
    context.unused_suppressions = tuple(
        UnusedSuppression(suppression, code, elsewhere=code in varying)
        for suppression in suppressions
        if suppression.malformed is None
        for code in _codes(suppression, setup)
        if (suppression, code) not in used and (code in ran if code else all_ran)
    )
    return kept


def _codes(suppression: Suppression, setup: Setup) -> tuple[str, ...]:
    """The rule codes that a suppression names; the empty code stands for all rules."""
    if not suppression.codes:
        return ("",)
    named = (setup.known_codes.get(code.text.lower()) for code in suppression.codes)
    return tuple(code for code in named if code is not None)
