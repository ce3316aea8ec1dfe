"""Python's own tree of a text."""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING
from weakref import ref

import pytest

from nanolint.source.python import expression_tree, literal, new_tree, of_node

if TYPE_CHECKING:
    import ast

TEXT = "".join(f"def f{n}(a, b):\n    return [a * {n} + c for c in (a, b)]\n" for n in range(300))


class Garbage:
    """Python runs code where it finds this, and may then turn to another thread."""

    def __init__(self) -> None:
        self.itself = self

    def __del__(self) -> None:
        for _ in range(50):
            pass


@pytest.mark.parametrize(
    ("text", "value"),
    [(" 12", 12), ("\t'a' 'b'", "ab"), ("-1.5", -1.5), ("[None, (1, 2)]", [None, (1, 2)])],
)
def test_a_literal_has_its_value(text: str, value: object) -> None:
    assert literal(text) == value


@pytest.mark.parametrize(
    ("text", "error"), [("x", ValueError), ("f()", ValueError), ("1 +", SyntaxError)]
)
def test_what_is_no_literal_is_refused(text: str, error: type[Exception]) -> None:
    with pytest.raises(error):
        literal(text)


@pytest.mark.parametrize("read", [new_tree, expression_tree, literal])
def test_an_invalid_escape_is_its_authors_business(read: object) -> None:
    assert callable(read)
    read("'\\d'")


def test_what_is_found_in_a_node_is_found_once_and_goes_with_it() -> None:
    asked = []

    @of_node
    def statements(tree: ast.Module) -> int:
        asked.append(len(tree.body))
        return len(tree.body)

    tree = new_tree("a = 1\nb = 2")
    assert statements(tree) == statements(tree) == 2
    assert asked == [2]
    known = ref(tree)
    del tree
    gc.collect()
    assert known() is None
