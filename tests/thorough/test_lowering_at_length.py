"""Both lowerings make the same tree of a text, to the character.

These take seconds each.
"""

from __future__ import annotations

from hypothesis import example, given, settings

from tests.unit.source.test_lowering import TEXTS, assert_same


@given(TEXTS)
@settings(max_examples=150, deadline=None)
@example("a = dtype\nb = not a\n")
@example("from gone import *\nbatch_size = batch_size\n")
def test_any_text_is_read_the_same_or_not_at_all(text: str) -> None:
    assert_same(text)
    assert_same(text + "\n")
