"""A program whose text is changed here and there, with the places in it that follow a run."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from nanolint.errors import Unusable
from nanolint.run.program import SETTINGS
from nanolint.trainers.nanogpt.reading import syntax_tree
from nanolint.trainers.script.modules import Source, source_of

if TYPE_CHECKING:
    import ast
    from collections.abc import Callable, Iterable, Sequence

    from nanolint.diagnostics import Span
    from nanolint.run.program import Placed, ReadScript, SourceText


class Edit(NamedTuple):
    """Characters of a text, and what stands in their place."""

    start: int
    end: int
    text: str


class Edited(NamedTuple):
    """The program, and the paths of its modules whose texts are others."""

    program: ReadScript
    paths: tuple[str, ...]


class Text:
    """The text of a module, with its tree."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self.tree = source.tree

    def span(self, node: ast.AST) -> Span:
        """The characters of a node."""
        found = self._source.place(node).span
        assert found is not None
        return found

    def between(self, start: int, end: int) -> str:
        """The characters from ``start`` to ``end``."""
        return self._source.text[start:end]

    def of(self, node: ast.AST) -> str:
        """A node as it is written."""
        span = self.span(node)
        return self.between(span.start, span.end)


def edited(program: ReadScript, edits: Callable[[Text], Iterable[Edit]]) -> Edited | None:
    """``program`` with the ``edits`` of each module; None where there are none, or one of them
    is in the way of a value that follows the run."""
    values, modules, paths = list(program.values), [], []
    for each in program.modules:
        found = sorted(_of(each, edits))
        modules.append(_written(each, found) if found else each)
        if not found:
            continue
        paths.append(each.path)
        if any(one.end > other.start for one, other in pairwise(found)):
            return None
        at = [index for index, value in enumerate(values) if value.module == each.module]
        if any(_meet(values[index], edit) for index in at for edit in found):
            return None
        for index in at:
            values[index] = _moved(values[index], found)
        try:
            syntax_tree(modules[-1].text)
        except Unusable:
            return None
    if not paths:
        return None
    changed = replace(program, modules=tuple(modules), values=tuple(values))
    return Edited(changed, tuple(paths))


def _of(source: SourceText, edits: Callable[[Text], Iterable[Edit]]) -> list[Edit]:
    if source.module.startswith(SETTINGS):
        return []
    try:
        return list(edits(Text(source_of(None, source.module, source.text))))
    except Unusable:
        return []


def _written(source: SourceText, edits: Sequence[Edit]) -> SourceText:
    text = source.text
    for each in reversed(edits):
        text = f"{text[: each.start]}{each.text}{text[each.end :]}"
    return replace(source, text=text)


def _meet(value: Placed, edit: Edit) -> bool:
    return edit.start < value.end and value.start < edit.end


def _moved(value: Placed, edits: Sequence[Edit]) -> Placed:
    before = edits[: bisect_right([each.end for each in edits], value.start)]
    by = sum(len(each.text) - (each.end - each.start) for each in before)
    return replace(value, start=value.start + by, end=value.end + by)
