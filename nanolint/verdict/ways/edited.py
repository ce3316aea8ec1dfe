"""A program whose text is changed here and there, with the places in it that follow a run.

An argument that is added to a call as it is written.

A module that a text has to import before it can say what is in it.

What of a script's names is read again after it was given a value.
"""

from __future__ import annotations

import ast
from bisect import bisect_right
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from nanolint.cached import cached_property
from nanolint.errors import Unusable
from nanolint.run.program import SETTINGS
from nanolint.trainers.nanogpt.reading import syntax_tree
from nanolint.trainers.script.modules import Source, source_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

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


def added(text: Text, call: ast.Call, argument: str) -> Edit:
    """``argument`` behind the others of a call that has some."""
    end = text.span(call).end - 1
    last = max(text.span(each).end for each in (*call.args, *call.keywords))
    comma = "," in text.between(last, end)
    return Edit(end, end, argument if comma else f", {argument}")


def imported(text: Text, module: str) -> Edit | None:
    """The import, on a line that has one; None where the text imports nothing by itself."""
    for each in text.tree.body:
        future = isinstance(each, ast.ImportFrom) and each.module == "__future__"
        if isinstance(each, (ast.Import, ast.ImportFrom)) and not future:
            end = text.span(each).end
            return Edit(end, end, f"; import {module}")
    return None


Function: TypeAlias = "ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda"
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
BLOCKS = ("body", "orelse", "finalbody")


class Scope:
    """A module or a function, without the functions in it."""

    def __init__(self, root: ast.Module | Function) -> None:
        self._root = root

    @cached_property
    def nodes(self) -> tuple[ast.AST, ...]:
        """All that is in it."""
        found: list[ast.AST] = _children(self._root)
        for node in found:  # which grows
            if not isinstance(node, FUNCTIONS):
                found += _children(node)
        return tuple(found)

    @cached_property
    def _inner(self) -> tuple[Scope, ...]:
        return tuple(Scope(each) for each in self.nodes if isinstance(each, FUNCTIONS))

    @cached_property
    def _blocks(self) -> dict[ast.stmt, tuple[Sequence[ast.stmt], int]]:
        """The block of each statement, and its place there."""
        found: dict[ast.stmt, tuple[Sequence[ast.stmt], int]] = {}
        for node in (self._root, *self.nodes):
            for name in BLOCKS:
                block = getattr(node, name, None)
                if isinstance(block, list):
                    found.update({each: (block, at) for at, each in enumerate(block)})
        return found

    @cached_property
    def _parents(self) -> dict[ast.AST, ast.AST]:
        return {each: node for node in (self._root, *self.nodes) for each in _children(node)}

    def is_unread(self, name: str, given: ast.Assign) -> bool:
        """Whether nobody reads what ``given`` gives to a name: each who reads it reads what it was
        given behind that."""
        if any(_is_elsewhere(node, name) for node in self.nodes):
            return False
        if any(each.reads(name) for each in self._inner):
            return False
        return not any(self._may_read(each, name, given) for each in self._read(name))

    def reads(self, name: str) -> bool:
        """Whether a function reads a name of what is around it, or gives it a value."""
        if any(isinstance(each, (ast.Global, ast.Nonlocal)) and name in each.names
               for each in self.nodes):  # fmt: skip
            return True
        if name in self._bound:
            return False
        return any(True for _ in self._read(name)) or any(each.reads(name) for each in self._inner)

    @cached_property
    def _bound(self) -> frozenset[str]:
        """The names that are a function's own."""
        stored = {
            each.id
            for each in self.nodes
            if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)
        }
        given = {each.arg for each in ast.walk(self._root) if isinstance(each, ast.arg)}
        return frozenset(stored | given)

    def _read(self, name: str) -> Iterator[ast.AST]:
        for each in self.nodes:
            if isinstance(each, ast.AugAssign):
                each = each.target
                reads = True
            else:
                reads = isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load)
            if reads and isinstance(each, ast.Name) and each.id == name:
                yield each

    def _may_read(self, read: ast.AST, name: str, given: ast.Assign) -> bool:
        """Whether a name that is read may hold what ``given`` gave it."""
        node = read
        while node in self._parents:
            if isinstance(node, ast.stmt) and node in self._blocks:
                block, at = self._blocks[node]
                for before in range(at - 1, -1, -1):
                    if _gives(block[before], name):
                        behind = block[before : at + 1]
                        return any(given is each for part in behind for each in ast.walk(part))
            node = self._parents[node]
        return True


def scopes(tree: ast.Module) -> Iterator[Scope]:
    """A module, and every function in it."""
    yield Scope(tree)
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield Scope(node)


def _children(node: ast.AST) -> list[ast.AST]:
    return list(ast.iter_child_nodes(node))


def _is_elsewhere(node: ast.AST, name: str) -> bool:
    """Whether a name is another scope's, or is deleted already."""
    if isinstance(node, (ast.Global, ast.Nonlocal)):
        return name in node.names
    return isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Del)


def _gives(statement: ast.stmt, name: str) -> bool:
    """Whether a name has been given a value for certain once a statement is done."""
    if isinstance(statement, (ast.With, ast.AsyncWith)):
        return any(_gives(each, name) for each in statement.body)
    if not isinstance(statement, ast.Assign):
        return False
    stored = (each for target in statement.targets for each in ast.walk(target))
    return any(
        isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store) and each.id == name
        for each in stored
    )
