"""What rules ask of files beside the one at hand."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.errors import Unusable

if TYPE_CHECKING:
    from pathlib import Path

    from nanolint.rule.context import Context


def text_of(path: Path) -> str | None:
    """The text of another file, None where it cannot be read."""
    from nanolint.trainers.nanogpt.reading import read_source

    try:
        return read_source(path)
    except Unusable:
        return None


def trainers_of(context: Context) -> tuple[str, ...]:
    """The texts of the project's scripts that train with what this file has."""
    from nanolint.run.takers.readers import trainers

    if context.path is None:
        return ()
    return tuple(each.text for each in trainers(context.path))


def other_trainer(context: Context, path: Path) -> str | None:
    """Another script of the project that trains with values of the file at ``path``."""
    from nanolint.run.takers.readers import other_trainer

    return None if context.path is None else other_trainer(path, context.path)
