"""What a launch line gives a script that takes flags as argparse does, and in its environment."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.diagnostics import Span
from nanolint.frozen import dataclass
from nanolint.regex import lazily
from nanolint.source import python

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from nanolint.launches.commands import Argument
    from nanolint.source.values import Scalar

_NUMBER = lazily(r"-\.?\d")  # argparse takes it for a value


@dataclass(frozen=True, slots=True)
class Flag:
    """``--name value``, ``--name=value``, or a variable of the environment, ``NAME=value``.

    ``name`` is as it is written. ``value`` is None for a flag alone, which only the script can tell
    from one whose value was left out. ``unknown`` says why a part of the value is not known.
    ``place`` is where all of it stands in the text of the launch line, ``value_place`` where the
    value does, if it stands there letter by letter.
    """

    name: str
    value: str | None
    unknown: str | None = None
    place: Span | None = None
    value_place: Span | None = None


@dataclass(frozen=True, slots=True)
class Before:
    """A run that is started before another: its script, its line, and where that stands."""

    script: Path
    line: LaunchLine
    processes: int | None
    path: Path
    row: int


@dataclass(frozen=True, slots=True)
class LaunchLine:
    """The words behind a script on its launch line, and the variables in front of it.

    ``end`` is the offset in the line's text at which another flag can be put, where there is one,
    and ``added`` what is put there for ``{flag}``, or ``{key}`` without dashes, and ``{value}``.
    """

    flags: tuple[Flag, ...] = ()
    variables: tuple[Flag, ...] = ()
    end: int | None = None
    added: str = " {flag}={value}"
    assigned: tuple[Flag, ...] = ()  # words without dashes: train.rows=8
    unknown: str | None = None  # why there may be other flags: a word that only the run has
    alone: tuple[str, ...] = ()  # words that are no flag, no value of one, and set nothing
    before: tuple[Before, ...] = ()  # what the same text starts before it
    is_module: bool = False  # python -m package.script
    is_whole: bool = False  # there is such a line, and it has no other words

    def with_flag(self, flag: str, value: object) -> str:
        """What is put at ``end`` for a flag."""
        return self.added.format(flag=flag, key=flag.lstrip("-"), value=value)


def read_line(
    words: Sequence[Argument], environment: Mapping[str, Argument], end: int | None = None
) -> LaunchLine:
    """The flags among ``words``, in their order, the variables, and what stands alone.

    ``end`` is where the script's own name ends; behind its words, if it has any, is the place for
    another flag.
    """
    flags = tuple(_flags(words))
    alone = (word.unknown for word in words if word.unknown and not _is_flag(word))
    values = {flag.unknown for flag in flags}
    return LaunchLine(
        flags,
        tuple(_flag(f"{name}=", word) for name, word in environment.items()),
        _place_for_another(words, end),
        assigned=tuple(_assigned(words)),
        unknown=next((why for why in alone if why not in values), None),
        alone=tuple(_alone(words)),
    )


def _alone(words: Sequence[Argument]) -> Iterator[str]:
    for before, word in zip((None, *words), words, strict=False):
        is_value = before is not None and _is_flag(before) and "=" not in before.text
        if not (is_value or _is_flag(word) or "=" in word.text):
            yield word.text


def _assigned(words: Sequence[Argument]) -> Iterator[Flag]:
    """The words that are no value of a flag, and set something by its name."""
    for before, word in zip((None, *words), words, strict=False):
        name, equals, _ = word.text.partition("=")
        is_value = before is not None and _is_flag(before) and "=" not in before.text
        if equals and not is_value and all(each.isidentifier() for each in name.split(".")):
            yield _flag(f"{name}=", word)


def _place_for_another(words: Sequence[Argument], end: int | None) -> int | None:
    """Behind the last word that stands in one place, and that no other belongs to."""
    for word, following in zip(reversed(words), (None, *reversed(words)), strict=False):
        if word.place is not None and (following is None or _is_flag(following)):
            return word.place.end
    return end if not words or _is_flag(words[0]) else None


def _flags(words: Sequence[Argument]) -> Iterator[Flag]:
    waiting = list(reversed(words))
    while waiting:
        word = waiting.pop()
        name, equals, _ = word.text.partition("=")
        if not name.startswith("-") or name in ("-", "--") or _NUMBER.match(name):
            continue
        if equals:
            yield _flag(f"{name}=", word)
        elif waiting and not _is_flag(waiting[-1]):
            yield _with_value(word, waiting.pop())
        else:
            yield Flag(name, None, word.unknown, word.place)


def _is_flag(word: Argument) -> bool:
    return word.text.startswith("-") and not _NUMBER.match(word.text)


def _with_value(name: Argument, value: Argument) -> Flag:
    both = name.place and value.place
    return Flag(
        name.text,
        value.text,
        name.unknown or value.unknown,
        Span(name.place.start, value.place.end) if both and name.place and value.place else None,
        value.placed.exact(0, len(value.text)),
    )


def _flag(start: str, word: Argument) -> Flag:
    """A name with its value in one word; the text of a variable's word is the value alone."""
    value = word.since(len(start)) if word.text.startswith(start) else word
    value_place = value.placed.exact(0, len(value.text))
    return Flag(
        start.removesuffix("="), value.text, word.unknown, word.place or value_place, value_place
    )


def plain_name(key: str) -> str:
    """A name as a script has it behind ``args.``: ``--batch-size`` is ``batch_size``."""
    return key.lstrip("-").replace("-", "_")


def literal(value: Scalar) -> Scalar:
    """A word of a launch line as the value that Python would read it as, else the text itself."""
    if not isinstance(value, str):
        return value
    try:
        found = python.literal(value)
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return value
    return found if isinstance(found, (int, float, str)) or found is None else value
