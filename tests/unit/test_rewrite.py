"""Replacing a value keeps the comments inside it."""

from __future__ import annotations

import pytest

from nanolint.rule.rewrite import insert_assignment, replace_integer, replace_value
from nanolint.source.parse import parse
from nanolint.source.text import apply_edits


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
        ("a = (\n  # own line\n    2 ** 6\n)\n", "a = (\n  # own line\n    7\n)\n"),
        ("a = (\n    # 1\n    # 2\n    2 ** 6\n)\n", "a = (\n    # 1\n    # 2\n    7\n)\n"),
        ("a = (\\\n    2 ** 6  # b\n)\n", "a = (\n    7  # b\n)\n"),
        ("a = (\n    2 ** 6\n    # b\n)\n", "a = (\n    7\n    # b\n)\n"),
        ("a = (\n\n    2 ** 6\n    # b\n)\n", "a = (\n    7\n    # b\n)\n"),
        ("a = (2 **  # b\n    6\n    # c\n)\n", "a = (7  # b\n    # c\n)\n"),
    ],
)
def test_the_comments_stay(before: str, after: str) -> None:
    module = parse(before)
    edit = replace_integer(module.assignments[0], 7, module.comments)
    assert apply_edits(before, [edit]) == after
    assert [each.text for each in parse(after).comments] == [each.text for each in module.comments]


@pytest.mark.parametrize(
    ("before", "new", "after"),
    [
        ("a = 5 * 8\n", 160, "a = 20 * 8\n"),
        ("a = 5 * 8\n", 10, "a = 5 * 2\n"),
        ("a = (5) * 8\n", 160, "a = (20) * 8\n"),
        ("a = 5 * 8\n", 7, "a = 7\n"),
        ("a = 0 * 8\n", 7, "a = 7\n"),
        ("b = 5\na = b * 8\n", 10, "b = 5\na = b * 2\n"),
        ("a = 2 ** 6\n", 7, "a = 7\n"),
        ("a = 600_000\n", 1_200_000, "a = 1_200_000\n"),
        ("a = (600_000)\n", 7, "a = (7)\n"),
        ("a = 8 * 1_000\n", 16_000_000, "a = 16000 * 1_000\n"),
        ("a = (1_000) * 7\n", 14_000, "a = (2_000) * 7\n"),
        ("a = 1_000 * 3 + 1\n", 7000, "a = 7000\n"),
    ],
)
def test_one_factor_of_a_product_changes_where_that_suffices(
    before: str, new: int, after: str
) -> None:
    edit = replace_integer(parse(before).assignments[-1], new)
    assert apply_edits(before, [edit]) == after


@pytest.mark.parametrize(
    ("before", "new", "after"),
    [
        ("a = 8 * 5\n", 80, "a = 8 * 10\n"),
        ("a = 5 * 8\n", 80, "a = 10 * 8\n"),
        ("a = 8 * 8\n", 128, "a = 16 * 8\n"),
        ("a = 8 * 5\n", 20, "a = 4 * 5\n"),
    ],
)
def test_the_world_size_in_a_product_stays_where_another_factor_can_change(
    before: str, new: int, after: str
) -> None:
    edit = replace_integer(parse(before).assignments[0], new, keep=8)
    assert apply_edits(before, [edit]) == after


@pytest.mark.parametrize("text", ["a = 'x'\n", "a = 0.5\n", "a = f()\n"])
def test_only_a_known_integer_is_replaced_as_one(text: str) -> None:
    with pytest.raises(ValueError, match="a is not a known integer"):
        replace_integer(parse(text).assignments[0], 7)


def test_comments_outside_the_expression_are_not_repeated() -> None:
    text = "# above\na = 2 ** 6  # why\n# below\n"
    module = parse(text)
    edit = replace_value(module.assignments[0], "7", module.comments)
    assert apply_edits(text, [edit]) == "# above\na = 7  # why\n# below\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("a = 1\nc = 3\n", "a = 1\nb = 2\nc = 3\n"),
        ("a=1  # why\nc = 3\n", "a=1  # why\nb=2\nc = 3\n"),
        ("a    = 1\n", "a    = 1\nb = 2\n"),
        ("a: int = 1\n", "a: int = 1\nb = 2\n"),
        ("a = 1", "a = 1\nb = 2"),
        ("a = 1\r\nc = 3\r\n", "a = 1\r\nb = 2\r\nc = 3\r\n"),
        ("a = 1\rc = 3\r", "a = 1\rb = 2\rc = 3\r"),
        ("x = 0\r\na = 1", "x = 0\r\na = 1\r\nb = 2"),
        ("x = 0\ra = 1", "x = 0\ra = 1\rb = 2"),
        ("\r\na = 1", "\r\na = 1\r\nb = 2"),
        ("a = (\n    1\n)\nc = 3\n", "a = (\n    1\n)\nb = 2\nc = 3\n"),
    ],
)
def test_an_inserted_assignment_copies_the_spacing_and_newline_of_its_partner(
    before: str, after: str
) -> None:
    partner = next(each for each in parse(before).assignments if each.key == "a")
    assert apply_edits(before, [insert_assignment(before, partner, "b", "2")]) == after
