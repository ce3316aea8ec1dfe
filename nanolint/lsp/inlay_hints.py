"""Inlay hint: beside ``batch_size``, what the process takes of the card."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.frozen import dataclass
from nanolint.lsp.cursor import assignment_line
from nanolint.lsp.load import DOUBT, TROUBLE, tightest
from nanolint.lsp.micro_batch import KEY, micro_batch_span
from nanolint.trainers.nanogpt.kind import FileKind
from nanolint.units import format_bytes

if TYPE_CHECKING:
    from nanolint.lsp.load import Load
    from nanolint.rule.context import Context


@dataclass(frozen=True, slots=True)
class InlayHint:
    """A remark that an editor shows at ``offset``, between the characters of the text."""

    offset: int
    label: str
    tooltip: str


def inlay_hints(context: Context, text: str) -> tuple[InlayHint, ...]:
    """The hints for ``text``, of which ``context`` is the last state that could be parsed.

    Of several targets the one with the least room left is shown.
    """
    if context.kind is FileKind.SCRIPT:
        return ()
    load = tightest(context)
    offset = _place(context, text)
    if load is None or offset is None:
        return ()
    return (InlayHint(offset, _label(load, context), _tooltip(load)),)


def _place(context: Context, text: str) -> int | None:
    """Behind the line that sets the value that counts, where it moves no comment."""
    value = _value_end(context, text)
    if value is None:
        return None
    end = text.find("\n", value)
    line = text[value : len(text) if end < 0 else end]
    return value + len(line.rstrip())


def _value_end(context: Context, text: str) -> int | None:
    """Behind the value; while the text cannot be parsed, behind the code of its line."""
    if text == context.text:
        span = micro_batch_span(context)
        return None if span is None else span.end
    if context.settings.described is not None:
        return None
    line = assignment_line(text, KEY)
    if line is None:
        return None
    code = text[line.start : line.end].partition("#")[0].rstrip()
    return line.start + len(code)


def _label(load: Load, context: Context) -> str:
    where = f" on {load.case.gpu_name}" if len(context.cases) > 1 else ""
    trouble = TROUBLE.get(load.verdict.outcome)
    return f"{load.amount}{where}{f': {trouble}' if trouble else ''}"


def _tooltip(load: Load) -> str:
    peak = load.verdict.replay.peak
    room = "to spare" if load.verdict.margin_bytes >= 0 else "short"
    tooltip = (
        f"{load.case.gpu_name}: {format_bytes(peak.allocated_bytes)} allocated at the peak, "
        f"{format_bytes(load.verdict.process_bytes)} for the process, "
        f"{format_bytes(abs(load.verdict.margin_bytes))} {room}"
    )
    if load.case.resolution.in_float16:
        tooltip += f"\ncounted in float16: {load.case.gpu_name} has no bfloat16 (NL203)"
    return "\n".join([tooltip, *(f"{DOUBT}{doubt}" for doubt in load.doubts)])
