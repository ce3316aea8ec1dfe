"""NL003: a suppression that cannot mean anything."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

from nanolint.rule import (
    Context,
    Edit,
    Finding,
    Findings,
    Fix,
    FixAvailability,
    Need,
    Safety,
    Severity,
    meant_code,
    rule,
)
from nanolint_rules.reading._comments import without

if TYPE_CHECKING:
    from collections.abc import Iterable

    from nanolint.rule import SuppressedCode, Suppression

MOST_MISSPELT, LONGEST_NAME = 50, 80  # to look for the nearest name takes a while


@rule(
    "NL003",
    "unknown-suppression",
    Severity.WARNING,
    needs=[Need.OUTCOME],
    fix=FixAvailability.SOMETIMES,
)
def unknown_suppression(context: Context) -> Findings:
    """A suppression comment names no rule, or is malformed."""
    misspelt: dict[str, str | None] = {}
    for suppression in context.suppressions:
        if suppression.malformed is not None:
            yield Finding(
                f"this comment suppresses nothing: {suppression.malformed}", suppression.span
            )
            continue
        yield from _unknown_codes(context, suppression, misspelt)


def _unknown_codes(
    context: Context, suppression: Suppression, misspelt: dict[str, str | None]
) -> Findings:
    unknown = [code for code in suppression.codes if code.text.lower() not in context.known_codes]
    if not unknown:
        return
    removal = without(context, suppression, {code.text for code in unknown})
    fix = removal.fix("Remove the unknown codes")
    for code in unknown:
        meant = meant_code(code.text, context.known_codes)
        if meant is not None:
            yield _misread(code, meant.upper())
            continue
        near = _nearest(code.text.lower(), context.known_codes, misspelt)
        hint = f"; did you mean {_as_written(near)}?" if near else ""
        message = f"{code.text!r} is not a rule{hint}"
        yield Finding(message, code.span, fix, notes=removal.notes)


def _misread(code: SuppressedCode, meant: str) -> Finding:
    """A letter for a digit: the comment, and the reason in it, stay."""
    edit = Edit(code.span.start, code.span.end, meant)
    fix = Fix(f"Write {meant}", Safety.SAFE, (edit,))
    return Finding(f"{code.text!r} is not a rule; did you mean {meant}?", code.span, fix)


def _nearest(text: str, known: Iterable[str], misspelt: dict[str, str | None]) -> str | None:
    """The known code or name that is most like ``text``; for so many texts of a file."""
    if text not in misspelt and len(misspelt) < MOST_MISSPELT and len(text) <= LONGEST_NAME:
        misspelt[text] = next(iter(get_close_matches(text, known, n=1)), None)
    return misspelt.get(text)


def _as_written(code_or_name: str) -> str:
    return code_or_name if "-" in code_or_name else code_or_name.upper()
