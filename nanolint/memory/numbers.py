"""The numbers that a script gives names to, and its texts without them: ``learning_rate = 6e-4``.

Texts that differ in fractions alone have the same tape, unless the reading looks at one of them
(``model/reading/watched.py``); those that differ in whole numbers may share one (``family.py``).
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from nanolint.run.program import SETTINGS
from nanolint.source.python import python_tree, statements

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from nanolint.run.program import SourceText

ASSIGNMENTS = (ast.Assign, ast.AnnAssign)
# Whole numbers that count: how long it trains, and when something is done. Sizes hardly ever follow
# from them, and they are typed often.
COUNTS = re.compile(r"iter|step|interval|every|warmup|epoch|seed", re.IGNORECASE)
Spot = tuple[str, int, int]  # a path, a line, a column in bytes


class Named(NamedTuple):
    """A number where it stands in its line, in bytes, and what it is given to."""

    line: int
    start: int
    end: int
    value: Any
    name: str = ""


def without(
    modules: Iterable[SourceText], kinds: tuple[type, ...] = (float,)
) -> tuple[tuple[SourceText, ...], tuple[Any, ...]]:
    """The texts with nothing in the places of named fractions, or of the ``kinds``, and those in
    their order."""
    found = _in_modules(modules, kinds)
    texts = tuple(replace(each, text=_cut(each.text, named)) for each, named in found)
    return texts, tuple(each.value for _, named in found for each in named)


def counting(modules: Iterable[SourceText]) -> frozenset[int]:
    """Which of the named whole numbers count, by their place among these."""
    found = [each for _, named in _in_modules(modules, (int,)) for each in named]
    return frozenset(at for at, each in enumerate(found) if COUNTS.search(each.name))


def spots(modules: Iterable[SourceText], kinds: tuple[type, ...] = (float,)) -> Mapping[Spot, int]:
    """Which of them stands where, by its number in that order."""
    listed = [(each.path, named) for each, found in _in_modules(modules, kinds) for named in found]
    return {(path, each.line, each.start): at for at, (path, each) in enumerate(listed)}


def _in_modules(
    modules: Iterable[SourceText], kinds: tuple[type, ...]
) -> list[tuple[SourceText, tuple[Named, ...]]]:
    """Of files of settings none, nor where two files are shown by one path."""
    listed = list(modules)
    times = Counter(each.path for each in listed)
    return [
        (each, () if is_other else _in_text(each.text, kinds))
        for each in listed
        for is_other in [times[each.path] > 1 or each.module.startswith(SETTINGS)]
    ]


def _in_text(text: str, kinds: tuple[type, ...]) -> tuple[Named, ...]:
    return tuple(each for each in _named(text) if type(each.value) in kinds)


@lru_cache(maxsize=64)
def _named(text: str) -> tuple[Named, ...]:
    """Whatever constants have a name, in their order."""
    try:
        tree = python_tree(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ()
    found = [
        Named(value.lineno, value.col_offset, value.end_col_offset or 0, value.value, _name(each))
        for each in statements(tree)
        if isinstance(each, ASSIGNMENTS) and isinstance(value := each.value, ast.Constant)
    ]
    return tuple(sorted(found, key=lambda each: each[:2]))


def _name(assignment: ast.Assign | ast.AnnAssign) -> str:
    targets = assignment.targets if isinstance(assignment, ast.Assign) else [assignment.target]
    return targets[0].id if isinstance(targets[0], ast.Name) else ""


def _kind(each: Named) -> bytes:
    """What stands in its place: a number of another kind is another script."""
    return b"\0" + type(each.value).__name__.encode()


@lru_cache(maxsize=64)
def _cut(text: str, named: tuple[Named, ...]) -> str:
    lines = text.encode("utf-8", "surrogatepass").splitlines(keepends=True)
    for each in reversed(named):
        line = lines[each.line - 1]
        lines[each.line - 1] = line[: each.start] + _kind(each) + line[each.end :]
    return b"".join(lines).decode("utf-8", "surrogatepass")
