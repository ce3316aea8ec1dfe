"""What a run allocates at a micro-batch that was not read, from two that were.

Where two tapes have the same events, each size is taken to grow evenly with the micro-batch. That
is a guess about a third, so it only ever spares a reading of what would not fit: what is said to
fit was read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.memory.loop.played import representative
from nanolint.memory.recording import recorded
from nanolint.memory.tape import Tape, rounded
from nanolint.run.program import Profiled

if TYPE_CHECKING:
    from nanolint.gpus.gpu import Gpu
    from nanolint.run.run import Run


class Growth:
    """The tapes of one run that were read, by their micro-batches and the passes that are read."""

    def __init__(self, gpu: Gpu | None) -> None:
        self._gpu = gpu
        self._known: dict[tuple[int, int], Tape] = {}

    def read(self, run: Run) -> None:
        """Remember the tape of ``run``, which is read where it was not. Raises Unread."""
        if run.on_gpu and not isinstance(run.program, Profiled):  # which is as cheap as a guess
            self._known[_passes(run), run.batch_size] = recorded(run, self._gpu).tape

    def guess(self, run: Run) -> Tape | None:
        """About the tape of ``run``; None where it was read, or no two tapes tell."""
        size, passes = run.batch_size, _passes(run)
        known = {each: tape for (steps, each), tape in self._known.items() if steps == passes}
        if size in known:
            return None
        near = sorted(known, key=lambda each: abs(each - size))[:2]
        if len(near) < 2:
            return None
        (one, first), (other, second) = ((each, known[each]) for each in near)
        if first.events != second.events:
            return None
        tape = Tape()
        tape.events, tape.names = first.events, first.names
        tape.components, tape.phases = first.components, first.phases
        tape.sizes = [
            a if a == b else rounded(max(0, a + (b - a) * (size - one) // (other - one)))
            for a, b in zip(first.sizes, second.sizes, strict=True)
        ]
        return tape


def _passes(run: Run) -> int:
    return representative(run).gradient_accumulation_steps
