"""Lines that a script prints before it trains and that are known to the last letter."""

from __future__ import annotations

MOST = 64  # lines
LONGEST = 400  # characters of a line


class Printed:
    """The whole lines so far. Of a line of which something is not known, nothing is kept."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.is_over = False  # a backward pass has begun: what comes now is not told
        self._open: str | None = ""  # the line that has not ended; None where it is not known

    def put(self, text: str | None, end: str | None) -> None:
        """Prints a text and its end; None stands for a text that is not known."""
        if text is None or end is None:
            self._open = "" if end is not None and end.endswith("\n") else None
            return
        first, *rest = f"{text}{end}".split("\n")
        self._open = None if self._open is None else self._open + first
        for each in rest:
            if self._open is not None and len(self.lines) < MOST and len(self._open) <= LONGEST:
                self.lines.append(self._open)
            self._open = each

    def mark(self) -> tuple[int, str | None]:
        """Returns the place up to which it has printed."""
        return len(self.lines), self._open

    def forget(self, mark: tuple[int, str | None]) -> None:
        """Drops the lines that were printed since."""
        count, before = mark
        del self.lines[count:]
        self._open = "" if before == self._open == "" else None
