"""How fast a run could be: the operations of its matrix products, over what a card can do.

A range under an assumption, never a measurement. The products are counted while the run is read
(``tensors/work.py``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.frozen import dataclass
from nanolint.gpus.abilities import matrix_flops
from nanolint.recording.recording import recorded
from nanolint.script.played import representative
from nanolint.tape.lasting import lasting
from nanolint.tape.tape import Step

if TYPE_CHECKING:
    from collections.abc import Iterable

    from nanolint.gpus.gpu import Gpu, Machine
    from nanolint.run.run import Run
    from nanolint.tape.tape import Tape

# Of the tensor cores' peak, what a run is assumed to reach (PaLM's table of model FLOPs utilization
# goes from 21 to 46 %). Narrow models, eager runs and slow disks reach less. It is not measured.
LEAST_PERCENT, MOST_PERCENT = 20, 50

# What tensor cores compute in, and what abilities.py calls it. Float32 without TF32 is not theirs.
_KINDS = {"bfloat16": "bfloat16", "float16": "float16", "tf32": "float32"}
_FEW = 100  # one in so many operations may be of another kind: rotary tables, routers
_STEADY = 3  # the step that is like those behind it


@dataclass(frozen=True, slots=True)
class Speed:
    """What a run may reach on one machine, all its cards together.

    ``flops`` and ``tokens`` are those of a step; ``peak_flops`` is a second's most operations.
    """

    flops: int
    tokens: int
    peak_flops: int
    cards: int

    @property
    def tokens_per_second(self) -> tuple[int, int]:
        """The range, at LEAST_PERCENT and MOST_PERCENT of the peak."""
        return self._tokens(LEAST_PERCENT), self._tokens(MOST_PERCENT)

    def _tokens(self, percent: int) -> int:
        return max(1, self.peak_flops * percent * self.tokens // (100 * self.flops))

    def seconds(self, tokens: int) -> tuple[float, float]:
        """The range of time for so many tokens, the shortest first."""
        low, high = self.tokens_per_second
        return tokens / high, tokens / low


def speed(run: Run, machine: Machine) -> Speed | None:
    """The speed of a training run; None where the card's or the run's operations are not known.

    Nor is it said of runs that do not train, or are given no tokens. Raises Unread.
    """
    if not run.on_gpu or run.eval_only:
        return None
    step = _step(run, machine.gpu)
    peak = None if step is None else _peak(step.flops, machine.gpu)
    if step is None or peak is None or step.tokens is None:
        return None
    cards = run.world_size
    # Of nanoGPT's own loop some passes are read for all.
    read = representative(run).micro_steps if run.program is None else run.micro_steps
    flops = sum(each for _, each in step.flops) * run.micro_steps // read
    tokens = step.tokens * run.micro_steps // read
    return Speed(flops * cards, tokens * cards, peak * cards, cards)


def _step(run: Run, gpu: Gpu) -> Step | None:
    return recorded(run, gpu).answer(_steady)


@lasting(Step)
def _steady(tape: Tape) -> Step | None:
    steps = tape.steps[:_STEADY]
    return steps[-1] if steps and steps[-1].flops else None


def _peak(flops: Iterable[tuple[str, int]], gpu: Gpu) -> int | None:
    """The most operations a second, of kinds in these shares, where most are of tensor cores."""
    known, seconds, total = 0, 0.0, 0
    for kind, count in flops:
        named = _KINDS.get(kind)
        rate = None if named is None else matrix_flops(gpu, named)
        total += count
        if rate is not None:
            known += count
            seconds += count / rate
    return int(known / seconds) if seconds and _FEW * (total - known) <= total else None
