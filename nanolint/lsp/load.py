"""What a run takes of a card, in the few numbers that an editor has room for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.frozen import dataclass
from nanolint.verdict.verdict import Outcome
from nanolint.verdict.words import share

if TYPE_CHECKING:
    from nanolint.rule.case import Case
    from nanolint.rule.context import Context
    from nanolint.verdict.verdict import Verdict

# What is said of a run; a comfortable one needs no words.
TROUBLE = {
    Outcome.THIN: "thin margin",
    Outcome.FRAGMENTED: "out of memory without expandable segments",
    Outcome.OUT_OF_MEMORY: "out of memory",
}

DOUBT = "not certain: "


@dataclass(frozen=True)
class Load:
    """A case whose run is known and uses the GPU, with its verdict.

    ``doubts`` name the parts of the project that the replay does not know and takes for nanoGPT's.
    """

    case: Case
    verdict: Verdict
    doubts: tuple[str, ...] = ()

    @property
    def amount(self) -> str:
        """The process beside the card: ``6.0 of 11.7 GiB``."""
        return share(self.verdict, about=bool(self.doubts))


def loads(context: Context) -> tuple[Load, ...]:
    """One for each target on which memory can be judged, in the order of the targets."""
    found = (load_of(case) for case in context.cases)
    return tuple(load for load in found if load is not None)


def tightest(context: Context) -> Load | None:
    """The target with the least room left, None where memory cannot be judged."""
    return min(loads(context), key=lambda load: load.verdict.margin_bytes, default=None)


def load_of(case: Case) -> Load | None:
    """The load of a case; None without a run, a target, or a CUDA device."""
    run, verdict = case.run, case.verdict
    if run is None or verdict is None:
        return None
    doubts = tuple(map(str, case.resolution.doubts))
    return Load(case, verdict, doubts)
