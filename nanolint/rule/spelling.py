"""Codes and names of rules as people misspell them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from nanolint.regex import lazily

if TYPE_CHECKING:
    from collections.abc import Collection

_CODE = lazily(r"([a-z]{2})([0-9oilsb]+)", re.IGNORECASE)
_DIGITS = str.maketrans("oilsb", "01158")


def meant_code(text: str, known: Collection[str]) -> str | None:
    """The code that ``text`` is with letters for digits: ``NL1O1`` is ``nl101``, in lower case."""
    match = _CODE.fullmatch(text)
    if match is None:
        return None
    meant = match[1].lower() + match[2].lower().translate(_DIGITS)
    return meant if meant in known else None
