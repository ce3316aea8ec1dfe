"""The lines of a source that a finding is about, what a fix would change, and what is told once.

The lines that a fix would change, before and after.

What is the same all over a project, shown once, with the other places that have it.
"""

from __future__ import annotations

import os
from collections import defaultdict
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from nanolint.diagnostics import Edit
from nanolint.frozen import dataclass
from nanolint.report.printer import printable
from nanolint.rule import Once
from nanolint.source.text import LineIndex, apply_edits

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from nanolint.diagnostics import Diagnostic, QuotedPlace, Span
    from nanolint.report.printer import Segment
    from nanolint.report.results import FileResult, Results


TAB = 4
MOST_CHARACTERS = 160  # of a line, or fewer on a narrow terminal; the rest is cut off
FEWEST_CHARACTERS = 40
ELLIPSIS = "…"
GUTTER_STYLE = "bold blue"


@dataclass(frozen=True, slots=True)
class Mark:
    """An underlined stretch of one line; columns count characters from 0, half-open."""

    row: int
    start: int
    end: int
    label: str = ""
    primary: bool = True


def excerpt(
    diagnostic: Diagnostic, name: str, lines: LineIndex, style: str, room: int = MOST_CHARACTERS
) -> Iterator[list[Segment]]:
    """The styled lines: where it is, the line with a line around it, and those related to it.

    Of each line at most ``room`` characters are shown, around what is underlined.
    """
    marks = _marks(diagnostic, lines)
    own = marks[0].row
    context = {row for row in (own - 1, own + 1) if not lines.is_blank(row)}
    rows = sorted({mark.row for mark in marks} | context)
    gutter = len(str(lines.last_row))
    bar = (f" {' ' * gutter} |", GUTTER_STYLE)
    column = lines.position(diagnostic.span.start)[1]
    yield [(f" {' ' * gutter}--> ", GUTTER_STYLE), f"{printable(name)}:{own}:{column}"]
    yield [bar]
    for previous, row in zip([rows[0], *rows], rows, strict=False):
        if row > previous + 1:
            yield [("...", GUTTER_STYLE)]
        here = [mark for mark in marks if mark.row == row]
        source, cut = _window(lines, row, here[0].start if here else 0, room)
        yield [(f" {row:>{gutter}} |", GUTTER_STYLE), f" {flattened(source)}".rstrip()]
        for mark in here:
            yield [bar, *_underline(source, mark, cut, style)]
    yield [bar]


def foreign_excerpt(
    place: QuotedPlace, gutter: int, names: Sequence[str], style: str, room: int
) -> Iterator[list[Segment]]:
    """The styled lines of a place outside the files called ``names``, which take its value."""
    bar = (f" {' ' * gutter} |", GUTTER_STYLE)
    at = "the command line" if place.path is None else relative(place.path)
    column = "" if place.row is None else f":{place.row}:{place.start + 1}"
    takers = printable(names[0]) if len(names) == 1 else f"{len(names)} files"
    where = f"{printable(at)}{column}, for {takers}"
    yield [(f" {' ' * gutter}--> ", GUTTER_STYLE), where]
    yield [bar]
    mark = Mark(1, place.start, place.end)
    source, cut = _window(LineIndex(place.source), 1, place.start, room)
    yield [(f" {place.row or '':>{gutter}} |", GUTTER_STYLE), f" {flattened(source)}".rstrip()]
    yield [bar, *_underline(source, mark, cut, style)]
    yield [bar]


def relative(path: Path) -> str:
    """The path from the working folder, where it is below that."""
    absolute = Path(os.path.abspath(path))  # noqa: PTH100 (links are not followed)
    return str(absolute.relative_to(Path.cwd()) if absolute.is_relative_to(Path.cwd()) else path)


def room_beside(gutter: int, terminal: int | None) -> int:
    """How many characters of a source line fit beside line numbers of ``gutter`` digits."""
    if terminal is None:
        return MOST_CHARACTERS
    return max(FEWEST_CHARACTERS, min(MOST_CHARACTERS, terminal - gutter - len("  | ")))


def clipped(source: str, focus: int, room: int) -> str:
    """A line, fit for a terminal: what is far from the character ``focus`` is left out."""
    return flattened(_window(LineIndex(source), 1, focus, room)[0])


def width(text: str) -> int:
    """The terminal cells that ``text`` takes: two for each wide East Asian character."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def flattened(text: str) -> str:
    """``text`` with tabs as spaces up to the next stop and nothing that a terminal would obey."""
    *before_tabs, last = text.split("\t")
    flat = ""
    for piece in before_tabs:
        flat += printable(piece)
        flat += " " * (TAB - width(flat) % TAB)
    return flat + printable(last)


def _marks(diagnostic: Diagnostic, lines: LineIndex) -> list[Mark]:
    """The finding's own place first, then related ones on other lines."""
    marks = [_mark(diagnostic.span, lines)]
    for related in diagnostic.related:
        mark = _mark(related.span, lines, related.message, primary=False)
        if all(mark.row != other.row for other in marks):
            marks.append(mark)
    return marks


def _mark(span: Span, lines: LineIndex, label: str = "", *, primary: bool = True) -> Mark:
    """The part of ``span`` that lies on its first line."""
    row, column = lines.position(span.start)
    start = column - 1
    end = min(start + span.end - span.start, lines.length(row))
    return Mark(row, start, max(start, end), label, primary)


