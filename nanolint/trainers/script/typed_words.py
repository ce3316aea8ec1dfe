"""What ``parse_args`` is given: the launch line's words, or those that the script has itself."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from nanolint.run.equation import NotKnown
from nanolint.run.terms import Number
from nanolint.trainers.script.core import Word
from nanolint.trainers.script.operations import scalar
from nanolint.trainers.script.things import ITEMS, External, Instance, Row, Thing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from nanolint.run.terms import Place

TYPED = External("sys.argv")
_CHANGED = re.compile(
    r"\bsys\.argv(?:\[[^\]\n]*\])?\s*\+?=(?!=)"
    r"|\bsys\.argv\.(?:append|clear|extend|insert|pop|remove)\b"
    r"|\bdel\s+sys\.argv\b"
)
_LEFT = "left of the launch line"  # the field of a row that stands for those words


def left_over() -> Row:
    """The words that ``parse_known_args`` leaves: none that is followed."""
    return Row({ITEMS: (), _LEFT: Number(value=True)})


def changes_argv(texts: Iterable[str]) -> bool:
    """Whether a script puts words into ``sys.argv``, or takes some out."""
    return any("argv" in text and _CHANGED.search(text) is not None for text in texts)


def own_words(
    given: Thing | None, takes_value: Callable[[str], bool | None], place: Place
) -> tuple[Word, ...] | NotKnown | None:
    """The words that a script puts into ``parse_args`` itself; None: the launch line's.

    ``takes_value``: whether a flag is followed by its value; None where it may be by several.
    """
    if given is None or given in (Number(None), TYPED):
        return None
    if isinstance(given, Row) and _LEFT in given.slot:
        return None
    if isinstance(given, Row) and given.count is None:
        texts = [scalar(each) for each in given.items]
        plain = [each for each in texts if isinstance(each, str)]
        if len(plain) == len(texts):
            return tuple(_words(plain, takes_value))
    why = "the words that parse_args is given"
    return given if isinstance(given, NotKnown) else NotKnown(why, place.path, place.line)


def _words(texts: Sequence[str], takes_value: Callable[[str], bool | None]) -> Iterator[Word]:
    at = 0
    while at < len(texts):
        key, equals, value = texts[at].partition("=")
        at += 1
        if not key.startswith("-"):
            yield Word("", texts[at - 1])
            continue
        takes = takes_value(key)
        if takes is None:
            yield Word(key, NotKnown(f"several values of {key}"))
        elif equals or not takes:
            yield Word(key, value)
        elif at < len(texts):
            yield Word(key, texts[at])
            at += 1


def of_namespace(given: Thing | None, place: Place) -> Mapping[object, Thing] | NotKnown:
    """What stands already in the namespace that ``parse_args`` puts its values into."""
    if given is None or given == Number(None):
        return {}
    if isinstance(given, Instance):
        return given.fields
    return NotKnown("the object that parse_args fills", place.path, place.line)
