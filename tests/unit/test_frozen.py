"""nanolint's quick frozen classes are those of the standard library, but for the time they take."""

from __future__ import annotations

import copy
import dataclasses
import operator
import pickle
from dataclasses import FrozenInstanceError, asdict, field, fields, replace
from itertools import product
from pathlib import Path
from typing import Any, ClassVar

import pytest

from nanolint import frozen
from nanolint.cached import cached_property

PACKAGE = Path(frozen.__file__).parent


def make(dataclass: Any) -> Any:
    """One class with every kind of field that nanolint uses, by this decorator."""

    @dataclass(frozen=True, slots=True)
    class Card:
        """A card."""

        unit: ClassVar[str] = "bytes"
        name: str
        total_bytes: int = 0
        tags: list[str] = field(default_factory=list)
        note: str = field(default="", repr=False, compare=False)

        def __post_init__(self) -> None:
            if self.total_bytes < 0:
                raise ValueError("negative")

    return Card


Quick, Known = make(frozen.dataclass), make(dataclasses.dataclass)


@frozen.dataclass(frozen=True, slots=True)
class Pair:
    """Here, so that it can be pickled."""

    first: int
    second: tuple[int, ...] = ()


@frozen.dataclass(frozen=True, slots=True)
class Triple(Pair):
    """With what it inherits first."""

    third: int = 3


@frozen.dataclass(frozen=True)
class Loose:
    """One that has no slots, and so keeps what is worked out from it."""

    first: int
    others: list[int] = field(default_factory=list)

    @cached_property
    def total(self) -> int:
        return self.first + sum(self.others)


@frozen.dataclass(frozen=True, slots=True)
class Nothing:
    """Without a field."""


def test_it_shows_itself_as_the_standard_librarys_does() -> None:
    for given in (("a",), ("a", 2), ("a", 2, ["x"], "seen")):
        assert repr(Quick(*given)) == repr(Known(*given))
        assert asdict(Quick(*given)) == asdict(Known(*given))
    assert [each.name for each in fields(Quick)] == [each.name for each in fields(Known)]
    assert Quick.__match_args__ == Known.__match_args__
    assert Quick.__slots__ == Known.__slots__
    assert Quick.unit == Known.unit == "bytes"


def test_the_same_values_are_equal_and_hash_alike() -> None:
    assert Pair(1, (2,)) == Pair(1, (2,)) != Pair(1)
    assert len({Pair(1), Pair(1), Pair(2)}) == 2
    assert Nothing() == Nothing()
    assert Quick("a", note="x") == Quick("a", note="y")


def test_another_class_with_the_same_values_is_not_equal() -> None:
    assert Quick("a") != Known("a")
    assert Pair(1) != Triple(1)
    other: object = (1, ())
    assert Pair(1) != other


@pytest.mark.parametrize("name", ["first", "third"])
def test_nothing_can_be_changed(name: str) -> None:
    pair = Pair(1)
    with pytest.raises(FrozenInstanceError):
        setattr(pair, name, 2)
    with pytest.raises(FrozenInstanceError):
        delattr(pair, name)
    assert pair == Pair(1)


def test_one_without_slots_keeps_what_is_worked_out_and_no_more() -> None:
    loose = Loose(1, [2])
    assert loose.total == loose.total == 3
    assert loose == Loose(1, [2]) != Loose(1)
    assert pickle.loads(pickle.dumps(loose)) == copy.deepcopy(loose) == replace(loose) == loose
    with pytest.raises(FrozenInstanceError):
        loose.first = 2  # type: ignore[misc]


def test_they_are_ordered_as_the_standard_librarys_are() -> None:
    def ordered(dataclass: Any) -> Any:
        @dataclass(frozen=True, slots=True, order=True)
        class Version:
            major: int
            minor: int = 0

        return Version

    quick, known = ordered(frozen.dataclass), ordered(dataclasses.dataclass)
    values = [(2, 1), (1, 9), (2,), (1, 9)]
    for name in ("lt", "le", "gt", "ge"):
        compare = getattr(operator, name)
        for one, other in product(values, repeat=2):
            assert compare(quick(*one), quick(*other)) == compare(known(*one), known(*other))
    with pytest.raises(TypeError):
        sorted([quick(1), Pair(1)])
    with pytest.raises(TypeError):
        sorted([Pair(1), Pair(2)])  # type: ignore[type-var]


def test_each_gets_a_list_of_its_own() -> None:
    assert Quick("a").tags is not Quick("a").tags
    assert replace(Quick("a"), tags=["x"]).tags == ["x"]


def test_the_first_objects_are_made_as_all_others_are() -> None:
    quick = make(frozen.dataclass)
    for number in range(2 * frozen.FEW):
        made = quick("a", number, note="b") if number % 2 else quick(name="a", total_bytes=number)
        note = "b" if number % 2 else ""
        assert asdict(made) == asdict(Known("a", number, note=note))


def test_it_can_be_replaced_copied_and_sent_to_another_process() -> None:
    for each in (Pair(1, (2, 3)), Triple(1), Nothing()):
        assert pickle.loads(pickle.dumps(each)) == copy.deepcopy(each) == each
    assert replace(Triple(1), third=4) == Triple(1, (), 4)


def test_what_a_class_asks_for_after_its_making_is_asked() -> None:
    with pytest.raises(ValueError, match="negative"):
        Quick("a", -1)


def test_a_wrong_call_names_the_class() -> None:
    with pytest.raises(TypeError, match=r"Pair\.__init__\(\) missing 1 required"):
        Pair()  # type: ignore[call-arg]
