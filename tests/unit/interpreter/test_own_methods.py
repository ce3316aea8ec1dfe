"""The methods that Python's own values have, as a model's program may call them."""

from __future__ import annotations

import pytest

from tests.unit.interpreter.test_programs import read, text_of, unread

CALLS = [
    "'ab'.ljust(5, '.')",
    "'ab'.rjust(5)",
    "'ab'.center(7, '-')",
    "'-7'.zfill(4)",
    "'a\\tb'.expandtabs(4)",
    "'Straße'.casefold()",
    "'aBc'.swapcase()",
    "'a b'.isspace()",
    "'abcab'.rfind('ab')",
    "'abcab'.rindex('ab')",
    "'12'.isdecimal()",
    "'Ab Cd'.istitle()",
    "'ab'.isascii() and 'ab'.isprintable()",
    "b'a,b'.split(b',')",
    "b'ab'.hex()",
    "b'ab'.decode() + b'ab'.decode('ascii')",
    "b'ab'.startswith(b'a')",
    "{'a': 1}.fromkeys(['b'], 2)",
    "frozenset([1, 2]).symmetric_difference([2, 3])",
    "frozenset([1]).isdisjoint([2])",
    "(7).bit_count() + (7).conjugate()",
    "(0.5).as_integer_ratio()",
    "(0.5).hex()",
    "(1j).conjugate()",
    "' | '.join([f'layer {i}'.ljust(8) for i in range(2)])",
]


@pytest.mark.parametrize("call", CALLS)
def test_a_method_gives_what_python_says(call: str) -> None:
    read(text_of(f"assert {call} == {eval(call)!r}"))


def test_and_nothing_else() -> None:
    assert "AssertionError" in unread(text_of("assert 'ab'.ljust(5) == 'ab'"))


@pytest.mark.parametrize(
    ("changes", "left"),
    [
        ("intersection_update([2, 3])", {2}),
        ("difference_update([2], [3])", {1}),
        ("symmetric_difference_update([2, 3])", {1, 3}),
    ],
)
def test_a_set_is_changed_in_its_place(changes: str, left: set[int]) -> None:
    read(text_of(f"s = {{1, 2}}\ns.{changes}\nassert s == {left}"))


# What makes a value of another, and what bytes are not used for.
ELSEWHERE = {
    bytes: {
        *("center", "expandtabs", "fromhex", "join", "ljust", "maketrans", "replace", "rjust"),
        *("translate", "zfill"),
    },
    int: {"from_bytes", "to_bytes"},
    float: {"fromhex", "from_number"},
    complex: {"from_number"},
}
VALUES = ["a", b"a", [1], (1,), {"a": 1}, {1}, frozenset([1]), 1, 1.0, 1j, range(2)]


@pytest.mark.parametrize("value", VALUES, ids=lambda each: type(each).__name__)
def test_none_is_missing(value: object) -> None:
    public = {each for each in dir(value) if not each.startswith("_")}
    wanted = sorted(public - ELSEWHERE.get(type(value), set()))
    read(text_of("\n".join(f"assert hasattr({value!r}, {each!r}), {each!r}" for each in wanted)))


@pytest.mark.parametrize("call", ["'a'.ljust(10**12)", "'a\\t'.expandtabs(10**12)"])
def test_none_grows_without_bound(call: str) -> None:
    assert "elements" in unread(text_of(f"x = x + len({call})"))


INDEXED = """
class Rows:
    def __getitem__(self, place):
        if place == 3:
            raise IndexError(place)
        return place * 2
"""


def test_what_can_be_indexed_alone_is_gone_through_until_it_refuses() -> None:
    read(text_of("assert [each for each in Rows()] == [0, 2, 4]", above=INDEXED))
    read(text_of("for each in Rows(): break\nassert each == 0", above=INDEXED))
