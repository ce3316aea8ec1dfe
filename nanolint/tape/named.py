"""The constants that a text gives names to.

Who types changes a line of a text. Where that line has whole statements of the module, before and
after, nothing else is another thing, and it alone is parsed: 0.1 ms instead of 2 to 5, for each of
half a dozen texts that a keystroke makes.
"""

from __future__ import annotations

import ast
from collections import deque
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from nanolint.source.python import new_tree, python_tree, statements

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

ASSIGNMENTS = (ast.Assign, ast.AnnAssign)
DECORATED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)  # by lines before their own
MOST_LATELY = 16  # texts, of which one may be another line away
MOST_LINES = 4  # that differ
OTHER_BREAKS = ("\r", "\f")  # which Python's own lines end with, or not
FAILURES = (SyntaxError, ValueError, RecursionError, MemoryError)


class Named(NamedTuple):
    """A constant where it stands in its line, in bytes, and what it is given to; ``is_global``
    where that is one name of the module's own."""

    line: int
    start: int
    end: int
    value: Any
    name: str
    is_global: bool


class _Text(NamedTuple):
    """What was found in a text, and which of its lines hold whole statements of the module."""

    lines: list[str]
    named: tuple[Named, ...]
    whole: frozenset[int]


@lru_cache(maxsize=64)
def named(text: str) -> tuple[Named, ...]:
    """Whatever constants have a name, in their order; none where Python cannot parse the text.

    >>> [(each.name, each.value) for each in named("a = b = 1; c: int = 2; d = (3, 4)")]
    [('a', 1), ('c', 2)]
    """
    lines = text.split("\n")
    others = (_changed(each, lines) for each in tuple(_lately))  # threads may add some
    found = next((each for each in others if each is not None), None)
    if found is None:
        try:
            tree = python_tree(text)
        except FAILURES:
            return ()
        is_usual = not any(each in text for each in OTHER_BREAKS)
        whole = frozenset(_whole_lines(tree)) if is_usual else frozenset()
        found = _Text(lines, _in_order(_of(tree)), whole)
    _lately.appendleft(found)
    return found.named


_lately: deque[_Text] = deque(maxlen=MOST_LATELY)


def _changed(other: _Text, lines: list[str]) -> _Text | None:
    """What is in a text, from another one that only whole lines are another thing in."""
    if len(lines) != len(other.lines):
        return None
    pairs = enumerate(zip(lines, other.lines, strict=True), 1)
    changed = {at for at, (own, its) in pairs if own != its}
    if len(changed) > MOST_LINES or not other.whole.issuperset(changed):
        return None
    found = [each for each in other.named if each.line not in changed]
    for at in changed:
        own = _of_line(lines[at - 1])
        if own is None:
            return None
        found += [each._replace(line=at) for each in own]
    return _Text(lines, _in_order(found), other.whole)


def _in_order(found: Iterable[Named]) -> tuple[Named, ...]:
    return tuple(sorted(found, key=lambda each: each[:2]))


@lru_cache(maxsize=64)
def _of_line(line: str) -> tuple[Named, ...] | None:
    """What is in a line of whole statements; None for another one."""
    if any(each in line for each in OTHER_BREAKS):
        return None
    try:
        tree = new_tree(line)
    except FAILURES:
        return None
    return tuple(_of(tree)) if tree.body else None


def _whole_lines(tree: ast.Module) -> Iterator[int]:
    """The lines with statements of the module that begin and end there."""
    longer = set[int]()
    for each in tree.body:
        is_decorated = isinstance(each, DECORATED) and each.decorator_list
        if each.end_lineno != each.lineno or is_decorated:
            longer.update(range(each.lineno, (each.end_lineno or each.lineno) + 1))
    yield from {each.lineno for each in tree.body} - longer


def _of(tree: ast.Module) -> Iterator[Named]:
    own = frozenset(map(id, tree.body))
    for each in statements(tree):
        if isinstance(each, ASSIGNMENTS) and isinstance(value := each.value, ast.Constant):
            yield _given(each, value, is_global=id(each) in own)


def _given(to: ast.Assign | ast.AnnAssign, value: ast.Constant, *, is_global: bool) -> Named:
    targets = to.targets if isinstance(to, ast.Assign) else [to.target]
    name = targets[0].id if isinstance(targets[0], ast.Name) else ""
    is_short = value.lineno == value.end_lineno and len(targets) == 1
    is_plain = is_global and is_short and bool(name) and not name.startswith("__")
    end = value.end_col_offset or 0
    return Named(value.lineno, value.col_offset, end, value.value, name, is_plain)
