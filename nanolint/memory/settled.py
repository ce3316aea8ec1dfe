"""A script with the values of a run in their places: what its tape follows from, and no more.

Texts that come to the same are one: a fix that was written into a script and the same value tried
in its place, and a script that calls the allocator's variable by its other name, which decides
nothing about what is allocated.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from nanolint.run.allocator_variable import NEW, by_name
from nanolint.run.program import SETTINGS, FromRun

if TYPE_CHECKING:
    from nanolint.run.program import NotKnown, Placed, ReadScript, SourceText
    from nanolint.run.run import Run
    from nanolint.source.values import Plain


def settled(program: ReadScript, run: Run) -> ReadScript:
    """The program of ``run``, with nothing left to fill in."""
    modules = [_written(each, program.values, run) for each in program.modules]
    texts = by_name([each.text for each in modules], NEW)
    modules = [replace(each, text=text) for each, text in zip(modules, texts, strict=True)]
    return replace(
        program,
        modules=tuple(modules),
        values=(),
        words=tuple((name, value_of(each, run)) for name, each in program.words),
        variables=tuple((name, value_of(each, run)) for name, each in program.variables),
    )


def _written(source: SourceText, values: tuple[Placed, ...], run: Run) -> SourceText:
    text = source.text
    for each in sorted(values, key=lambda each: -each.start):
        if each.module == source.module:
            rest = text[each.end :]
            bare = rest.lstrip(" ")
            if bare.startswith("#") and not source.module.startswith(SETTINGS):
                rest = bare  # a fix keeps the comment's column
            text = f"{text[: each.start]}{value_of(each.value, run)!r}{rest}"
    return source if text is source.text else replace(source, text=text)


def value_of(value: Plain | FromRun | NotKnown, run: Run) -> Plain | NotKnown:
    """A value, or the run's."""
    found: Plain | NotKnown = getattr(run, value.field) if isinstance(value, FromRun) else value
    return found
