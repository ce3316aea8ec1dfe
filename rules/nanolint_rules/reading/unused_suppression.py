"""NL002: a comment that suppresses nothing any more."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from nanolint.rule import Context, Finding, Findings, FixAvailability, Need, Safety, Severity, rule
from nanolint_rules.reading._comments import without

if TYPE_CHECKING:
    from nanolint.rule import Span, Suppression


@rule(
    "NL002",
    "unused-suppression",
    Severity.WARNING,
    needs=[Need.OUTCOME],
    fix=FixAvailability.ALWAYS,
)
def unused_suppression(context: Context) -> Findings:
    """A suppression comment suppresses nothing."""
    unused: dict[Span, tuple[Suppression, set[str]]] = {}
    for each in context.unused_suppressions:
        unused.setdefault(each.suppression.span, (each.suppression, set()))[1].add(each.code)
    elsewhere = {each.suppression.span for each in context.unused_suppressions if each.elsewhere}
    for suppression, codes in unused.values():
        texts = [
            code
            for code in suppression.codes
            if context.known_codes.get(code.text.lower()) in codes
        ]
        removal = without(context, suppression, {code.text for code in texts})
        fix, notes = removal.fix("Remove the unused suppression"), removal.notes
        if suppression.span in elsewhere and fix.safety is Safety.SAFE:
            fix = replace(fix, safety=Safety.UNSAFE)
            notes = ("unsafe: the comment may suppress a finding on another machine",)
        if not texts:
            message = "this comment suppresses nothing"
            yield Finding(message, suppression.span, fix, notes=notes)
        for code in texts:
            message = f"nothing to suppress: {code.text} does not occur here"
            yield Finding(message, code.span, fix, notes=notes)
