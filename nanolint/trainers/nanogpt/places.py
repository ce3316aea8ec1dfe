"""Where a value was given: the line of a file, the one at hand or another."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from nanolint.diagnostics import QuotedPlace
from nanolint.errors import Unusable
from nanolint.run.settled import Layer
from nanolint.source.text import LineIndex
from nanolint.trainers.nanogpt.reading import read_source

if TYPE_CHECKING:
    from pathlib import Path

    from nanolint.run.settled import Setting

LONGEST_UNDERLINED = 60  # characters of a line; of a longer one the key is pointed at

# Values that a file other than the one at hand gives, as it is read there.
_READ = (Layer.TRAIN_SCRIPT, Layer.GPU, Layer.LAUNCHED, Layer.IMPORT)


def line_of(setting: Setting, lines: LineIndex) -> int | None:
    """The line, from 1, that gave ``setting`` its value; None where no line of a file did.

    ``lines`` are those of the file at hand; another file is read again.
    """
    origin = setting.origin
    if origin.layer is Layer.FILE:
        return None if origin.span is None else lines.position(origin.span.start)[0]
    elsewhere = (Layer.TRAIN_SCRIPT, Layer.LAUNCHED, Layer.IMPORT)
    if origin.path is None or origin.layer not in elsewhere:
        return None
    place = _place(setting, origin.path)
    return None if place is None else place.row


def place_of(
    setting: Setting, script: Path | None, spelled: str | None = None
) -> QuotedPlace | None:
    """Where ``setting`` got its value, if not from the file at hand; None where that has no place.

    ``script`` is the project's training script, which chooses what depends on the GPU; ``spelled``
    is how it has a flag, where that is not the key with two dashes.
    """
    origin = setting.origin
    if origin.layer is Layer.OVERRIDE:
        written = f"{spelled or f'--{setting.key}'}={_written(setting)}"
        return QuotedPlace(setting.key, None, None, written, 0, len(written))
    if origin.layer not in _READ:
        return None
    path = origin.path or (script if origin.layer is Layer.GPU else None)
    return None if path is None else _place(setting, path)


def _written(setting: Setting) -> str:
    value = getattr(setting.value, "value", "...")
    return value if isinstance(value, str) else repr(value)


def _place(setting: Setting, path: Path) -> QuotedPlace | None:
    try:
        text = read_source(path)
    except Unusable:
        return None
    span = setting.origin.span
    start = _assignment(text, setting.key) if span is None else span.start
    if start is None:
        return None
    lines = LineIndex(text)
    row, column = lines.position(start)
    source = lines.line(row)
    code = source.partition("#")[0].rstrip()
    end = min(len(code), len(source)) if span is None else column - 1 + span.end - span.start
    if span is None and end > LONGEST_UNDERLINED:
        end = column - 1 + len(setting.key)
    return QuotedPlace(setting.key, path, row, source, column - 1, max(column, end))


def _assignment(text: str, key: str) -> int | None:
    """Where a script sets ``key`` for the last time above its configurator line."""
    above, _, _ = text.partition("configurator")
    found = re.finditer(rf"^{re.escape(key)}[ \t]*(?::[^=\n]*)?=(?!=)", above, re.MULTILINE)
    return max((match.start() for match in found), default=None)
