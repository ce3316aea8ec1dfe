"""The strings of a JSON text, character by character, with where they stand in it."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from nanolint.launches.placed import Piece, Placed
from nanolint.source.json_places import elements, members, skip

if TYPE_CHECKING:
    from collections.abc import Iterator

_STRING = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
_PLAIN_OR_ESCAPED = re.compile(
    r"[^\\]+|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\.",
    re.DOTALL,
)


def strings_of(text: str) -> Iterator[tuple[int, int]]:
    """The strings of a list of strings: what stands between the quotes of each."""
    for match in _STRING.finditer(text):
        yield match.start() + 1, match.end() - 1


def unescaped(inside: Placed) -> Placed:
    """What the characters between the quotes of a string stand for."""
    text = ""
    pieces: list[Piece] = []
    for match in _PLAIN_OR_ESCAPED.finditer(inside.text):
        at = len(text)
        if not match[0].startswith("\\"):
            text += match[0]
            pieces += (
                piece._replace(at=piece.at + at) for piece in inside.part(*match.span()).pieces
            )
            continue
        char = json.loads(f'"{match[0]}"')
        text += char
        span = inside.span(*match.span())
        if span is not None:
            pieces.append(Piece(at, len(char), span.start, span.end))
    return Placed(text, tuple(pieces))


def cell_sources(text: str) -> list[Placed]:
    """The source of each cell of a notebook, with its places. Raises ValueError for other JSON.

    Where a cell holds ``source`` twice, the last counts, as in Python's reader.
    """
    whole = Placed.whole(text)
    sources: list[Placed] = []
    for key, at in members(text, skip(text, 0)):
        if key != "cells":
            continue
        sources = []
        for cell in elements(text, at):
            source = Placed("")
            for name, start in members(text, cell):
                if name == "source":
                    source = _source(text, start, whole)
            sources.append(source)
    return sources


def _source(text: str, start: int, whole: Placed) -> Placed:
    """A string, or the strings of a list, in a row."""
    from nanolint.launches.placed import joined

    starts = [start] if text[start : start + 1] == '"' else list(elements(text, start))
    parts = []
    for each in starts:
        match = _STRING.match(text, each)
        if match is None:
            raise ValueError("a line of a cell is not a text")
        parts.append(unescaped(whole.part(match.start() + 1, match.end() - 1)))
    return joined(parts)
