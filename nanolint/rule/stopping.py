"""A run that is known to stop, as a finding: when, with what words, on which line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.diagnostics import Severity, SourceLine, Span
from nanolint.regex import lazily
from nanolint.rule.api import Finding
from nanolint.rule.holders import file_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nanolint.rule.api import Findings
    from nanolint.rule.context import Context
    from nanolint.run.stop import Cause, Line, Stop

_NAME = lazily(r"[A-Za-z_]\w*")
MOST_SHOWN = 3  # lines of other files, among the notes


def stops(context: Context, cause: Cause) -> Findings:
    """Yields the finding of a run that stops by ``cause``, once for the file."""
    resolution = context.settings
    for stop in (resolution.stop, *(each.stop for each in resolution.unresolved)):
        if stop is not None and stop.cause is cause:
            elsewhere = tuple(_elsewhere(context, stop))
            yield Finding(
                message=f"the run stops {stop.when}: {stop.text}",
                span=_span(context, stop),
                severity=Severity.WARNING if stop.is_late else None,
                notes=tuple(map(str, elsewhere[:MOST_SHOWN])),
                holders=elsewhere,
            )
            return


def _span(context: Context, stop: Stop) -> Span:
    """Returns the innermost line that is in the file. If none is, it returns the first value of the
    file that the line which raises names, or the micro-batch."""
    lines = context.text.splitlines()
    for each in stop.lines:
        if each.number <= len(lines) and _is_here(context, each):
            source = lines[each.number - 1]
            start = context.lines.offset(each.number, 1)
            indent = len(source) - len(source.lstrip())
            return Span(start + indent, start + len(source.rstrip()))
    source = stop.lines[0].source if stop.lines else ""
    named = (each for each in _NAME.findall(source) if context.assignment(each))
    return context.span(*named, "batch_size", "block_size")


def _is_here(context: Context, line: Line) -> bool:
    path = file_of(context, line.path)
    if path is None or context.path is None:
        return line.path == (context.path.name if context.path else "")
    return path.absolute() == context.path.absolute()


def _elsewhere(context: Context, stop: Stop) -> Iterator[SourceLine]:
    """The lines of other files that lead there, the one that raises first."""
    for place, each in enumerate(stop.lines):
        path = file_of(context, each.path)
        if path is not None and not _is_here(context, each):
            does = "calls it" if place else f"raises {stop.exception}"
            yield SourceLine(path, each.number, each.source, does)
