"""Places in a text, as the protocol counts them (lines from 0, columns in the client's units), and
addresses of documents.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from lsprotocol import types
from pygls.uris import to_fs_path

from nanolint.source.text import LineIndex

if TYPE_CHECKING:
    from collections.abc import Callable


class Stretch(Protocol):
    """Anything from one character offset to another: a Span, an Edit."""

    @property
    def start(self) -> int: ...
    @property
    def end(self) -> int: ...


def _utf8_units(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


def _utf16_units(text: str) -> int:
    return len(text) + sum(character > "\uffff" for character in text)


_UNITS: dict[str, Callable[[str], int]] = {
    types.PositionEncodingKind.Utf8: _utf8_units,
    types.PositionEncodingKind.Utf16: _utf16_units,
    types.PositionEncodingKind.Utf32: len,
}


class Positions:
    """Character offsets of one text and the protocol's positions, in one encoding."""

    def __init__(self, text: str, encoding: str) -> None:
        self._lines = LineIndex(text)
        self._units = _UNITS[encoding]

    def position(self, offset: int) -> types.Position:
        """Where a character offset is."""
        row, column = self._lines.position(offset)
        before = self._lines.part(row, 0, column - 1)
        # An offset between \r and \n lies behind the end of the line, which has no column for it.
        return types.Position(row - 1, self._units(before))

    def range(self, stretch: Stretch) -> types.Range:
        """Where a stretch of characters is."""
        return types.Range(self.position(stretch.start), self.position(stretch.end))

    def on_line(self, row: int, source: str, start: int, end: int) -> types.Range:
        """Where characters of ``source`` are, the line ``row``, from 1, of another text."""
        before, upto = self._units(source[:start]), self._units(source[:end])
        return types.Range(types.Position(row - 1, before), types.Position(row - 1, upto))

    def offset(self, position: types.Position) -> int:
        """The character at a position; behind the end of a line, the end of that line.

        Inside a character, as a client with another idea of the text may ask, that character.
        """
        row = position.line + 1
        line = self._lines.line(row)
        units = 0
        for column, character in enumerate(line, start=1):
            units += self._units(character)
            if units > position.character:
                return self._lines.offset(row, column)
        return self._lines.offset(row, len(line) + 1)


def path_of(uri: str) -> Path | None:
    """The file behind an address; None for one that is not on this machine's disk."""
    if not uri.startswith("file:"):
        return None
    found = to_fs_path(uri)
    return None if found is None else Path(found)
