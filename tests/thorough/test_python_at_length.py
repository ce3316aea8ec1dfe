"""Python's own tree of a text.

These take seconds each.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from nanolint.source.python import new_tree
from tests.unit.source.test_python import TEXT, Garbage


def test_two_threads_have_their_trees_at_once() -> None:
    def functions(_: int) -> int:
        Garbage()
        return len(new_tree(TEXT).body)

    with ThreadPoolExecutor(2) as both:
        assert set(both.map(functions, range(200))) == {300}
