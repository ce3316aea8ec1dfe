"""The place of a finding about lines that were read: in the file at hand, or in others."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.diagnostics import SourceLine, Span
from nanolint.regex import lazily
from nanolint.rule.holders import file_of
from nanolint.run.program import ReadScript
from nanolint.run.stop import Line

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from nanolint.rule.case import Case
    from nanolint.rule.context import Context
    from nanolint.run.story import Fact, Stack, Told

_NAME = lazily(r"[A-Za-z_]\w*")


def span_of(context: Context, lines: Sequence[Line]) -> Span:
    """Returns the innermost line that is in the file. If none is, it returns the first value of the
    file that the innermost line names, or the micro-batch."""
    rows = context.text.splitlines()
    for each in lines:
        if each.number <= len(rows) and is_here(context, each):
            source = rows[each.number - 1]
            start = context.lines.offset(each.number, 1)
            indent = len(source) - len(source.lstrip())
            return Span(start + indent, start + len(source.rstrip()))
    source = lines[0].source if lines else ""
    named = (each for each in _NAME.findall(source) if context.assignment(each))
    return context.span(*named, "batch_size", "block_size")


def is_here(context: Context, line: Line) -> bool:
    """Whether a line is one of the file at hand."""
    path = file_of(context, line.path)
    if path is None or context.path is None:
        return line.path == (context.path.name if context.path else "")
    return path.absolute() == context.path.absolute()


def elsewhere(context: Context, lines: Sequence[Line], does: str) -> Iterator[SourceLine]:
    """The lines of other files, of which the first ``does`` it and the others lead there."""
    for place, each in enumerate(lines):
        path = file_of(context, each.path)
        if path is not None and not is_here(context, each):
            yield SourceLine(path, each.number, each.source, "calls it" if place else does)


def quoted(case: Case, stack: Stack) -> tuple[Line, ...]:
    """The lines of a place in a run, each with its text."""
    run = case.run
    modules = run.program.modules if run and isinstance(run.program, ReadScript) else ()
    texts = {each.path: each.text.splitlines() for each in modules}
    found = []
    for path, number in stack:
        rows = texts.get(path, [])
        found.append(Line(path, number, rows[number - 1] if 0 < number <= len(rows) else ""))
    return tuple(found)


def told(
    context: Context, what: Fact, *, of_parts: bool = False
) -> Iterator[tuple[Told, tuple[Line, ...]]]:
    """Yields the entries of the story that the file at hand is to report, with the lines that each
    stands on. In a module these are the entries whose lines lead through it.

    ``of_parts``: an entry holds, whatever was passed over elsewhere.
    """
    leading = context.leading
    case = (leading or context).cases[0]
    if not (case.story.is_whole or of_parts):
        return
    for each in case.story.all(what):
        lines = quoted(case, each.place)
        if leading is None or any(is_here(context, line) for line in lines):
            yield each, lines
