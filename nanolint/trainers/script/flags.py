"""One flag of a parser, and what a word makes of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.frozen import dataclass
from nanolint.run.equation import NotKnown
from nanolint.run.terms import Given, Number
from nanolint.source.python import literal

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from nanolint.run.terms import Place
    from nanolint.source.values import Scalar
    from nanolint.trainers.script.core import Word
    from nanolint.trainers.script.things import Thing

SWITCHES: Mapping[str, tuple[bool, bool]] = {  # action: without the flag, with it
    "store_true": (False, True),
    "store_false": (True, False),
}
_BOTH = "BooleanOptionalAction"
_TRUE = frozenset({"1", "true", "yes", "y", "t", "on"})


@dataclass(frozen=True, slots=True)
class Flag:
    """One ``add_argument``. ``flags`` are its spellings, none for a positional.

    ``several``: it may take more than one value, or none.
    """

    name: str
    flags: tuple[str, ...]
    default: Thing
    kind: str  # the last name of its ``type``; "" for text, "?" for one that is not known
    action: str
    several: bool = False
    at: Place | None = None  # the line of the call


def named_by(key: str, flags: Sequence[Flag]) -> Iterator[Flag]:
    """The flag that a word of the launch line names, also by its beginning as argparse allows."""
    exact = [flag for flag in flags if key in flag.flags]
    if exact or not key.startswith("--"):
        yield from exact
        return
    negated = "--" + key.removeprefix("--no-") if key.startswith("--no-") else None
    begun = [flag for flag in flags if any(each.startswith(key) for each in flag.flags)]
    if len(begun) == 1:
        yield begun[0]
    elif negated is not None:
        yield from (flag for flag in flags if negated in flag.flags)


def takes_value(key: str, flags: Sequence[Flag]) -> bool | None:
    """Whether its value follows a flag; None where several may."""
    named = list(named_by(key, flags))
    if any(each.several for each in named):
        return None
    return any(not is_switch(each) for each in named)


def is_switch(flag: Flag) -> bool:
    """Whether a flag takes no value."""
    return flag.action in SWITCHES or flag.action == _BOTH


def misfits(word: Word, flag: Flag) -> bool:
    """Whether a value is none of the flag's type."""
    takes = flag.kind in ("int", "float") and flag.action == "store" and not flag.several
    if not takes or isinstance(word.value, NotKnown) or word.value is None:
        return False
    return isinstance(_converted(word.value, flag.kind), NotKnown)


def said(flag: Flag, word: Word) -> Scalar | NotKnown:
    """The value that a word gives a flag."""
    if isinstance(word.value, NotKnown):
        return word.value
    if is_switch(flag) and isinstance(word.value, bool):
        return word.value  # of --set
    if flag.action in SWITCHES:
        return SWITCHES[flag.action][1]
    if flag.action == _BOTH:
        return not word.key.startswith("--no-")
    return _converted(word.value, flag.kind)


def number(value: Scalar | NotKnown) -> Thing:
    return value if isinstance(value, NotKnown) else Number(value)


def typed(default: Thing, flag: Flag) -> Thing:
    """argparse converts a default only where it is text."""
    if isinstance(default, Given) and isinstance(default.value, str) and flag.kind:
        value = _converted(default.value, flag.kind)
        if isinstance(value, NotKnown):
            return value
        return Given(default.key, value, default.surface, default.place)
    return default


def _converted(value: Scalar, kind: str) -> Scalar | NotKnown:
    text = str(value)
    if kind == "":
        return text
    try:
        if kind == "int":
            return int(text)
        if kind == "float":
            return float(text)
        if kind == "str":
            return text
        if kind == "bool":
            return bool(text)  # as argparse does: any text is true
    except ValueError:
        return NotKnown(f"{text!r} is not a value of type {kind}")
    if kind == "?":  # a function of the script: most turn words into true and false
        if text.lower() in _TRUE or text.lower() in ("0", "false", "no", "n", "f", "off"):
            return text.lower() in _TRUE
        try:
            found = literal(text)
        except (SyntaxError, ValueError):
            return text
        return found if isinstance(found, (int, float, str)) else text
    return NotKnown(f"{text!r} is converted by {kind} at run time")
