"""NL003: a suppression that cannot mean anything."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

from nanolint.rule import Context, Finding, Findings, FixAvailability, Need, Severity, rule
from nanolint_rules.reading._comments import without

if TYPE_CHECKING:
    from nanolint.rule import Suppression


@rule(
    "NL003",
    "unknown-suppression",
    Severity.WARNING,
    needs=[Need.OUTCOME],
    fix=FixAvailability.SOMETIMES,
)
def unknown_suppression(context: Context) -> Findings:
    """A suppression comment names no rule, or is not written as one."""
    for suppression in context.suppressions:
        if suppression.malformed is not None:
            yield Finding(
                f"this comment suppresses nothing: {suppression.malformed}", suppression.span
            )
            continue
        yield from _unknown_codes(context, suppression)


def _unknown_codes(context: Context, suppression: Suppression) -> Findings:
    unknown = [code for code in suppression.codes if code.text.lower() not in context.known_codes]
    if not unknown:
        return
    removal = without(context, suppression, [code.text for code in unknown])
    fix = removal.fix("Remove what names no rule")
    for code in unknown:
        near = get_close_matches(code.text.lower(), context.known_codes, n=1)
        hint = f"; did you mean {_as_written(near[0])}?" if near else ""
        message = f"{code.text!r} is no rule{hint}"
        yield Finding(message, code.span, fix, notes=removal.notes)


def _as_written(code_or_name: str) -> str:
    return code_or_name if "-" in code_or_name else code_or_name.upper()
