"""Bytes of a Python file to text and back, characters to rows and columns, and edits of a text."""

from __future__ import annotations

import codecs
import re
from bisect import bisect_right
from typing import TYPE_CHECKING

from nanolint.errors import Refused
from nanolint.frozen import dataclass
from nanolint.regex import lazily

if TYPE_CHECKING:
    from collections.abc import Iterable

    from nanolint.diagnostics import Edit

_NEWLINE = re.compile(r"\r\n|\r|\n")
_BLANK = lazily(r"\s*")
_NEWLINE_BYTES = re.compile(rb"\r\n|\r|\n")
# PEP 263: a cookie counts on the first line, or on the second below a blank or comment line.
_COOKIE = re.compile(rb"[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")
_BLANK_OR_COMMENT = re.compile(rb"[ \t\f]*(#.*)?$")
_LONGEST_CODEC_NAME = 40
_SLOW_CODECS = frozenset({"idna", "punycode"})  # quadratic in the length of the text
_ASCII = bytes(range(1, 128))


class Undecodable(Refused):
    """Bytes that are not the text of a Python file."""


class Unencodable(Exception):
    """Text that the encoding of its file cannot hold."""


@dataclass(frozen=True, slots=True)
class SourceText:
    """The decoded content of a file. Newlines are those of the file; a BOM is not in ``text``."""

    text: str
    encoding: str = "utf-8"
    bom: bool = False


def decode(raw: bytes) -> SourceText:
    """The text of a file as Python reads it. Raises Undecodable.

    What it returns, ``encode`` turns back into the same bytes.
    """
    if raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise Undecodable("UTF-16 is not an encoding that Python reads")
    if b"\0" in raw:
        raise Undecodable("it contains NUL bytes, so it is not a text file")
    bom = raw.startswith(codecs.BOM_UTF8)
    body = raw[len(codecs.BOM_UTF8) :] if bom else raw
    encoding = _declared_encoding(body) or "utf-8"
    if bom and encoding != "utf-8":
        raise Undecodable(f"it starts with a UTF-8 mark but declares the encoding {encoding}")
    try:
        text = body.decode(encoding)
        same = text.encode(encoding) == body
    except UnicodeError as error:
        where = f" at byte {error.start}" if isinstance(error, UnicodeDecodeError) else ""
        raise Undecodable(f"it is not valid {encoding}{where}") from None
    if not same:
        raise Undecodable(f"its {encoding} cannot be written back unchanged")
    return SourceText(text, encoding, bom)


def encode(source: SourceText, new_text: str) -> bytes:
    """The bytes of ``new_text`` in the encoding of ``source``. Raises Unencodable."""
    mark = codecs.BOM_UTF8 if source.bom else b""
    try:
        raw = mark + new_text.encode(source.encoding)
        intact = decode(raw).text == new_text
    except UnicodeEncodeError as error:
        character = new_text[error.start]
        raise Unencodable(f"{source.encoding} has no character {character!a}") from None
    except Undecodable as error:
        raise Unencodable(str(error)) from None
    if not intact:
        raise Unencodable("the new text declares another encoding")
    return raw


def _declared_encoding(body: bytes) -> str | None:
    """The normal name of the encoding that a PEP 263 cookie declares."""
    start = 0
    for _ in range(2):
        newline = _NEWLINE_BYTES.search(body, start)
        line = body[start : newline.start()] if newline else body[start:]
        cookie = _COOKIE.match(line)
        if cookie:
            return _codec(cookie[1])
        if newline is None or not _BLANK_OR_COMMENT.match(line):
            return None
        start = newline.end()
    return None


def _codec(declared: bytes) -> str:
    name = declared[:_LONGEST_CODEC_NAME].decode("ascii", "replace").lower().replace("_", "-")
    # Emacs adds the line ending to the name, which Python forgives for these two.
    if name == "utf-8" or name.startswith("utf-8-"):
        return "utf-8"
    if re.match(r"(latin-1|iso-8859-1|iso-latin-1)(-|$)", name):
        return "iso8859-1"
    try:
        codec = codecs.lookup(name)
        # Every codec that Python can read source in agrees with ASCII on ASCII. Those for which
        # a byte depends on the ones before it (UTF-7, ISO 2022) fail here.
        if codec.name in _SLOW_CODECS or _ASCII.decode(codec.name) != _ASCII.decode("ascii"):
            raise LookupError
    except (LookupError, UnicodeError, ValueError, TypeError):
        raise Undecodable(f"it declares the encoding {name}, which nanolint cannot read") from None
    return codec.name


class LineIndex:
    """Rows and columns of one text, counted from 1 in characters, lines split as Python does."""

    def __init__(self, text: str) -> None:
        self._text = text
        newlines = list(_NEWLINE.finditer(text))
        self._starts = [0, *(newline.end() for newline in newlines)]
        self._ends = [*(newline.start() for newline in newlines), len(text)]

    @property
    def last_row(self) -> int:
        """The number of the last line, which is empty when the text ends with a newline."""
        return len(self._starts)

    def position(self, offset: int) -> tuple[int, int]:
        """The row and column of a character offset."""
        offset = min(max(offset, 0), len(self._text))
        row = bisect_right(self._starts, offset)
        return row, offset - self._starts[row - 1] + 1

    def offset(self, row: int, column: int) -> int:
        """The offset of a row and column; past the end of a line, the end of that line."""
        if row < 1:
            return 0
        if row > self.last_row:
            return len(self._text)
        return min(self._starts[row - 1] + max(column, 1) - 1, self._ends[row - 1])

    def line(self, row: int) -> str:
        """The text of a line without its newline; empty for a row that does not exist."""
        return self.part(row, 0, self.length(row))

    def length(self, row: int) -> int:
        """The characters of a line without its newline; 0 for a row that does not exist."""
        return self._ends[row - 1] - self._starts[row - 1] if 1 <= row <= self.last_row else 0

    def part(self, row: int, start: int, end: int) -> str:
        """The characters of a line from ``start`` to before ``end``, counted from 0."""
        first, length = self.offset(row, 1), self.length(row)
        return self._text[first + min(start, length) : first + min(end, length)]

    def is_blank(self, row: int) -> bool:
        """Whether a line holds nothing but space, or does not exist."""
        start = self.offset(row, 1)
        return _BLANK.fullmatch(self._text, start, start + self.length(row)) is not None


def apply_edits(text: str, edits: Iterable[Edit]) -> str:
    """``text`` with non-overlapping ``edits`` applied."""
    pieces: list[str] = []
    position = 0
    for edit in sorted(edits):
        pieces += (text[position : edit.start], edit.replacement)
        position = edit.end
    pieces.append(text[position:])
    return "".join(pieces)
