"""Replacing a value keeps the comments inside it."""

from __future__ import annotations

import pytest

from nanolint.fixing import apply_edits
from nanolint.rewrite import replace_integer
from nanolint.source.parse import parse


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("a = 64  # why\n", "a = 7  # why\n"),
        ("a = (  # why\n    64  # inner\n)\n", "a = (  # why\n    7  # inner\n)\n"),
        ("a = (4  # a\n    * 16  # b\n    # c\n)\n", "a = (7  # a\n    # b\n    # c\n)\n"),
        ("a = (\n    4  # a\n    * 16\n    # b\n)\n", "a = (\n    7  # a\n    # b\n)\n"),
        ("a = (4 # a\n) * (16 # b\n)\n", "a = (7 # a\n# b\n)\n"),
        ("a = int(  # a\r\n    64)\r\n", "a = (7  # a\r\n)\r\n"),
        ("a = (\n    # own line\n    32 * 2\n)\n", "a = (\n    # own line\n    7\n)\n"),
    ],
)
def test_the_comments_stay(before: str, after: str) -> None:
    module = parse(before)
    edit = replace_integer(module.assignments[0], 7, module.comments)
    assert apply_edits(before, [edit]) == after
    assert [each.text for each in parse(after).comments] == [each.text for each in module.comments]
