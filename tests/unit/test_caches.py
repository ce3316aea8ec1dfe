"""The table of docs/caches.md has every cache that could grow."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, NamedTuple

import pytest

from tests.support.repository import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PAGE = (ROOT / "docs" / "caches.md").read_text(encoding="utf-8")
ROWS = [each for each in PAGE.splitlines() if each.startswith("| ")]
SMALL = 64  # entries; a cache up to this size needs no row
KINDS = ("memo", "of_node", "of_sizes", "lasting")  # a row for all of a kind
SOURCES = sorted(path for folder in ("nanolint", "rules") for path in (ROOT / folder).rglob("*.py"))


class Cache(NamedTuple):
    path: str
    name: str
    kind: str
    size: int | None  # entries, None without a bound

    @property
    def needs_a_row(self) -> bool:
        return self.kind not in KINDS and (self.size is None or self.size > SMALL)


def caches_of(path: Path) -> Iterator[Cache]:
    """The caches of a file, by decorator or call, each with the function that it stands at."""
    text = path.read_text(encoding="utf-8")
    if not re.search(rf"\b(cache|lru_cache|hold_newest|{'|'.join(KINDS)})\b", text):
        return
    tree = ast.parse(text)
    has_functools = "from functools import" in text
    where = str(path.relative_to(ROOT)).removeprefix("rules/")
    owners = [each for each in ast.walk(tree) if isinstance(each, ast.FunctionDef)]
    uses = [(each, mark) for each in owners for mark in each.decorator_list]
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and not any(node is mark for _, mark in uses):
            around = [one for one in owners if one.lineno <= node.lineno <= (one.end_lineno or 0)]
            uses += [(max(around, key=lambda one: one.lineno), node)] if around else []
    for owner, mark in uses:
        named = mark.func if isinstance(mark, ast.Call) else mark
        kind = named.id if isinstance(named, ast.Name) else ""
        if kind in ("cache", "lru_cache") and has_functools:
            yield Cache(where, owner.name, kind, size_of(mark, tree))
        elif kind in ("hold_newest", *KINDS) and owner.name != kind:
            yield Cache(where, owner.name, kind, None)


def size_of(mark: ast.expr, tree: ast.Module) -> int | None:
    """The bound of ``lru_cache(maxsize=...)``, which may be a constant of the module."""
    given = next((each.value for each in getattr(mark, "keywords", ())), None)
    if given is None:
        return None
    names = {
        each.targets[0].id: each.value
        for each in tree.body
        if isinstance(each, ast.Assign) and isinstance(each.targets[0], ast.Name)
    }
    value = names[given.id] if isinstance(given, ast.Name) else given
    return int(eval(ast.unparse(value)))


CACHES = [each for path in SOURCES for each in caches_of(path)]


def test_every_cache_that_could_grow_has_a_row() -> None:
    missing = [
        each
        for each in CACHES
        if each.needs_a_row
        and not any(f"`{each.path}`" in row and f"`{each.name}`" in row for row in ROWS)
    ]
    assert not missing


@pytest.mark.parametrize("kind", KINDS)
def test_a_kind_has_a_row(kind: str) -> None:
    assert any(each.kind == kind for each in CACHES)
    assert any(f"`{kind}`" in row.split("|")[1] for row in ROWS)


def test_every_row_names_what_there_is() -> None:
    for row in ROWS[1:]:
        where = row.split("|")[2]
        (path,) = re.findall(r"`([\w/]+\.py)`", where)
        text = (ROOT / path).read_text(encoding="utf-8")
        assert all(name in text for name in re.findall(r"`(\w+)`", where)), row
