"""The values of a TOML text, as Python's reader gives them, with where each stands."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from nanolint.regex import lazily
from nanolint.source.settings_text import Leaf, Listed, Mapped, NoSettings

if TYPE_CHECKING:
    from collections.abc import Mapping

    from nanolint.source.settings_text import Node

_TABLE = lazily(r"\s*\[\s*([\w.-]+)\s*\]")
_ENTRY = lazily(r"\s*([\w-]+)\s*=\s*(\"[^\"\n]*\"|'[^'\n]*'|[^\s#]+)\s*(?:#.*)?$")


def read_toml(text: str) -> Node:
    """The value of a TOML text. Raises NoSettings."""
    if sys.version_info >= (3, 11):  # few scripts have one
        import tomllib
    else:
        import tomli as tomllib  # type: ignore[import-not-found,no-redef,unused-ignore]

    try:
        table = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise NoSettings(f"it is no TOML: {error}") from None
    return _mapped(table, (), _places(text))


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


def _mapped(
    table: Mapping[str, object],
    above: tuple[str, ...],
    places: Mapping[tuple[str, ...], tuple[int, int]],
) -> Mapped:
    return Mapped(tuple((key, _node(each, (*above, key), places)) for key, each in table.items()))


def _node(
    value: object, keys: tuple[str, ...], places: Mapping[tuple[str, ...], tuple[int, int]]
) -> Node:
    if isinstance(value, dict):
        return _mapped(value, keys, places)
    if isinstance(value, list):
        return Listed(tuple(_node(each, (*keys, "[]"), places) for each in value))
    place = places.get(keys, (0, 0))
    if isinstance(value, (bool, int, float, str)):
        return Leaf(value, *place)
    return Leaf(None, *place, known=False)  # a date
