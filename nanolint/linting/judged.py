"""What became of each run of a file: judged on a card, doubted, or not known."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from nanolint.frozen import dataclass
from nanolint.interpreter.values import Unread
from nanolint.run.story import Fact
from nanolint.run.trust import Trust, in_short, way_out
from nanolint.units import GIB
from nanolint.verdict import words
from nanolint.verdict.ladder import ladder
from nanolint.verdict.timed import undecided
from nanolint.verdict.verdict import Outcome

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from nanolint.gpus.gpu import Machine
    from nanolint.linting.engine import Report
    from nanolint.rule.case import Case
    from nanolint.run.settled import Resolution
    from nanolint.run.trust import Doubt

STOPS = "stops"  # what becomes of a run that certainly fails
PROBABLY = "probably"  # how the headline of a run begins that is in doubt
NO_CARD = "trains without a CUDA device"
NAME_YOURS = "name yours with --gpu"


@dataclass(frozen=True, slots=True)
class JudgedRun:
    """One run on one card, or on none: plain, picklable data.

    ``trust`` is a ``nanolint.run.trust.Trust``. ``doubts`` are a line each: what is doubted, or
    why the run is not known; ``way_out`` says what settles them. ``fits`` is None if that was not
    judged, and False if the run stops before its memory matters. ``process_bytes`` is what
    nvidia-smi would show, and ``usable_bytes`` what PyTorch could reserve; ``brief`` says
    the same for people. They are None unless they were asked for and are known. ``left_open`` is
    what the number leaves open, if the verdict is the same either way. ``unread`` are the
    statements that were passed over, as no memory hangs on them: whether they raise is not known.
    """

    gpu: str | None
    fits: bool | None
    trust: str
    doubts: tuple[str, ...] = ()
    process_bytes: int | None = None
    usable_bytes: int | None = None
    brief: Brief | None = None
    left_open: tuple[str, ...] = ()
    way_out: str = ""
    unread: tuple[str, ...] = ()

    @property
    def is_unknown(self) -> bool:
        """Whether there is neither a number nor a failure."""
        return self.trust == Trust.UNKNOWN and self.fits is None


@dataclass(frozen=True, slots=True)
class Brief:
    """A verdict for people: in one line, and in the columns of a table."""

    headline: str  # "fits RTX 4070: 10.7 of 11.7 GiB (1.1 to spare)"
    outcome: str  # "fits"
    takes: str = ""  # "10.7 GiB"
    total: str = ""  # "11.7 GiB"
    margin: str = ""  # "1.1 to spare"


def judged_runs(
    report: Report, *, memory: bool, amounts: bool, usual: Sequence[Machine] = ()
) -> Iterator[JudgedRun]:
    """The runs of ``report``, one for each card.

    ``memory``: judge whether it fits; ``amounts``: say in bytes what it takes, which takes as long
    again; of a run whose card nobody named, which of the ``usual`` ones it fits.
    """
    for case in report.cases:
        gpu = case.target.label if case.target else None
        found, run = case.resolution, case.run
        stop = _stop(report, gpu)
        if stop is not None:
            brief = Brief(stop, STOPS, margin=f"see {stop}") if amounts else None
            yield JudgedRun(gpu, False, found.trust, brief=brief)
            continue
        if run is None:
            settles = way_out_of(found, report.trace)
            yield JudgedRun(gpu, None, found.trust, (found.why_unknown,), way_out=settles)
            continue
        brief, doubts = answered(case, usual) if amounts else (None, found.doubts)
        verdict = case.verdict if memory else None
        fits = verdict.fits if verdict else True if memory and not run.on_gpu else None
        process = usable = None
        if verdict is not None and amounts:
            process, usable = verdict.process_bytes, verdict.usable_bytes
        yield JudgedRun(
            gpu=gpu,
            fits=fits,
            trust=found.trust,
            doubts=tuple(map(str, doubts)),
            process_bytes=process,
            usable_bytes=usable,
            brief=brief,
            left_open=found.left_open if verdict else (),
            way_out=way_out(doubts, report.trace) if doubts else "",
            unread=tuple(_unread(case)) if verdict and amounts else (),
        )


def _unread(case: Case) -> Iterator[str]:
    for each in case.story.all(Fact.UNREAD):
        (path, line), *_ = each.place
        yield f"{path}:{line} ({each.words[0]})"


def _stop(report: Report, gpu: str | None) -> str | None:
    """Returns the code of the finding that says why the run stops; None if there is none."""
    for found in report.diagnostics:
        if found.stops and found.gpu in (None, gpu):
            return found.code
    return None


def answered(case: Case, usual: Sequence[Machine]) -> tuple[Brief | None, tuple[Doubt, ...]]:
    """Returns the answer for a run that is known, and its doubts.

    If nobody named a card, it is which of the ``usual`` ones the run fits. None if it uses none.
    """
    run, found, verdict = case.run, case.resolution, case.verdict
    assert run is not None  # who asks has looked
    if verdict is None:
        steps = None
        if run.on_gpu and case.target is None:
            with suppress(Unread):  # for a card that the run asks for more
                steps = ladder(run, usual)
        if steps is None:
            if run.on_gpu:
                return None, found.doubts
            headline = NO_CARD
            if found.doubts:
                headline = f"{PROBABLY} {NO_CARD}, not certain: {in_short(found.doubts)}"
            return Brief(headline, NO_CARD), found.doubts
        doubts = found.doubts
        if doubts and steps.first is not None:
            doubts = undecided(found, steps.first)
        takes = f"{steps.process_bytes / GIB:.1f} GiB"
        headline = f"needs {takes}: {steps}"
        if doubts:
            headline = f"{PROBABLY} {headline}, not certain: {in_short(doubts)}"
        return Brief(headline, str(steps), takes), doubts
    headline = words.headline(verdict)
    if found.doubts and verdict.outcome is Outcome.COMFORTABLE:
        headline = f"{words.probably([verdict])}, not certain: {in_short(found.doubts)}"
    if found.left_open:
        headline = f"{headline}; {found.left_open[0]}"
    outcome = words.OUTCOMES[verdict.outcome]
    brief = Brief(
        headline, outcome, words.takes(verdict), words.total(verdict), words.margin(verdict)
    )
    return brief, found.doubts


def way_out_of(found: Resolution, trace: str) -> str:
    """Returns what settles what is not known of a run; empty if nothing is open."""
    if found.run is None:
        return _settles(found, trace)
    return way_out(found.doubts, trace) if found.doubts else ""


def _settles(found: Resolution, trace: str) -> str:
    """Returns what makes a run known: the values that it lacks, by their names, or a trace."""
    if "--set " in found.why_unknown or any(each.impossible for each in found.unresolved):
        return ""
    keys = [each.key for each in found.unresolved]
    if found.described is None and found.settings.keys() >= set(keys):
        return f"`{' '.join(f'--set {key}=N' for key in keys)}` settles it"
    return "" if any(each.untraced for each in found.unresolved) else f"`{trace}` settles it"
