"""Where a program stands when something is allocated: the words for it, and the seam.

What runs in the backward pass belongs to the line whose gradient it makes, as PyTorch's anomaly
mode has it. A kernel that torch.compile fuses belongs to the operation that its result is of.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

OUTSIDE = 0  # the number of the call of what runs in no function, or is not known to


class Line(NamedTuple):
    """A line of a file of the project; of a statement of several lines the first."""

    path: str
    number: int


class Where(NamedTuple):
    """Where a program stands: its line, and those that called it, the innermost first.

    ``call`` is the number of the call of the innermost function: two calls of it differ.
    """

    stack: tuple[Line, ...]
    call: int

    def later(self, calls: int) -> Where:
        """The same place in a function that is called so many calls later."""
        return self._replace(call=self.call + calls)


class Reader(Protocol):
    """What follows a program, and knows where it stands."""

    @property
    def depth(self) -> int:
        """How many calls it is inside of."""

    def where(self) -> Where | None:
        """Its place; None while it stands nowhere in the program."""


class Name(str):
    """What a planned buffer is called, with the place of the operation whose result it is."""

    __slots__ = ("where",)
    where: Where | None


def named(text: str, where: Where | None) -> str:
    """``text`` with a place."""
    found = Name(text)
    found.where = where
    return found


class Locator(Protocol):
    """A tape that wants to be told which line of the program runs."""

    reader: Reader | None
    later: int  # how many calls lie between those of a plan and those that it is played for

    def here(self) -> Where | None:
        """Where the program stands, or the operation whose gradient is made."""

    def place(self, handle: int, /) -> Where | None:
        """Who made an allocation."""

    def made(self, node: int, /) -> None:
        """An operation takes its place in the graph of a backward pass."""

    def made_as(self, node: int, of: int, calls: int, /) -> None:
        """The same, of one that is copied from another one, so many calls later."""

    def runs(self, node: int | None, /) -> int | None:
        """A node of that graph runs from now on; returns the one that ran before."""
