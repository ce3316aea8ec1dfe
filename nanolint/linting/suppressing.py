"""Which findings the comments of a text silence, and which of the comments silence nothing."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from dataclasses import replace
from typing import TYPE_CHECKING

from nanolint.diagnostics import FlagSpan, Span
from nanolint.linting import registry
from nanolint.linting.setup import SYNTAX_ERROR
from nanolint.regex import lazily
from nanolint.rule.api import Need
from nanolint.rule.context import UnusedSuppression
from nanolint.source.assignments import Comment
from nanolint.source.suppressions import find
from nanolint.source.text import LineIndex

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from nanolint.diagnostics import Diagnostic
    from nanolint.linting.setup import Setup, Skipped
    from nanolint.rule.context import Context
    from nanolint.source.suppressions import Suppression

_SHELL_COMMENT = lazily(r"^(.*?)(?<!\S)(#\s*nanolint\s*:.*)$", re.MULTILINE | re.IGNORECASE)
EVERY = ""  # stands for the families of all rules


def unsuppressed(
    context: Context,
    findings: list[Diagnostic],
    setup: Setup,
    skipped: list[Skipped],
) -> list[Diagnostic]:
    """The findings that no comment suppresses. Tells ``context`` which suppressions did nothing."""
    suppressions = () if context.fault else find(context.module.comments, context.text)
    families = {rule.code: rule.family or rule.code for rule in setup.rules}
    silence = Silence(suppressions, setup.known_codes, families)
    kept: list[Diagnostic] = []
    places: list[tuple[str, int]] = []
    for found in findings:
        if isinstance(found.span, FlagSpan):
            kept.append(found)  # which no comment in this file is about
            continue
        place = found.code, context.row(found.span.start)
        places.append(place)
        if found.code == SYNTAX_ERROR or not silence.covers(*place):
            kept.append(found)
    ran = families.keys() - {skip.code for skip in skipped}
    # A rule that needs a GPU might have found what a comment without codes suppresses.
    all_ran = not any(skip.need in (Need.RUN, Need.GPU, Need.TRAIN_SCRIPT) for skip in skipped)
    varying = {EVERY, *(rule.code for rule in setup.rules if rule.depends_on_machine)}
    context.suppressions = suppressions
    context.unused_suppressions = tuple(
        replace(each, elsewhere=each.code in varying)
        for each in silence.unused(places)
        if (all_ran if each.code == EVERY else each.code in ran)
    )
    return kept


def unsuppressed_flags(text: str, findings: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """The findings in the text of a shell script that none of its comments suppresses."""
    comments = [
        Comment(match[2].rstrip("\r"), Span(*match.span(2)), own_line=not match[1].strip())
        for match in _SHELL_COMMENT.finditer(text)
    ]
    if not comments:
        return tuple(findings)
    rules = registry.load().rules
    families = {rule.code: rule.family or rule.code for rule in rules}
    known = {name.lower(): rule.code for rule in rules for name in (rule.code, rule.name)}
    silence = Silence(find(comments, text, _shell_rows(text)), known, families)
    lines = LineIndex(text)
    return tuple(
        each
        for each in findings
        if not silence.covers(each.code, lines.position(each.span.start)[0])
    )


def _shell_rows(text: str) -> list[tuple[int, int]]:
    """The first and last rows of the lines of a shell script; those that continue are one."""
    rows: list[tuple[int, int]] = []
    first = 1
    for row, line in enumerate(text.split("\n"), 1):
        if line.rstrip("\r").endswith("\\"):
            continue
        if line.strip() and not line.lstrip().startswith("#"):
            rows.append((first, row))
        first = row + 1
    return rows


class Silence:
    """The suppressions of a text, by the families of rules that they silence.

    However many comments and findings a text has, each is looked at once.
    """

    def __init__(
        self,
        suppressions: Iterable[Suppression],
        known_codes: Mapping[str, str],
        families: Mapping[str, str],
    ) -> None:
        self._named = [
            UnusedSuppression(suppression, code)
            for suppression in suppressions
            if suppression.malformed is None
            for code in _codes(suppression, known_codes)
        ]
        self._families = {**families, EVERY: EVERY}
        rows: dict[str, list[tuple[int, int]]] = {}
        for each in self._named:
            family = self._families.get(each.code)
            if family is not None:
                covered = each.suppression.first_row, each.suppression.last_row
                rows.setdefault(family, []).append(covered)
        self._rows = {family: _merged(ranges) for family, ranges in rows.items()}

    def covers(self, code: str, row: int) -> bool:
        """Whether findings of the rule with ``code`` are silenced on ``row``."""
        return any(
            _is_within(self._rows.get(family, ()), row) for family in (EVERY, self._families[code])
        )

    def unused(self, found: Iterable[tuple[str, int]]) -> list[UnusedSuppression]:
        """What silences none of the findings, which are given by code and row."""
        rows: dict[str, list[int]] = {}
        for code, row in found:
            for family in (EVERY, self._families[code]):
                rows.setdefault(family, []).append(row)
        for each in rows.values():
            each.sort()
        return [each for each in self._named if not self._is_used(each, rows)]

    def _is_used(self, each: UnusedSuppression, rows: Mapping[str, Sequence[int]]) -> bool:
        found = rows.get(self._families.get(each.code, each.code), ())
        at = bisect_left(found, each.suppression.first_row)
        return at < len(found) and found[at] <= each.suppression.last_row


def _codes(suppression: Suppression, known_codes: Mapping[str, str]) -> Iterable[str]:
    """The rule codes that a suppression names."""
    if not suppression.codes:
        return (EVERY,)
    named = (known_codes.get(code.text.lower()) for code in suppression.codes)
    return dict.fromkeys(code for code in named if code is not None)


def _merged(ranges: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The same rows as ranges in order that share none."""
    merged: list[tuple[int, int]] = []
    for first, last in sorted(ranges):
        if merged and first <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(last, merged[-1][1])
        else:
            merged.append((first, last))
    return merged


def _is_within(ranges: Sequence[tuple[int, int]], row: int) -> bool:
    at = bisect_right(ranges, row, key=lambda rows: rows[0])
    return at > 0 and row <= ranges[at - 1][1]
