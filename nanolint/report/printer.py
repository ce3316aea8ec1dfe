"""Lines of styled text on a stream: with colours on a terminal; a rule's page in them.

Lines of styled text on a stream: with colours on a terminal, as they are anywhere else.

A rule's page for a terminal: what it takes to read it there, on a screen.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, TypeAlias

from nanolint.report.results import page_text, page_url
from nanolint.rule.api import Need

if TYPE_CHECKING:
    from typing import TextIO

    from nanolint.rule.api import Rule


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


_FENCE = re.compile(r"^```(\w+) ([^\n]+)$", re.MULTILINE)
_PROPERTY = re.compile(r'(\w+)="([^"]*)"')
_SILENT = "## Not reported\n"
_HEADING = re.compile(r"^### (.+)$", re.MULTILINE)


def for_terminal(rule: Rule) -> str:
    """The Markdown of the page: facts below the title, cards beside examples, silence as a list."""
    text = _FENCE.sub(_captioned, page_text(rule))
    title, _, rest = text.partition("\n")
    before, silent, after = rest.partition(_SILENT)
    reasons = "\n".join(f"- {heading}" for heading in _HEADING.findall(after))
    listed = f"{silent}\n{reasons}\n" if reasons else silent + after
    url = page_url(rule.code)
    where = f"\nThe whole page: {url}\n" if url else ""
    return f"{title}\n\n{facts(rule)}\n{before}{listed}{where}"


def facts(rule: Rule) -> str:
    """Severity, fix and needs: ``error | fix: sometimes | needs a GPU``."""
    parts = [rule.severity.value, f"fix: {rule.fix.value}"]
    if Need.GPU in rule.needs:
        parts.append("needs a GPU")
    if not rule.default:
        parts.append("off by default")
    return " | ".join(parts)


def _captioned(fence: re.Match[str]) -> str:
    """A code block whose file and card stand above it: a terminal shows no info string."""
    properties = dict(_PROPERTY.findall(fence[2]))
    gpu = properties.get("gpu")
    parts = [properties.get("title", ""), f"on {gpu}" if gpu else ""]
    caption = " ".join(filter(None, parts))
    return f"{caption}:\n\n```{fence[1]}" if caption else f"```{fence[1]}"
