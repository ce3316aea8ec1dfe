"""A way out of an out-of-memory error: what to write or do, and what it costs beside memory."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

from nanolint.frozen import dataclass

if TYPE_CHECKING:
    from nanolint.verdict.verdict import Verdict


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