def _window(lines: LineIndex, row: int, focus: int, room: int) -> tuple[str, int]:
    """The part of a long line around the character ``focus``, and the index where it starts."""
    length = lines.length(row)
    if length <= room:
        return lines.line(row), 0
    room -= 2 * len(ELLIPSIS)
    start = max(0, min(focus - room // 4, length - room)) if focus > room else 0
    end = start + room
    head = ELLIPSIS if start else ""
    tail = ELLIPSIS if end < length else ""
    return head + lines.part(row, start, end) + tail, start - len(head)


def _underline(source: str, mark: Mark, cut: int, style: str) -> list[Segment]:
    """The line below ``source``, which is a line from its character ``cut`` on."""
    start, end = mark.start - cut, min(mark.end - cut, len(source))
    before = width(flattened(source[:start]))
    marked = max(1, width(flattened(source[:end])) - before)
    sign, style = ("^", f"bold {style}") if mark.primary else ("-", GUTTER_STYLE)
    label = f" {printable(mark.label)}" if mark.label else ""
    return [f" {' ' * before}", (sign * marked + label, style)]


def minidiff(
    text: str, lines: LineIndex, edits: Iterable[Edit], room: int
) -> Iterator[list[Segment]]:
    """The styled lines of the difference, each with its number, without context.

    ``lines`` are those of ``text``. Only the lines that the edits touch are looked at.
    """
    from difflib import SequenceMatcher  # where there is a fix

    gutter = len(str(lines.last_row))
    added = 0  # lines, by the edits above
    for first, last, inside in _stretches(sorted(edits), lines):
        start = lines.offset(first, 1)
        old = text[start : lines.offset(last, lines.length(last) + 1)]
        moved = [Edit(e.start - start, e.end - start, e.replacement) for e in inside]
        before, after = _lines(old), _lines(apply_edits(old, moved))
        changes = SequenceMatcher(None, before, after).get_opcodes()
        for tag, old_start, old_end, new_start, new_end in changes:
            if tag == "equal":
                continue
            gone, come = before[old_start:old_end], after[new_start:new_end]
            focus = _first_difference("".join(gone), "".join(come))
            for sign, style, changed, row in (
                ("-", "red", gone, first + old_start),
                ("+", "green", come, first + added + new_start),
            ):
                for number, line in enumerate(changed, start=row):
                    source = f"{sign} {clipped(line, focus, room)}".rstrip()
                    yield [(f" {number:>{gutter}} ", GUTTER_STYLE), (source, style)]
        added += len(after) - len(before)


def _stretches(edits: Iterable[Edit], lines: LineIndex) -> Iterator[tuple[int, int, list[Edit]]]:
    """The first and the last row of each stretch of lines that edits change, with its edits."""
    inside: list[Edit] = []
    first = last = 0
    for edit in edits:
        start, end = lines.position(edit.start)[0], lines.position(edit.end)[0]
        if inside and start > last:
            yield first, last, inside
            inside = []
        first = first if inside else start
        last = max(end, last)
        inside.append(edit)
    if inside:
        yield first, last, inside


def _first_difference(a: str, b: str) -> int:
    pairs = enumerate(zip(a, b, strict=False))
    return next((index for index, (x, y) in pairs if x != y), min(len(a), len(b)))


def _lines(text: str) -> list[str]:
    lines = LineIndex(text)
    return [lines.line(row) for row in range(1, lines.last_row + 1)]


MOST_PLACES = 5  # that are named beside the first
TRAIN_SCRIPT = "train.py"  # the place that people look at first


def without_copies(results: Results) -> Results:
    """``results`` where a file that several runs share has each of its findings once.

    A launch line that depends on a variable starts a run for each of its values.
    """
    seen: set[tuple[object, ...]] = set()
    files = []
    for file in results.files:
        left = []
        for found in file.diagnostics:
            key = (file.name, found.code, found.span, found.lines, found.gpu, found.fix)
            if key not in seen:
                seen.add(key)
                left.append(found)
        files.append(replace(file, diagnostics=tuple(left)))
    return replace(results, files=files)


def once_per_project(results: Results, codes: Mapping[str, Once]) -> Results:
    """``results`` where of each project the findings of ``codes`` that are the same are left once.

    That is the first in its train.py, if it has any. A note on it names the others.
    """
    places: dict[tuple[str, str, str], list[tuple[int, int]]] = defaultdict(list)
    for index, file in enumerate(results.files):
        for number, found in enumerate(file.diagnostics):
            if found.code in codes:
                project = file.project or str(Path(file.name).parent)
                said = found.line if codes[found.code] is Once.MESSAGE else ""
                places[project, found.code, said].append((index, number))
    kept: dict[tuple[int, int], tuple[str, ...]] = {}
    folded: set[tuple[int, int]] = set()
    for same in places.values():
        same.sort(key=lambda place: Path(results.files[place[0]].name).name != TRAIN_SCRIPT)
        first, *others = same
        kept[first] = tuple(_place(results.files[index], number) for index, number in others)
        folded.update(others)
    if not folded:
        return results
    files = []
    for index, file in enumerate(results.files):
        left = tuple(
            _noted(found, kept.get((index, number), ()))
            for number, found in enumerate(file.diagnostics)
            if (index, number) not in folded
        )
        files.append(replace(file, diagnostics=left))
    return replace(results, files=files)


def _place(file: FileResult, number: int) -> str:
    start = file.diagnostics[number].span.start
    return f"{file.name}:{LineIndex(file.text).position(start)[0]}"


def _noted(found: Diagnostic, others: tuple[str, ...]) -> Diagnostic:
    if not others:
        return found
    left = len(others) - MOST_PLACES
    more = f" and {left} more places" if left > 1 else f" and {others[-1]}" if left == 1 else ""
    note = f"also in {', '.join(others[:MOST_PLACES])}{more}"
    return replace(found, notes=(*found.notes, note))
