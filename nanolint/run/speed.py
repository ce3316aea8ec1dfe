"""How fast a run could be: its operations by nanoGPT's own count, over what a card can do.

A range under an assumption, never a measurement.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.frozen import dataclass
from nanolint.gpus.abilities import matrix_flops

if TYPE_CHECKING:
    from nanolint.gpus.gpu import Machine
    from nanolint.run.run import Run

# Of the tensor cores' peak, what a run is assumed to reach (PaLM's table of model FLOPs utilization
# goes from 21 to 46 %). Narrow models, eager runs and slow disks reach less. It is not measured.
LEAST_PERCENT, MOST_PERCENT = 20, 50

# A matrix product is cut into tiles of this many rows and columns, one for a multiprocessor at a
# time (cuBLAS's usual tile). With so many rounds of tiles the last, partial one costs little.
TILE = 128
ROUNDS = 4


@dataclass(frozen=True, slots=True)
class Speed:
    """What a run may reach on one machine, all its cards together.

    ``peak_flops`` is a second's most operations of all cards. ``enough`` is the micro-batch from
    which on the smallest product of the model fills a card, so that a larger one brings little.
    """

    flops_per_token: int
    peak_flops: int
    cards: int
    enough: int

    @property
    def tokens_per_second(self) -> tuple[int, int]:
        """The range, at LEAST_PERCENT and MOST_PERCENT of the peak."""
        return self._tokens(LEAST_PERCENT), self._tokens(MOST_PERCENT)

    def _tokens(self, percent: int) -> int:
        return max(1, self.peak_flops * percent // (100 * self.flops_per_token))

    def seconds(self, tokens: int) -> tuple[float, float]:
        """The range of time for so many tokens, the shortest first."""
        low, high = self.tokens_per_second
        return tokens / high, tokens / low


def speed(run: Run, machine: Machine) -> Speed | None:
    """The speed of a training run; None where the card's or the model's operations are not known.

    Nor is it said of runs that do not train, and of slow attention, which is not made of the
    products that are counted.
    """
    peak = matrix_flops(machine.gpu, run.dtype)
    if peak is None or run.program is not None or run.eval_only or not run.on_gpu:
        return None
    sms = machine.gpu.sm_count or 1
    tiles_of_a_sequence = run.block_size * run.n_embd
    enough = -(-ROUNDS * sms * TILE * TILE // tiles_of_a_sequence)
    return Speed(flops_per_token(run), peak * run.world_size, run.world_size, max(1, enough))


def flops_per_token(run: Run) -> int:
    """Operations of one token, forward and backward: estimate_mfu of nanoGPT's model.py.

    6 for each parameter but the position embeddings, and 12 L T C for attention (PaLM, appendix B).
    """
    attention = 12 * run.n_layer * run.n_embd * run.block_size
    return 6 * run.parameters_reported + attention
