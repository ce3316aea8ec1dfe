"""Questions of rules about other files: the lines of a model that hold what does not fit, and who
else reads a file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.diagnostics import SourceLine
from nanolint.errors import Unusable
from nanolint.files.door import is_file
from nanolint.run.program import ReadScript
from nanolint.verdict.holding import holding
from nanolint.verdict.words import amount

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from nanolint.rule.case import Case
    from nanolint.rule.context import Context


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
