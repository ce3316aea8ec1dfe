"""A tape that knows which line of the program made each allocation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.tape.locating import Name
from nanolint.tape.tape import Tape

if TYPE_CHECKING:
    from nanolint.tape.locating import Reader, Where
    from nanolint.tape.tape import Component, Handle, Mark, MemoryPlan


class Located(Tape):
    """``wheres`` are the places of the allocations, None where nothing of the program made it."""

    __slots__ = ("_depth", "_node", "_nodes", "later", "reader", "wheres")

    def clear(self) -> None:
        super().clear()
        self.wheres: list[Where | None] = []
        self.reader: Reader | None = None
        self.later = 0
        self._nodes: dict[int, Where | None] = {}
        self._node: int | None = None
        self._depth = 0

    def close(self) -> None:
        """Nobody is asked where the program stands any more, which it could tell."""
        super().close()
        self.reader, self._nodes = None, {}

    @property
    def locator(self) -> Located:
        """Itself: it wants to be told what runs."""
        return self

    def here(self) -> Where | None:
        """Where the program stands, or the operation whose gradient is made."""
        reader = self.reader
        if reader is None:
            return None
        if self._node in self._nodes and reader.depth == self._depth:
            return self._nodes[self._node]
        return reader.where()

    def place(self, handle: Handle) -> Where | None:
        """Who made an allocation."""
        return self.wheres[handle]

    def made(self, node: int) -> None:
        """An operation takes its place in the graph of a backward pass."""
        self._nodes[node] = self.here()

    def made_as(self, node: int, of: int, calls: int) -> None:
        """The same, of one that is copied from another one, so many calls later."""
        where = self._nodes.get(of)
        self._nodes[node] = where and where.later(calls)

    def runs(self, node: int | None) -> int | None:
        """A node of that graph runs from now on; returns the one that ran before."""
        before, self._node = self._node, node
        self._depth = 0 if self.reader is None else self.reader.depth
        return before

    def alloc(self, nbytes: int, name: str, component: Component) -> Handle:
        """Record an allocation, and who makes it."""
        self.wheres.append(name.where if isinstance(name, Name) else self.here())
        return super().alloc(nbytes, name, component)

    def _make(self, plan: MemoryPlan, start: int, stop: int, slots: list[Handle]) -> None:
        """Buffers bring their places."""
        found: list[Where | None] = [
            getattr(name, "where", None) for name in plan.names[start:stop]
        ]
        if self.later:
            found = [each and each.later(self.later) for each in found]
        self.wheres += found
        super()._make(plan, start, stop, slots)

    def copy(self, start: Mark, end: Mark, successor: dict[Handle, Handle]) -> int:
        """Record once more what lies between two marks."""
        self.wheres += self.wheres[start.allocations : end.allocations]
        return super().copy(start, end, successor)

    def forget(self, first: Handle) -> None:
        """Take back all allocations from ``first`` on."""
        super().forget(first)
        del self.wheres[first:]
