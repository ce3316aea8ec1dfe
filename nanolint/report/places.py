"""The line that gave a value."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from nanolint.errors import Unusable
from nanolint.run.settled import Layer
from nanolint.source.text import LineIndex
from nanolint.trainers.nanogpt.reading import read_source

if TYPE_CHECKING:
    from nanolint.run.settled import Setting


def line_of(setting: Setting, lines: LineIndex) -> int | None:
    """The line, from 1, that gave ``setting`` its value; None where no line of a file did.

    ``lines`` are those of the file at hand; a training script or a launch line is read again.
    """
    origin = setting.origin
    if origin.layer is Layer.FILE:
        return None if origin.span is None else lines.position(origin.span.start)[0]
    if origin.path is None or origin.layer not in (Layer.TRAIN_SCRIPT, Layer.LAUNCHED):
        return None
    try:
        text = read_source(origin.path)
    except Unusable:
        return None
    start = _assignment(text, setting.key) if origin.span is None else origin.span.start
    return None if start is None else LineIndex(text).position(start)[0]


def _assignment(text: str, key: str) -> int | None:
    """Where a script sets ``key`` for the last time above its configurator line."""
    above, _, _ = text.partition("configurator")
    found = re.finditer(rf"^{re.escape(key)}[ \t]*(?::[^=\n]*)?=(?!=)", above, re.MULTILINE)
    return max((match.start() for match in found), default=None)
