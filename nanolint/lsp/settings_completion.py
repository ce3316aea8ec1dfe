"""Completion in a settings file: the names of the cards that nanolint knows."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from nanolint.diagnostics import Span
from nanolint.gpus import catalogue
from nanolint.lsp.completion import Completion
from nanolint.lsp.toml_lines import STRING, home, lines
from nanolint.units import format_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from nanolint.gpus.gpu import Gpu

# What may stand before a name: an open list with others in it. Its own quote comes last.
_BEFORE = re.compile(
    rf"(?:\[(?:[ \t\r\n,]|\#[^\r\n]*[\r\n]|{STRING})*)?(?P<typed>[\"'][^\"'\r\n]*)?"
)
_COUNT = re.compile(r"[\"']?\s*(\d+\s*[x×*]\s*)?")


def complete_settings(path: Path, text: str, offset: int) -> tuple[Completion, ...]:
    """The cards, newest first, where ``text`` at ``offset`` expects the name of one."""
    span = _name_around(path, text, offset)
    if span is None:
        return ()
    typed = text[span.start : offset]
    quote = typed[:1] or '"'
    count = _COUNT.match(typed)
    prefix = (count[1] or "") if count else ""  # 8x stays in front of the name
    return tuple(_cards(span, quote, prefix))


def _cards(span: Span, quote: str, prefix: str) -> Iterator[Completion]:
    for gpu in reversed(catalogue.load()):
        name = f"{quote}{prefix}{gpu.name}{quote}"
        yield Completion(
            f"{prefix}{gpu.name}", span, name, format_bytes(gpu.total_bytes), _described(gpu)
        )


def _described(gpu: Gpu) -> str:
    parts = []
    if gpu.sm_count:
        parts.append(f"{gpu.sm_count} SMs")
    if gpu.compute_capability:
        parts.append("compute capability {}.{}".format(*gpu.compute_capability))
    parts.append("memory estimated" if gpu.estimated else "memory as PyTorch reports it")
    return ", ".join(parts)


def _name_around(path: Path, text: str, offset: int) -> Span | None:
    """The name that ``offset`` stands in, its quotes included; empty where one could begin."""
    above = [line for line in lines(text) if line.start <= offset and (line.key or line.is_header)]
    tables = (home(path), f"{home(path)}.target".removeprefix("."))
    if not above or above[-1].key != "gpu" or above[-1].table not in tables:
        return None
    value = above[-1].value
    before = _BEFORE.fullmatch(text, value, offset) if offset >= value else None
    if before is None:
        return None
    typed = before["typed"]
    if typed is None:
        return Span(offset, offset)
    rest = re.compile(rf"[^\"'\r\n]*{typed[0]}").match(text, offset)
    return Span(offset - len(typed), rest.end() if rest else offset)
