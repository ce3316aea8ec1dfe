"""Answers about a tape that outlive their process, so that who asks again needs no tape.

They are kept next to the reading that they follow from, a line for each; see ``files/cache.py``.

Dictionaries that hold the newest of their values.
"""

from __future__ import annotations

import hashlib
import json
from enum import Enum
from typing import TYPE_CHECKING, Any, TypeVar

from nanolint.files import cache

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    Question = TypeVar("Question", bound=Callable[..., Any])


PLAIN = (int, bool, type(None))
MOST_BYTES = 8 << 10  # of an answer: one with all events of a run is worked out again

_made_of: dict[Callable[..., Any], dict[str, Callable[..., Any]]] = {}


def lasting(*classes: type) -> Callable[[Question], Question]:
    """Marks a question whose answers are kept: those are plain values, tuples and ``classes``.

    What it is asked with beside the tape is such, too.
    """

    def mark(question: Question) -> Question:
        _made_of[question] = {each.__name__: each for each in classes}
        return question

    return mark


class Answers:
    """What was kept of the answers about one reading."""

    def __init__(self, reading: str) -> None:
        # The name of a reading has all texts in it: a digest stands for it in each line's place.
        digest = hashlib.sha256(reading.encode("utf-8", "surrogatepass")).hexdigest()
        self._name = f"answers about {digest}"
        self._said = dict(map(json.loads, cache.lines(self._name)))

    def knows(self, question: Callable[..., Any], given: tuple[object, ...]) -> bool:
        """Whether an answer was kept."""
        return question in _made_of and _key(question, given) in self._said

    def find(self, question: Callable[..., Any], given: tuple[object, ...]) -> Any:
        """The answer to a question, which is known."""
        return read_plainly(self._said[_key(question, given)], _made_of[question])

    def keep(self, question: Callable[..., Any], given: tuple[object, ...], answer: object) -> None:
        """Keep the answer to a question that is marked as one whose answers last."""
        if question not in _made_of:
            return
        key, said = _key(question, given), written_plainly(answer)
        line = json.dumps((key, said)).encode()
        if len(line) <= MOST_BYTES:
            self._said[key] = said
            cache.add_line(self._name, line)


def _key(question: Callable[..., Any], given: tuple[object, ...]) -> str:
    return f"{question.__module__}.{question.__qualname__}{given!r}"


def written_plainly(value: Any) -> Any:
    """Returns JSON of a plain value, a tuple, or an object of a class that says its parts."""
    kind = type(value)
    if isinstance(value, Enum):
        return {kind.__name__: [value.value]}
    if isinstance(value, str):
        return str(value)  # a name that knows its place is a name
    if kind in PLAIN:
        return value
    if kind is tuple:
        return list(map(written_plainly, value))
    if kind is frozenset:
        return {kind.__name__: [list(map(written_plainly, value))]}
    return {kind.__name__: [written_plainly(getattr(value, name)) for name in kind.__match_args__]}


def read_plainly(said: Any, classes: dict[str, Callable[..., Any]]) -> Any:
    """The value that was written; ``classes`` by their names."""
    if isinstance(said, list):
        return tuple([read_plainly(each, classes) for each in said])
    if isinstance(said, dict):
        ((name, parts),) = said.items()
        return classes[name](*(read_plainly(each, classes) for each in parts))
    return said


Key = TypeVar("Key", bound="Hashable")
Value = TypeVar("Value")


def hold_newest(known: dict[Key, Value], key: Key, value: Value, most: int) -> None:
    """Put a value last, and forget the first ones above ``most``; another thread may do so, too."""
    known.pop(key, None)
    known[key] = value
    for each in [*known][:-most]:
        known.pop(each, None)
