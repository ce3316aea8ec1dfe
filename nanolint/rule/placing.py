"""Where findings stand: lines that were read, lines that hold what does not fit, and who else reads
a file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.diagnostics import SourceLine, Span
from nanolint.errors import Unusable
from nanolint.files.door import is_file
from nanolint.regex import lazily
from nanolint.run.program import ReadScript
from nanolint.run.stop import Line
from nanolint.run.stop import quoted as lines_of
from nanolint.verdict.lines import holding
from nanolint.verdict.words import amount

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from nanolint.rule.case import Case
    from nanolint.rule.context import Context
    from nanolint.run.story import Fact, Stack, Told


def holders(context: Context, case: Case) -> tuple[SourceLine, ...]:
    """The line that asks for what fails, and the one that keeps most when it does.

    Empty where no text of the model is at hand, or its lines are not known.
    """
    return tuple(_holders(context, case))


def _holders(context: Context, case: Case) -> Iterator[SourceLine]:
    run, target, verdict, resolution = case.run, case.target, case.verdict, case.resolution
    if run is None or target is None or verdict is None or verdict.oom is None:
        return
    program = run.program
    if not isinstance(program, ReadScript):
        return
    limit = verdict.usable_bytes
    texts = {each.path: each.text for each in program.modules}
    for each in holding(run, target.gpu, limit, expandable=target.expandable):
        path = file_of(context, each.line.path)
        rows = texts.get(each.line.path, "").splitlines()
        if path is None or each.line.number > len(rows):
            continue
        about = "~" if resolution.doubts else ""
        does = "asks for" if each.asks else "keeps"
        message = f"{does} {about}{amount(each.nbytes)}"
        yield SourceLine(path, each.line.number, rows[each.line.number - 1], message)


def file_of(context: Context, name: str) -> Path | None:
    """Where a file of the project lies, by its name as the reading has it."""
    script = context.project.train_script or context.path
    if script is None:
        return None
    folders = (script.parent, script.parent.parent)
    return next((path for each in folders if is_file(path := each / name)), None)


def text_of(path: Path) -> str | None:
    """The text of another file, None where it cannot be read."""
    from nanolint.trainers.nanogpt.reading import read_source

    try:
        return read_source(path)
    except Unusable:
        return None


def trainers_of(context: Context) -> tuple[str, ...]:
    """The texts of the project's scripts that train with what this file has."""
    from nanolint.run.takers.neighbours import trainers

    if context.path is None:
        return ()
    return tuple(each.text for each in trainers(context.path))


def other_trainer(context: Context, path: Path) -> str | None:
    """Another script of the project that trains with values of the file at ``path``."""
    from nanolint.run.takers.neighbours import other_trainer

    return None if context.path is None else other_trainer(path, context.path)


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


def chain(context: Context, lines: Sequence[Line]) -> Iterator[SourceLine]:
    """The lines of the file at hand that lead to the first of them."""
    for each in [each for each in lines if is_here(context, each)][1:]:
        if context.path is not None:
            yield SourceLine(context.path, each.number, each.source, "leads there")


def quoted(case: Case, stack: Stack) -> tuple[Line, ...]:
    """The lines of a place in a run, each with its text."""
    run = case.run
    modules = run.program.modules if run and isinstance(run.program, ReadScript) else ()
    return lines_of(stack, {each.path: each.text for each in modules})


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
