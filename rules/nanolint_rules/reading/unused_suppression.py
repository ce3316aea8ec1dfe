"""NL002: a comment that suppresses nothing any more."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.rule import Context, Finding, Fix, FixAvailability, Need, Safety, Severity, rule
from nanolint_rules.reading._comments import without

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nanolint.rule import Suppression


@rule(
    "NL002",
    "unused-suppression",
    Severity.WARNING,
    needs=[Need.OUTCOME],
    fix=FixAvailability.ALWAYS,
)
def unused_suppression(context: Context) -> Iterator[Finding]:
    """A suppression comment suppresses nothing."""
    unused: dict[Suppression, set[str]] = {}
    for each in context.unused_suppressions:
        unused.setdefault(each.suppression, set()).add(each.code)
    for suppression, codes in unused.items():
        texts = [
            code
            for code in suppression.codes
            if context.known_codes.get(code.text.lower()) in codes
        ]
        edit = without(context, suppression, [code.text for code in texts])
        fix = Fix("Remove what suppresses nothing", Safety.SAFE, (edit,))
        if not texts:
            yield Finding("this comment suppresses nothing", suppression.span, fix)
        for code in texts:
            yield Finding(f"{code.text} is suppressed here, and not reported", code.span, fix)
