"""Why a text is not read."""

from __future__ import annotations

from nanolint.errors import Refused


class TooComplex(Refused):
    """A text past the bounds within which it is parsed; the message says which."""


class Unparsable(Refused):
    """Text that is not valid Python; ``offset`` is the character where that shows."""

    def __init__(self, message: str, offset: int) -> None:
        super().__init__(message)
        self.message = message
        self.offset = offset
