"""For people: every finding with its source, its reasons and the fix that is offered."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from nanolint.diagnostics import Diagnostic, Safety, Severity, Span
from nanolint.linting import registry
from nanolint.report.excerpt import (
    GUTTER_STYLE,
    excerpt,
    foreign_excerpt,
    minidiff,
    once_per_project,
    relative,
    room_beside,
)
from nanolint.report.printer import printable
from nanolint.report.runs import answer, headed, rows_of
from nanolint.source.text import LineIndex
from nanolint.units import listed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from nanolint.diagnostics import Fix
    from nanolint.report.printer import Printer, Segment
    from nanolint.report.results import FileResult, Results

STYLES = {Severity.ERROR: "red", Severity.WARNING: "yellow", Severity.INFO: "cyan"}
INDENT = "  "

OFFERS = {
    Safety.SAFE: "--fix",
    Safety.UNSAFE: "--fix --unsafe-fixes",
    Safety.DISPLAY: "shown only",
}


def render(results: Results, printer: Printer) -> None:
    """Write all findings, file by file; those that a project has in several places once."""
    once = {rule.code: rule.once for rule in registry.load().rules if rule.once is not None}
    results = once_per_project(results, once)
    takers = _takers(results)
    verdict = headed(results.files)
    if not results.told:
        first_line(results.files, printer)
    if verdict is None and results.findings and len(rows_of(results.files)) == 1:
        printer.blank()
    for file in sorted(results.files, key=lambda file: verdict not in file.diagnostics):
        lines = LineIndex(file.text)
        room = room_beside(len(str(lines.last_row)), printer.width)
        differences: dict[Fix, list[list[Segment]]] = {}
        for diagnostic in sorted(file.diagnostics, key=lambda each: each != verdict):
            names = takers.get(_what(diagnostic), [file.name])
            if names[0] != file.name:
                continue
            if diagnostic != verdict:
                _head(diagnostic, printer)
            _finding(diagnostic, names, lines, room, printer, verbose=results.verbose)
            if diagnostic.fix is not None and len(names) == 1:
                edited = replace(diagnostic.fix, title="")
                if edited not in differences:  # which several findings may share
                    differences[edited] = [*_difference(edited, file, lines, room)]
                if diagnostic.origin is not None and edited.edits:  # which is in another file
                    printer.line(*_named(file.name))
                for segments in differences[edited]:
                    printer.line(*segments)
            printer.blank()


def first_line(files: Sequence[FileResult], printer: Printer) -> bool:
    """Write the verdict on the only run of ``files``; returns whether there is one.

    It is the first line of the finding that has it, if one has.
    """
    rows, verdict = rows_of(files), headed(files)
    if verdict is not None:
        _head(verdict, printer)
    elif len(rows) == 1:
        answer(*rows[0], printer)
    return len(rows) == 1


def _head(diagnostic: Diagnostic, printer: Printer) -> None:
    style = STYLES[diagnostic.severity]
    printer.paragraph(
        (f"{diagnostic.severity.value}[{diagnostic.code}]", f"bold {style}"),
        (": ", "bold"),
        text=diagnostic.message,
        indent=INDENT,
    )


def _difference(fix: Fix, file: FileResult, lines: LineIndex, room: int) -> Iterator[list[Segment]]:
    """What the fix changes: in the file at hand, then in each other one, below its name."""
    yield from minidiff(file.text, lines, fix.edits, room)
    for other in fix.elsewhere:
        yield _named(relative(other.path))
        yield from minidiff(other.text, LineIndex(other.text), other.edits, room)


def _named(name: str) -> list[Segment]:
    """The line above the differences of a file that the excerpt is not of."""
    return [("  --> ", GUTTER_STYLE), (printable(name), "")]


def _takers(results: Results) -> dict[Diagnostic, list[str]]:
    """The files that take the same wrong value from the same place: one finding is enough."""
    takers: dict[Diagnostic, dict[str, None]] = {}
    for file in results.files:
        for found in file.diagnostics:
            if found.origin is not None and found.origin.path is not None:
                takers.setdefault(_what(found), {})[file.name] = None
    return {found: list(names) for found, names in takers.items()}


def _what(found: Diagnostic) -> Diagnostic:
    """``found`` without what only its own file makes of it."""
    fix = found.fix and replace(found.fix, edits=())
    return replace(found, span=Span(0, 0), related=(), fix=fix)


def _finding(
    diagnostic: Diagnostic,
    names: list[str],
    lines: LineIndex,
    room: int,
    printer: Printer,
    *,
    verbose: bool,
) -> None:
    style = STYLES[diagnostic.severity]
    origin = diagnostic.origin
    gutter = max(len(str(lines.last_row)), len(str((origin and origin.row) or "")))
    if origin is None:
        shown = excerpt(diagnostic, names[0], lines, style, room)
    else:
        shown = foreign_excerpt(origin, gutter, names, style, room)
    for segments in shown:
        printer.line(*segments)
    if len(names) > 1:
        diagnostic = replace(diagnostic, notes=(f"in {listed(names)}", *diagnostic.notes))
    for kind, text in _remarks(diagnostic, verbose=verbose):
        head = f" {' ' * gutter} = "
        indent = " " * len(f"{head}{kind}: ")
        printer.paragraph((head, GUTTER_STYLE), (f"{kind}: ", "bold"), text=text, indent=indent)


def _remarks(diagnostic: Diagnostic, *, verbose: bool) -> Iterator[tuple[str, str]]:
    """What stands below the excerpt, each with its kind: the remedy last, beside its difference."""
    if diagnostic.gpu is not None and diagnostic.gpu not in diagnostic.message:
        yield "gpu", diagnostic.gpu
    for note in (*diagnostic.notes, *(diagnostic.details if verbose else ())):
        yield "note", note
    fix = diagnostic.fix
    if fix is not None:
        yield "help", f"{diagnostic.remedy or fix.title} ({OFFERS[fix.safety]})"
    elif diagnostic.remedy:
        yield "help", diagnostic.remedy
