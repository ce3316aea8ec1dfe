"""A run's alloc and free events, recorded once and played as often as there are questions."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nanolint.memory.stream import Component, Handle, Phase

ROUNDING = 512  # kMinBlockSize: PyTorch rounds every request up to it


class Tape:
    """The recorded events. A handle is the number of its allocation, counted from 0.

    ``events`` holds ``handle`` for an allocation and ``~handle`` for its release; ``sizes`` are
    bytes, already rounded up. ``phases`` are (number of events before it, phase).
    """

    __slots__ = ("components", "events", "names", "phases", "sizes")

    def __init__(self) -> None:
        self.events: list[int] = []
        self.sizes: list[int] = []
        self.names: list[str] = []
        self.components: list[Component] = []
        self.phases: list[tuple[int, Phase]] = []

    def alloc(self, nbytes: int, name: str, component: Component) -> Handle:
        """Record an allocation of ``nbytes`` bytes."""
        handle = len(self.sizes)
        self.sizes.append((nbytes + ROUNDING - 1) // ROUNDING * ROUNDING)
        self.names.append(name)
        self.components.append(component)
        self.events.append(handle)
        return handle

    def free(self, *handles: Handle) -> None:
        """Record releases, in the order given."""
        for handle in handles:
            self.events.append(~handle)

    def phase(self, phase: Phase) -> None:
        """Record that a phase starts."""
        self.phases.append((len(self.events), phase))

    def phase_at(self, event: int) -> Phase:
        """The phase that the event of that number belongs to."""
        return next(phase for start, phase in reversed(self.phases) if start <= event)
