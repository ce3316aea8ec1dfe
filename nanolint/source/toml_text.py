"""The values of a TOML text, as Python's reader gives them, with where each stands."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from nanolint.regex import lazily
from nanolint.source.settings_text import (
    DEEPEST,
    MOST_BITS,
    TOO_DEEP,
    Count,
    Leaf,
    Listed,
    Mapped,
    NoSettings,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from nanolint.source.settings_text import Node

NEWLINE = "\n"
_DIGITS = lazily(r"\d[\d_]{3999,}")
_TABLE = lazily(r"\s*\[\s*([\w.-]+)\s*\]")
_ENTRY = lazily(r"\s*([\w-]+)\s*=\s*(\"[^\"\n]*\"|'[^'\n]*'|[^\s#]+)\s*(?:#.*)?$")


def load_toml(text: str) -> dict[str, Any]:
    """The table of a TOML text, as Python's reader gives it.

    Raises NoSettings, also for tables that are nested too deeply to be compared or printed.
    """
    if sys.version_info >= (3, 11):  # few scripts have one
        import tomllib
    else:
        import tomli as tomllib  # type: ignore[import-not-found,no-redef,unused-ignore]

    try:
        table = tomllib.loads(text)
    except RecursionError:
        raise NoSettings(TOO_DEEP) from None
    except tomllib.TOMLDecodeError as error:
        reason = str(error)
        raise NoSettings(f"not valid TOML: {reason[:1].lower()}{reason[1:]}") from None
    except ValueError:  # a number of more digits than Python reads
        number = _DIGITS.search(text)
        place = f", line {text.count(NEWLINE, 0, number.start()) + 1}" if number else ""
        raise NoSettings(f"a number has too many digits{place}") from None
    _refuse_extremes(table)
    return table


def _refuse_extremes(table: dict[str, Any]) -> None:
    level: list[tuple[str, Any]] = [("", table)]
    for _ in range(DEEPEST):
        below: list[tuple[str, Any]] = []
        for name, value in level:
            if isinstance(value, dict):
                below += ((f"{name}.{key}".lstrip("."), each) for key, each in value.items())
            elif isinstance(value, list):
                below += ((name, each) for each in value)
            elif isinstance(value, int) and value.bit_length() > MOST_BITS:
                raise NoSettings(f"the number of {name} has too many digits")
        level = below
    if level:
        raise NoSettings(f"{level[0][0][:40]}... is nested too deeply")


def read_toml(text: str) -> Node:
    """The value of a TOML text. Raises NoSettings."""
    return _Toml(_places(text)).node(load_toml(text))


def _places(text: str) -> dict[tuple[str, ...], tuple[int, int]]:
    """Where values stand that have a line to themselves, by their keys."""
    found: dict[tuple[str, ...], tuple[int, int]] = {}
    table: tuple[str, ...] = ()
    start = 0
    for line in text.splitlines(keepends=True):
        if (header := _TABLE.match(line)) is not None:
            table = tuple(header[1].split("."))
        elif line.lstrip().startswith("["):  # an array of tables
            table = ("",)
        elif (entry := _ENTRY.match(line.rstrip("\r\n"))) is not None:
            found[(*table, entry[1])] = (start + entry.start(2), start + entry.end(2))
        start += len(line)
    return found


class _Toml:
    def __init__(self, places: Mapping[tuple[str, ...], tuple[int, int]]) -> None:
        self._places = places
        self._count = Count()

    def node(self, value: object, keys: tuple[str, ...] = ()) -> Node:
        """Returns the value at ``keys``. Raises NoSettings for more than is read."""
        self._count.enter(len(keys))
        if isinstance(value, dict):
            return Mapped(
                tuple((key, self.node(each, (*keys, key))) for key, each in value.items())
            )
        if isinstance(value, list):
            return Listed(tuple(self.node(each, (*keys, "[]")) for each in value))
        place = self._places.get(keys, (0, 0))
        if isinstance(value, (bool, int, float, str)):
            return Leaf(value, *place)
        return Leaf(None, *place, known=False)  # a date
