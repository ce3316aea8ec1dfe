"""Lines of styled text on a stream: with colours on a terminal, as they are anywhere else."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from typing import TextIO


Segment: TypeAlias = "str | tuple[str, str]"  # a text, or a text and a style as rich names them

# Characters that would move the cursor or reorder the line: control codes and bidi overrides.
_UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


def printable(text: str) -> str:
    """``text`` on one line and with nothing in it that a terminal would obey."""
    return _UNPRINTABLE.sub(lambda match: _picture(match[0]), text)


def _picture(character: str) -> str:
    code = ord(character)
    if code < 0x20:
        return chr(0x2400 + code)  # ␛ for an escape
    return "␡" if code == 0x7F else "\ufffd"


class Printer:
    """Writes lines to ``stream``. ``width`` is the terminal's, None where nothing is wrapped."""

    def __init__(self, stream: TextIO, *, color: bool = False, width: int | None = None) -> None:
        self.stream = stream
        self.color = color
        self.width = width
        self._console: Any = None

    def line(self, *segments: Segment) -> None:
        """Write one line, never wrapped. Texts must be printable."""
        if not self.color:
            plain = (each if isinstance(each, str) else each[0] for each in segments)
            self.stream.write("".join(plain) + "\n")
            return
        from rich.text import Text

        self._rich().print(Text.assemble(*segments), soft_wrap=True)

    def paragraph(self, *head: Segment, text: str, indent: str) -> None:
        """Write ``text`` after ``head``, wrapped at the terminal's width and then indented."""
        text = printable(text)
        if self.width is None:
            self.line(*head, text)
            return
        import textwrap  # where there is a width to wrap at

        taken = sum(len(each if isinstance(each, str) else each[0]) for each in head)
        lines = textwrap.wrap(
            text,
            max(self.width, 40),
            initial_indent=" " * taken,
            subsequent_indent=indent,
            break_long_words=False,
            break_on_hyphens=False,
        )
        self.line(*head, *(line[taken:] for line in lines[:1]))
        for line in lines[1:]:
            self.line(line)

    def blank(self) -> None:
        """Write an empty line."""
        self.line()

    def markdown(self, text: str) -> None:
        """Write a Markdown page as rich renders it."""
        from rich.markdown import Markdown

        self._rich().print(Markdown(text))
        self.blank()

    def _rich(self) -> Any:
        if self._console is None:
            from rich.console import Console

            self._console = Console(
                file=self.stream,
                force_terminal=True,
                width=self.width,
                highlight=False,
                markup=False,
                emoji=False,
            )
        return self._console
