"""What became of each run of a file: judged on a card, doubted, or not known."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.frozen import dataclass
from nanolint.memory.verdict import words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from nanolint.memory.verdict.verdict import Verdict
    from nanolint.rule.case import Case


@dataclass(frozen=True, slots=True)
class JudgedRun:
    """One run on one card, or on none: plain, picklable data.

    ``trust`` is a ``nanolint.run.trust.Trust``. ``doubts`` are a line each: what is doubted, or
    why the run is not known. ``fits`` is None where that was not judged. ``process_bytes`` is what
    nvidia-smi would show, and ``usable_bytes`` what PyTorch could reserve; ``brief`` says
    the same for people. They are None unless they were asked for and are known. ``left_open`` is
    what the number leaves open, where the verdict is the same either way.
    """

    gpu: str | None
    fits: bool | None
    trust: str
    doubts: tuple[str, ...] = ()
    process_bytes: int | None = None
    usable_bytes: int | None = None
    brief: Brief | None = None
    left_open: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Brief:
    """A verdict for people: in one line, and in the columns of a table."""

    headline: str  # "fits RTX 4070: 10.7 of 11.7 GiB (1.1 to spare)"
    outcome: str  # "fits"
    takes: str  # "10.7 GiB"
    total: str  # "11.7 GiB"
    margin: str  # "1.1 to spare"


def judged_runs(cases: Sequence[Case], *, memory: bool, amounts: bool) -> Iterator[JudgedRun]:
    """The run of each of ``cases``.

    ``memory``: judge whether it fits; ``amounts``: say in bytes what it takes, which takes as long
    again.
    """
    for case in cases:
        gpu = case.target.label if case.target else None
        trust, run = case.resolution.trust, case.run
        if run is None:
            yield JudgedRun(gpu, None, trust, (case.resolution.why_unknown,))
            continue
        doubts, left = tuple(map(str, case.resolution.doubts)), case.resolution.left_open
        verdict = case.verdict if memory else None
        if verdict is None:
            fits = True if memory and not run.on_gpu else None
            yield JudgedRun(gpu, fits, trust, doubts)
        elif amounts:
            process, usable = verdict.process_bytes, verdict.usable_bytes
            brief = _brief(verdict)
            yield JudgedRun(gpu, verdict.fits, trust, doubts, process, usable, brief, left)
        else:
            yield JudgedRun(gpu, verdict.fits, trust, doubts, left_open=left)


def _brief(verdict: Verdict) -> Brief:
    return Brief(
        words.headline(verdict),
        words.OUTCOMES[verdict.outcome],
        words.takes(verdict),
        words.total(verdict),
        words.margin(verdict),
    )
