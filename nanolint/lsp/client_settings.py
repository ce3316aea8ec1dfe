"""The settings that an editor sends: those of a settings file, under the same names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nanolint.settings.schema import KEYS

SECTION = "nanolint"


LINES = "lines"  # the client's alone: whether models show what their lines hold


def shows_lines(sent: object) -> bool:
    """Whether lenses and hovers are wanted in the text of a model: unless it says not."""
    if not isinstance(sent, Mapping):
        return True
    inner = sent.get(SECTION)
    if isinstance(inner, Mapping):
        return shows_lines(inner)
    return sent.get(LINES) is not False


def table(sent: object) -> dict[str, Any]:
    """What of ``sent`` nanolint has a setting for.

    The client's own settings stand among them, and an unset one is null or empty: an editor shows
    every setting that its extension declares, and sends them all.
    """
    if not isinstance(sent, Mapping):
        return {}
    inner = sent.get(SECTION)
    if isinstance(inner, Mapping):
        return table(inner)
    return {key: sent[key] for key in KEYS if key in sent and sent[key] not in (None, "", [], {})}
