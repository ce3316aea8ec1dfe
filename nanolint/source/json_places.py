"""Where the values of a JSON text stand in it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_BLANK = " \t\r\n"
_DECODER = json.JSONDecoder()


def members(text: str, at: int) -> Iterator[tuple[str, int]]:
    """Each key of the object that begins at ``at``, and where its value begins. Raises ValueError
    for other text."""
    if text[at : at + 1] != "{":
        raise ValueError("an object is expected")
    at = skip(text, at + 1)
    while text[at : at + 1] == '"':
        key, at = _DECODER.raw_decode(text, at)
        at = skip(text, at)
        if text[at : at + 1] != ":":
            raise ValueError("a : is missing")
        at = skip(text, at + 1)
        yield key, at
        at = _behind(text, at)


def elements(text: str, at: int) -> Iterator[int]:
    """Where each element of the list that begins at ``at`` begins. Raises ValueError for other
    text."""
    if text[at : at + 1] != "[":
        raise ValueError("a list is expected")
    at = skip(text, at + 1)
    while at < len(text) and text[at] != "]":
        yield at
        at = _behind(text, at)


def end_of(text: str, at: int) -> int:
    """Where the value ends that begins at ``at``."""
    _, end = _DECODER.raw_decode(text, at)
    return end


def skip(text: str, at: int) -> int:
    """The first character from ``at`` on that is no blank."""
    while at < len(text) and text[at] in _BLANK:
        at += 1
    return at


def _behind(text: str, at: int) -> int:
    """Where what follows the value at ``at`` and its comma begins."""
    at = skip(text, end_of(text, at))
    return skip(text, at + 1) if text[at : at + 1] == "," else at
