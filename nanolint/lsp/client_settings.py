"""The settings that an editor sends: those of a settings file, under the same names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nanolint.settings.tables import KEYS

SECTION = "nanolint"


# The client's alone, both on unless it says not.
LINES = "lines"  # whether lenses and hovers show what the lines of a model hold
AHEAD = "readAhead"  # whether runs are read that are likely to be typed next


def wants(key: str, sent: object) -> bool:
    """Whether the client wants ``LINES`` or ``AHEAD``, by the settings that it sent."""
    if not isinstance(sent, Mapping):
        return True
    inner = sent.get(SECTION)
    if isinstance(inner, Mapping):
        return wants(key, inner)
    return sent.get(key) is not False


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
