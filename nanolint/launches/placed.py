"""A text with where its characters stand in the file that it was made from.

What a shell reads is seldom what a file holds: a notebook escapes it, make fills in variables, a
line goes on behind a backslash. An edit of a word is an edit of the characters that it came from.
"""

from __future__ import annotations

from bisect import bisect_right
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from nanolint.diagnostics import Span
from nanolint.frozen import dataclass

if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Iterable, Iterator


class Piece(NamedTuple):
    """``length`` characters from ``at`` on, which are ``[start, end)`` in the file.

    Each stands there for itself where it is as long there. What is written otherwise (``\\"``) is
    one character, and a piece of its own.
    """

    at: int
    length: int
    start: int
    end: int

    @property
    def is_exact(self) -> bool:
        return self.end - self.start == self.length


@dataclass(frozen=True, slots=True)
class Placed:
    """``text``, and what of it stands in the file; the rest was put there by others."""

    text: str
    pieces: tuple[Piece, ...] = ()

    @classmethod
    def whole(cls, text: str, start: int = 0) -> Placed:
        """A text that stands in the file as it is, from ``start`` on."""
        return cls(text, (Piece(0, len(text), start, start + len(text)),) if text else ())

    def part(self, start: int, end: int | None = None) -> Placed:
        """The characters from ``start`` up to ``end``."""
        end = len(self.text) if end is None else end
        return Placed(self.text[start:end], tuple(self._within(start, end)))

    def _within(self, start: int, end: int) -> Iterator[Piece]:
        first = bisect_right(self.pieces, start, key=lambda piece: piece.at) - 1
        for piece in self.pieces[max(0, first) :]:
            if piece.at >= end:
                return
            left, right = max(start, piece.at), min(end, piece.at + piece.length)
            if left >= right:
                continue
            begin = piece.start + left - piece.at
            stop = begin + right - left if piece.is_exact else piece.end
            yield Piece(left - start, right - left, begin, stop)

    def stripped(self, characters: str | None = None) -> Placed:
        """Without ``characters``, or blanks, at both ends."""
        return self.lstripped(characters).rstripped(characters)

    def lstripped(self, characters: str | None = None) -> Placed:
        """Without ``characters``, or blanks, at its beginning."""
        return self.part(len(self.text) - len(self.text.lstrip(characters)))

    def rstripped(self, characters: str | None = None) -> Placed:
        """Without ``characters``, or blanks, at its end."""
        return self.part(0, len(self.text.rstrip(characters)))

    def sub(
        self, pattern: re.Pattern[str], with_: str | Callable[[re.Match[str]], str | Placed]
    ) -> Placed:
        """With something else for each match of ``pattern``, as ``re.sub`` puts it."""
        parts: list[Placed] = []
        done = 0
        for match in pattern.finditer(self.text):
            new = with_ if isinstance(with_, str) else with_(match)
            parts += (
                self.part(done, match.start()),
                Placed(new) if isinstance(new, str) else new,
            )
            done = match.end()
        return joined((*parts, self.part(done))) if parts else self

    def group(self, match: re.Match[str], group: str | int) -> Placed:
        """What ``group`` of a match in this text has matched."""
        return self.part(*match.span(group)) if match[group] is not None else Placed("")

    def lines(self) -> Iterator[Placed]:
        """What stands between its newlines."""
        start = 0
        for line in self.text.split("\n"):
            yield self.part(start, start + len(line))
            start += len(line) + 1

    def span(self, start: int, end: int) -> Span | None:
        """The characters of the file that these are, if they stand there side by side."""
        found = list(self._within(start, end))
        if not found or sum(piece.length for piece in found) != end - start:
            return None
        if any(one.end != other.start for one, other in pairwise(found)):
            return None
        return Span(found[0].start, found[-1].end)

    def exact(self, start: int, end: int) -> Span | None:
        """The same where each of them stands there for itself, so that others may in its place."""
        found = self.span(start, end)
        if found is None or found.end - found.start != end - start:
            return None
        return found if all(piece.is_exact for piece in self._within(start, end)) else None


def joined(parts: Iterable[Placed | str], between: str = "") -> Placed:
    """The parts in a row."""
    texts: list[str] = []
    pieces: list[Piece] = []
    at = 0
    for number, part in enumerate(parts):
        if number and between:
            texts.append(between)
            at += len(between)
        if isinstance(part, str):
            texts.append(part)
            at += len(part)
            continue
        for piece in part.pieces:
            moved = piece._replace(at=piece.at + at)
            last = pieces[-1] if pieces else None
            if last is not None and _continues(last, moved):
                pieces[-1] = Piece(last.at, last.length + moved.length, last.start, moved.end)
            else:
                pieces.append(moved)
        texts.append(part.text)
        at += len(part.text)
    return Placed("".join(texts), tuple(pieces))


def _continues(one: Piece, other: Piece) -> bool:
    """Whether two pieces are one, in the text and in the file."""
    beside = one.at + one.length == other.at and one.end == other.start
    return beside and one.is_exact and other.is_exact
