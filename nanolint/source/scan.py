"""A linear look at a text before libcst gets it."""

from __future__ import annotations


class TooComplex(Exception):
    """A text past the bounds within which it is parsed; the message says which."""


def check(text: str) -> None:
    """Raise TooComplex unless ``text`` is within bounds."""
    if len(text) > 1 << 20:
        raise TooComplex("it is longer than 1 MiB")
