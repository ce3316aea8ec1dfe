"""Standard input and output as the commands see them, so that tests can bring their own."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False  # `typing` takes longer to import than `--help` takes
if TYPE_CHECKING:
    from typing import TextIO

    from nanolint.report.printer import Printer


class Streams:
    """The three standard streams, and the one that a progress bar is drawn on: stderr."""

    def __init__(
        self, stdin: TextIO, stdout: TextIO, stderr: TextIO, progress: TextIO | None = None
    ) -> None:
        self.stdin = stdin
        self.stdout = stdout
        self.stderr = stderr
        self.progress = progress or stderr

    def warn(self, line: str) -> None:
        """Write one line to stderr, wrapped on a terminal; nothing in it is obeyed by that."""
        printer(self.stderr, "never").paragraph(text=line, indent="  ")

    def warn_as_is(self, text: str) -> None:
        """Write lines of nanolint's own to stderr: a traceback."""
        self.stderr.write(f"{text}\n")

    def read_stdin(self) -> bytes:
        """All of standard input; raises Unusable where it is closed, or too much."""
        from nanolint.errors import Unusable
        from nanolint.files.door import read_bounded

        if not self.stdin.readable():
            raise Unusable("standard input is closed")
        buffer = getattr(self.stdin, "buffer", None)
        return read_bounded(buffer) if buffer else self.stdin.read().encode()


def open_standard_streams() -> None:
    """Open those that the process was started without, in the order of their numbers.

    Else the next file that is opened would take the number of one. What is written there is lost;
    standard input cannot be read.
    """
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: PTH123, SIM115


def printer(stream: TextIO, color: str = "auto") -> Printer:
    """A printer on ``stream``; ``color`` is ``always``, ``never`` or ``auto``."""
    from nanolint.report.printer import Printer

    width = None
    if stream.isatty():
        import shutil

        width = shutil.get_terminal_size().columns
    return Printer(stream, color=_colored(stream, color), width=width)


def _colored(stream: TextIO, color: str) -> bool:
    """Whether to color: what was asked for, else NO_COLOR, FORCE_COLOR, else on terminals."""
    if color != "auto":
        return color == "always"
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return stream.isatty() and os.environ.get("TERM") != "dumb"
