"""Writing other values where a training script, or its launch line, was given them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from nanolint.rule import (
    Edit,
    FileEdits,
    Fix,
    FlagSpan,
    Safety,
    Span,
    Surface,
    as_written,
    other_trainer,
    text_of,
)

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from nanolint.rule import Context, Equation, Given, Place, Scalar

    Changes = Mapping[Given, Scalar]

ON_LINE = (Surface.FLAG, Surface.VARIABLE)


class Written(NamedTuple):
    """The fix that writes the values, or the reason, in a clause, why there is none."""

    fix: Fix | None
    reason: str = ""


def write(context: Context, changes: Changes, safety: Safety) -> Written:
    """Set each value where it was given: in this file, in another, or on the launch line that it is
    judged by.

    A flag that the line does not have is put behind its words: the script's own default is for
    other launches, too.
    """
    title = f"Set {as_written(changes)}"
    places = dict.fromkeys(_place(context, given) for given in changes)
    if LINE in places:
        return _written_on_line(context, changes, title, safety, alone=len(places) == 1)
    here: list[Edit] = []
    elsewhere: dict[Path, list[Edit]] = {}
    texts: dict[Path, str] = {}
    for given, value in changes.items():
        path, span = given.place.path, given.place.span
        if span is None:
            return Written(
                None, f"{_place(context, given)} does not contain {given.key} as a plain value"
            )
        if path is None or is_here(context, given.place):
            here.append(_edit(context.text, span, value))
            continue
        text = texts.get(path) or text_of(path)
        if text is None:
            return Written(None, f"{given.key} stands in {given.place}, which nanolint cannot read")
        texts[path] = text
        elsewhere.setdefault(path, []).append(_edit(text, span, value))
    if elsewhere:
        title += f" in {' and '.join(places)}"
    others = tuple(
        FileEdits(path, texts[path], tuple(sorted(each))) for path, each in elsewhere.items()
    )
    return Written(Fix(title, safety, tuple(sorted(here)), elsewhere=others))


LINE = "the launch line"


def _written_on_line(
    context: Context, changes: Changes, title: str, safety: Safety, *, alone: bool
) -> Written:
    """``alone``: all of the values stand on the line, or go there."""
    if not alone:
        return Written(None, "the values stand on the launch line and in a file")
    edits: list[Edit] = []
    for given, value in changes.items():
        edit = _on_line(context, given, value)
        if edit is None:
            return Written(None, f"{LINE} does not contain {given.key} as a plain value")
        edits.append(edit)
    return Written(Fix(title, safety, tuple(sorted(edits)), in_launch_line=True))


def _place(context: Context, given: Given) -> str:
    """Where a value is to be written, for people: a file's name, or the launch line."""
    if given.surface in ON_LINE or (given.surface is Surface.ARGUMENT and _has_line(context)):
        return LINE
    return given.place.path.name if given.place.path else "this text"


def _has_line(context: Context) -> bool:
    """Whether the script is judged by a launch line that stands in a text."""
    return context.options.line.end is not None


def _edit(text: str, span: Span, value: Scalar) -> Edit:
    return Edit(span.start, span.end, _like(text[span.start : span.end], value))


def _on_line(context: Context, given: Given, value: Scalar) -> Edit | None:
    line = context.options.line
    if given.surface in ON_LINE:
        spans = [each.value_place for each in (*line.flags, *line.variables)]
        span = given.place.span
        return (
            Edit(span.start, span.end, str(value)) if span is not None and span in spans else None
        )
    if line.end is None:
        return None
    return Edit(line.end, line.end, line.with_flag(given.key, value))


def shared_with(context: Context, changes: Changes) -> str | None:
    """Why another script of the project would train otherwise with these values: a line, or None.

    What stands in the script itself, or on its launch line, is nobody else's.
    """
    for given in changes:
        path = given.place.path
        if given.surface in ON_LINE or path is None or is_here(context, given.place):
            continue
        other = other_trainer(context, path)
        if other is not None:
            return f"unsafe: {other} also uses values of {path.name}"
    return None


def span_of(context: Context, given: Given | None, otherwise: Span) -> Span:
    """Where a finding about a given value stands: on the flag that decides, else in this file.

    ``otherwise``: where it stands in this file if the value does not.
    """
    if given is None:
        return otherwise
    place = given.place
    if given.surface in ON_LINE:
        default = given.default
        here = default.span if default and default.span and is_here(context, default) else otherwise
        return here if place.span is None else FlagSpan(place.span.start, place.span.end, here)
    if place.span is not None and is_here(context, place):
        span = place.span
    else:
        span = context.beside(given.key, otherwise)
    end = context.options.line.end
    if given.surface is Surface.ARGUMENT and end is not None:
        flags = [each.place for each in context.options.line.flags if each.place]
        last = next((each for each in flags if each.end == end), Span(max(0, end - 1), end))
        return FlagSpan(last.start, last.end, span)
    return span


def place_of(context: Context, equation: Equation, otherwise: Place) -> Span:
    """Where the micro-batch is given; in this file that is else the line of ``otherwise``, if it is
    of this file."""
    start = context.lines.offset(otherwise.line, 1) if is_here(context, otherwise) else 0
    line = context.text[start:].partition("\n")[0]
    indent = len(line) - len(line.lstrip())
    here = Span(start + indent, start + len(line.rstrip())) if start else Span(0, 0)
    return span_of(context, equation.factor, here)


def is_here(context: Context, place: Place) -> bool:
    """Whether a place is of the file at hand."""
    if place.path is None or context.path is None:
        return place.path is context.path
    return place.path.absolute() == context.path.absolute()


def _like(written: str, value: Scalar) -> str:
    """``value`` as a literal: with underscores where the one ``written`` had them; a power of two
    as one, where that was one."""
    power = re.fullmatch(r"(?:2\s*\*\*|1\s*<<)\s*\d+", written)
    if power and isinstance(value, int) and value > 0 and value & (value - 1) == 0:
        return re.sub(r"\d+$", str(value.bit_length() - 1), written)
    return f"{value:_}" if "_" in written and isinstance(value, int) else str(value)
