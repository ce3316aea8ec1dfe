"""Changes of a run: keys and values that can be applied and printed, and what a change costs beside
memory when it is a way out of an out-of-memory error.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

from nanolint.frozen import dataclass
from nanolint.trainers.nanogpt.keys import PRETRAINED_SIZES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nanolint.run.run import Run
    from nanolint.source.values import Plain
    from nanolint.verdict.verdict import Verdict

SMALLEST_CONTEXT = 64  # tokens


@dataclass(frozen=True, slots=True)
class Change:
    """Other values for some keys, the one that it is about first.

    ``implied`` are the values of a run that follow from them, without being written: what a
    pretrained checkpoint decides.

    >>> str(Change((("batch_size", 8), ("gradient_accumulation_steps", 64))))
    'batch_size = 8, gradient_accumulation_steps = 64'
    """

    values: tuple[tuple[str, Plain], ...]
    implied: tuple[tuple[str, Plain], ...] = ()

    def __str__(self) -> str:
        """As it would be written."""
        return self.joined(", ")

    def joined(self, between: str) -> str:
        """Each key with its value, ``between`` standing between them."""
        return between.join(f"{key} = {value!r}" for key, value in self.values)

    def applied(self, run: Run) -> Run:
        """``run`` with these values."""
        return run.having(**dict(self.values + self.implied))

    @property
    def counts(self) -> dict[str, int]:
        """The values that are whole numbers, by key."""
        return {key: value for key, value in self.values if type(value) is int}

    def __or__(self, other: Change) -> Change:
        """Both changes, this one's keys first."""
        return Change(self.values + other.values, self.implied + other.implied)


def change(**values: Plain) -> Change:
    """The change of these keys, in this order."""
    return Change(tuple(values.items()))


def partner(run: Run) -> str:
    """The key that makes up for another micro-batch."""
    return "eval_iters" if run.eval_only else "gradient_accumulation_steps"


def micro_batch(run: Run, batch_size: int, partner_value: int) -> Change:
    """Another micro-batch, and what makes up for it."""
    return Change((("batch_size", batch_size), (partner(run), partner_value)))


def smaller_checkpoints(run: Run) -> Iterator[Change]:
    """The pretrained models that are smaller than the one of ``run``, the largest first."""
    names = list(PRETRAINED_SIZES)
    own = run.sizes.init_from
    at = names.index(own) if own in names and run.follows("init_from") else 0
    for name in reversed(names[:at]):
        layers, heads, width = PRETRAINED_SIZES[name]
        implied = (("n_layer", layers), ("n_head", heads), ("n_embd", width))
        yield Change((("init_from", name),), implied)


def shorter_contexts(run: Run) -> Iterator[Change]:
    """Half the context, half of that, and so on."""
    context = run.block_size
    while context % 2 == 0 and context // 2 >= SMALLEST_CONTEXT:
        context //= 2
        yield change(block_size=context)


class Cost(str, Enum):
    """What a way out costs beside memory, the least first."""

    SAME = "same result"
    SLOWER = "same result, slower"
    NUMERICS = "other numerics"
    BATCH = "another effective batch"
    MODEL = "another model"


@dataclass(frozen=True, slots=True)
class Alternative:
    """One way to go on: what to write or do, how the run would then fare, and what it costs.

    ``price`` is that cost in a number, where one is known. ``beside`` is what is written as well:
    the smallest micro-batch, where none is enough by itself.
    """

    change: str
    verdict: Verdict
    cost: Cost = Cost.SAME
    price: str = ""
    beside: str = ""

    @property
    def whole(self) -> str:
        """All that is written or done."""
        return ", ".join(filter(None, (self.beside, self.change)))
