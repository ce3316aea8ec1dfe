"""What a run allocates at a micro-batch that was not read, from two that were.

Where two tapes have the same events, each size is taken to grow evenly with the micro-batch. That
is a guess about a third, so it only ever spares a reading of what would not fit: what is said to
fit was read. On another card of one kind about the same is allocated.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, TypeAlias

from nanolint.gpus.abilities import capability_of
from nanolint.recording.recording import allocated_peak, recorded, runs_compiled
from nanolint.run.program import Profiled
from nanolint.script.played import representative
from nanolint.tape.tape import Tape, rounded
from nanolint.verdict.replay import on_allocator

if TYPE_CHECKING:
    from nanolint.gpus.gpu import Gpu
    from nanolint.recording.tape_answers import TapeAnswers
    from nanolint.run.run import Run

MOST_KNOWN = 32  # tapes of one run that other cards go by

# By the passes that are read, and the micro-batch.
Known: TypeAlias = "dict[tuple[int, int], TapeAnswers[Tape]]"


class Growth:
    """The tapes of one run that were read, by their micro-batches and the passes that are read."""

    def __init__(self, gpu: Gpu | None) -> None:
        self._gpu = gpu
        self._known: Known = {}

    def read(self, run: Run) -> TapeAnswers[Tape]:
        """The tape of ``run``, which is read where it was not, and remembered. Raises Unread."""
        found = recorded(run, self._gpu)
        if not isinstance(run.program, Profiled):  # which is as cheap as a guess
            self._known[_passes(run), run.batch_size] = found
            others = self._of_others(run)
            others[_passes(run), run.batch_size] = found
            while len(others) > MOST_KNOWN:
                del others[next(iter(others))]
        return found

    def of_another_card(self, run: Run) -> TapeAnswers[Tape] | None:
        """The tape of ``run`` as another card of the kind has it, where one was read."""
        return self._of_others(run).get((_passes(run), run.batch_size))

    def guess(self, run: Run) -> Tape | None:
        """About the tape of ``run``; None where it was read, or no two tapes tell."""
        if (_passes(run), run.batch_size) in self._known:
            return None
        return _between(self._known, run)

    def guess_by_others(self, run: Run) -> Tape | None:
        """About the tape of ``run``, as other cards have it."""
        if not run.on_gpu or (_passes(run), run.batch_size) in self._known:
            return None
        found = self.of_another_card(run)
        return _between(self._of_others(run), run) if found is None else found.tape

    def _of_others(self, run: Run) -> Known:
        plain = replace(run, batch_size=1, gradient_accumulation_steps=1, micro_batches=None)
        # A program may do otherwise on another kind of card; nanoGPT's own is told its attention.
        kind = None if run.program is None else capability_of(self._gpu)
        return _of_any_card(plain, runs_compiled(run, self._gpu), kind)

    def peak(self, run: Run) -> int | None:
        """About the most that ``run`` allocates, whatever events it has; None where no two
        micro-batches tell."""
        if not run.on_gpu or (_passes(run), run.batch_size) in self._known:
            return None
        known = {**self._of_others(run), **self._known}
        once = _passes(run) == 1  # then there are no older gradients beside the new
        sizes = {size: each for (passes, size), each in known.items() if (passes == 1) is once}
        near = sorted(sizes, key=lambda each: abs(each - run.batch_size))[:2]
        if len(near) < 2:
            return None
        one, other = near
        first, second = (sizes[size].answer(allocated_peak) for size in near)
        return first + (second - first) * (run.batch_size - one) // (other - one)

    def likely(self, run: Run, limit: int) -> int:
        """About the largest micro-batch that reserves no more than ``limit``, by the two that were
        read nearest to it; that of ``run`` where there are none."""
        tapes = {size: each for (_, size), each in self._known.items()}
        reserved = {
            size: on_allocator(run, each).peak_reserved_bytes for size, each in tapes.items()
        }
        near = sorted(reserved, key=lambda size: abs(reserved[size] - limit))[:2]
        if len(near) < 2:
            return run.batch_size
        one, other = near
        slope = (reserved[other] - reserved[one]) / (other - one)
        return max(1, one + int((limit - reserved[one]) / slope)) if slope > 0 else run.batch_size


def _between(known: Known, run: Run) -> Tape | None:
    """The sizes of the two nearest tapes, drawn on to the micro-batch of ``run``."""
    size, passes = run.batch_size, _passes(run)
    sizes = [each for steps, each in known if steps == passes]
    near = sorted(sizes, key=lambda each: abs(each - size))[:2]
    if len(near) < 2:
        return None
    (one, first), (other, second) = ((each, known[passes, each].tape) for each in near)
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


@lru_cache(maxsize=8)
def _of_any_card(_run: Run, _compiled: bool, _kind: tuple[int, int] | None) -> Known:
    """What was read of a run, on whichever card of a kind."""
    return {}


def _passes(run: Run) -> int:
    return representative(run).gradient_accumulation_steps
