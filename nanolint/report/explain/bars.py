"""Horizontal bars of block characters, an eighth of a cell exact."""

from __future__ import annotations

from typing import TextIO

_EIGHTHS = "▏▎▍▌▋▊▉█"
_PLAIN = "#"


class Bars:
    """Bars of at most ``cells`` cells; of ``#`` where the stream has no block characters."""

    def __init__(self, stream: TextIO, cells: int) -> None:
        self._cells = cells
        self._blocks = _can_encode(stream, _EIGHTHS)

    def draw(self, part: int, whole: int) -> str:
        """A bar as long as ``part`` is of ``whole``, padded to the full width."""
        eighths = round(8 * self._cells * min(1.0, part / whole)) if whole > 0 else 0
        if part > 0:
            eighths = max(1, eighths)
        full, rest = divmod(eighths, 8)
        if self._blocks:
            bar = _EIGHTHS[-1] * full + (_EIGHTHS[rest - 1] if rest else "")
        else:
            bar = _PLAIN * (full + (rest >= 4))
        return f"{bar:<{self._cells}}"


def _can_encode(stream: TextIO, text: str) -> bool:
    try:
        text.encode(getattr(stream, "encoding", None) or "utf-8")
    except (UnicodeEncodeError, LookupError):
        return False
    return True
