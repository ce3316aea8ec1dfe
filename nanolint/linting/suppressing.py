"""``# nanolint: ignore[...]`` comments: the findings that they silence, those that silence nothing,
and the comment that silences a finding.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from dataclasses import replace
from typing import TYPE_CHECKING

from nanolint.diagnostics import Edit, FlagSpan, Span
from nanolint.linting import registry
from nanolint.linting.setup import SYNTAX_ERROR
from nanolint.regex import lazily
from nanolint.rule.api import Need
from nanolint.rule.context import UnusedSuppression
from nanolint.source.assignments import Comment
from nanolint.source.suppressions import find, statement_rows
from nanolint.source.text import LineIndex, apply_edits

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


# A syntax error, and what is wrong with suppressions themselves.
UNSILENCEABLE = frozenset({"NL001", "NL002", "NL003"})

_INDENTATION = re.compile(r"[ \t\f]*")
_NEWLINE = re.compile(r"\r\n|\r|\n")


def add_ignores(text: str, diagnostics: Iterable[Diagnostic], comments: Sequence[Comment]) -> str:
    """``text`` with a suppression for each of the ``diagnostics``.

    Codes join a suppression that covers the statement already. Otherwise a comment is added behind
    the statement, or above it where another comment or another line is in the way.
    """
    lines = LineIndex(text)
    statements = statement_rows(text, lines)
    codes: dict[tuple[int, int], dict[str, None]] = {}
    for diagnostic in diagnostics:
        row = lines.position(diagnostic.span.start)[0]
        at = bisect_left(statements, row, key=lambda rows: rows[1])  # the first that ends later
        within = at < len(statements) and statements[at][0] <= row
        rows = statements[at] if within else (row, row)
        codes.setdefault(rows, {})[diagnostic.code] = None
    editor = _Editor(text, lines, comments)
    return apply_edits(text, [editor.edit(rows, sorted(found)) for rows, found in codes.items()])


class _Editor:
    """Finds the place for each suppression."""

    def __init__(self, text: str, lines: LineIndex, comments: Sequence[Comment]) -> None:
        self._text = text
        self._lines = lines
        # Whatever covers a statement ends with it.
        self._by_last_row: dict[int, Suppression] = {}
        for each in find(comments, text):
            if each.kind == "line" and each.codes:
                self._by_last_row.setdefault(each.last_row, each)
        self._commented = {lines.position(comment.span.start)[0] for comment in comments}
        newline = _NEWLINE.search(text)
        self._newline = newline[0] if newline else "\n"

    def edit(self, rows: tuple[int, int], codes: Sequence[str]) -> Edit:
        """The edit that silences ``codes`` in the statement on ``rows``."""
        first, last = rows
        listed = ", ".join(codes)
        suppression = self._by_last_row.get(last)
        if suppression is not None and suppression.covers(first):
            end = suppression.codes[-1].span.end
            return Edit(end, end, f", {listed}")
        comment = f"# nanolint: ignore[{listed}]"
        start = self._lines.offset(first, 1)
        line = self._lines.line(first)
        if first == last and line.strip() and first not in self._commented:
            end = start + len(line.rstrip())
            return Edit(end, end, f"  {comment}")
        indentation = _INDENTATION.match(line)
        above = indentation[0] if indentation else ""
        return Edit(start, start, f"{above}{comment}{self._newline}")
