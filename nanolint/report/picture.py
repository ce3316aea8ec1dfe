"""A picture of one step: live memory over its events, by component, under the limit.

The step is the one that fails, else one of the settled ones. It is drawn from back to front.
"""

from __future__ import annotations

import warnings
from itertools import accumulate, groupby
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from nanolint.frozen import dataclass
from nanolint.recording.recording import runs_compiled
from nanolint.report.explain.budget import PHASES
from nanolint.report.printer import printable
from nanolint.tape.tape import Component, Phase
from nanolint.units import GIB, MIB, format_bytes
from nanolint.verdict.replay import COMPONENTS, replay, replay_tape

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from nanolint.gpus.gpu import Machine
    from nanolint.rule.case import Case
    from nanolint.tape.tape import Tape
    from nanolint.verdict.replay import Moment, OutOfMemory, Replay

LONGEST_NAME = 48  # characters of the name in the title


class Judged(Protocol):
    """A verdict, of a run that was read or of one that was traced."""

    @property
    def target(self) -> Machine: ...
    @property
    def usable_bytes(self) -> int: ...
    @property
    def oom(self) -> OutOfMemory | None: ...


@dataclass(frozen=True, slots=True)
class Subject:
    """What is drawn: a replay of all events; with ``verdict``, the card's limit on it.

    ``failed_at`` is how many events there are until an allocation fails, None where none does.
    """

    title: str
    whole: Replay
    verdict: Judged | None = None
    failed_at: int | None = None


def subject_of(case: Case, name: str) -> Subject:
    """The run of ``case``, which is known, under the name of its file."""
    run, verdict = case.run, case.verdict
    assert run is not None  # the command refuses a run that is not known
    gpu = case.target.gpu if case.target else None
    expandable = case.target is not None and case.target.expandable
    failed_at = None
    if verdict is not None and verdict.oom is not None:
        limited = replay(
            run, gpu, limit_bytes=verdict.usable_bytes, expandable=expandable, trace=True
        )
        failed_at = len(limited.events)
    size = f", {run.parameters_reported / 1e6:.1f}M parameters" if run.program is None else ""
    title = (
        f"{_shortened(name)}: batch_size {run.batch_size}, block_size {run.block_size}"
        f"{size}, {run.dtype}, {'compiled' if runs_compiled(run, gpu) else 'eager'}"
    )
    whole = replay(run, gpu, expandable=expandable, trace=True)
    return Subject(title, whole, verdict, failed_at)


def subject_of_tape(tape: Tape, name: str, verdict: Judged | None) -> Subject:
    """A run that was traced, under the command that it was started with."""
    expandable = verdict is not None and verdict.target.expandable
    failed_at = None
    if verdict is not None and verdict.oom is not None:
        limit = verdict.usable_bytes
        limited = replay_tape(tape, limit_bytes=limit, expandable=expandable, trace=True)
        failed_at = len(limited.events)
    whole = replay_tape(tape, expandable=expandable, trace=True)
    return Subject(_shortened(name), whole, verdict, failed_at)


def _shortened(name: str) -> str:
    name = printable(name)
    return name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 3]}..."


# Paul Tol's light scheme: told apart by colour-blind readers, and dark text is legible on each.
# From the bottom of the stack: what always stays first, what comes and goes on top.
REST = ("inputs, workspace", "#DDDDDD")
LAYERS = (
    (Component.PARAMETERS, "parameters", "#77AADD"),
    (Component.OPTIMIZER, "Adam's state", "#99DDFF"),
    (Component.GRADIENTS, "gradients", "#44BB99"),
    (Component.WEIGHT_COPIES, "half weight copies", "#BBCC33"),
    (Component.ACTIVATIONS, "activations", "#EEDD88"),
    (Component.LOGITS_AND_LOSS, "logits and loss", "#EE8866"),
)
INK, FAINT, ALARM = "#222222", "#777777", "#AA1133"

SIZE = (10.0, 5.4)  # inches
DOTS_PER_INCH = 160
STYLE = {
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "text.parse_math": False,  # a dollar in a file's name is a dollar
    "svg.hashsalt": "nanolint",  # the same run gives the same file
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": FAINT,
    "xtick.color": FAINT,
    "ytick.color": INK,
}


THINNEST_LABELLED = 0.034  # of the axis: a band that still holds a line of text
THINNEST_KEYED = 0.004  # of the axis: a thinner band cannot be seen, so its name is left out
LABEL_SHARE = 0.11  # of the axis: how much width a label inside a band needs
HEADROOM = 1.17
MOST_ROOM = 2.2  # a limit beyond so many peaks would press the run flat


@dataclass(frozen=True, slots=True)
class _Band:
    """One layer of the stack: its lower and upper edge at every event, in units of the axis."""

    label: str
    color: str
    lower: Sequence[float]
    upper: Sequence[float]


def _stairs(levels: Sequence[float]) -> tuple[list[float], list[int]]:
    """The steps of ``levels``: a height for each run of equal values, and the edges of the runs."""
    runs = [(height, len(list(group))) for height, group in groupby(levels)]
    edges = accumulate((length for _, length in runs), initial=0)
    return [height for height, _ in runs], list(edges)


class Picture:
    """A subject on matplotlib axes."""

    def __init__(self, axes: Any, subject: Subject) -> None:
        self._axes = axes
        self._title = subject.title
        self._verdict = verdict = subject.verdict
        self._whole, failed_at = subject.whole, subject.failed_at
        self._oom: OutOfMemory | None = verdict.oom if verdict else None
        self._step: Step = step_of(self._whole.events, failed_at)
        moments = self._step.moments[:failed_at]
        peak = max(moment.allocated_bytes for moment in self._step.moments)
        held = max((moment.reserved_bytes for moment in moments), default=0)
        if self._oom is not None:
            held = max(held, self._oom.reserved_bytes + self._oom.requested_bytes)
        self._unit, self._unit_name = (GIB, "GiB") if peak >= GIB else (MIB, "MiB")
        limit = verdict.usable_bytes if verdict else 0
        self._to_scale = limit <= MOST_ROOM * peak
        highest = max(peak, held, limit if self._to_scale else 0)
        self._top = highest * HEADROOM / self._unit
        self._limit = limit / self._unit if self._to_scale else 0.94 * self._top

    def draw(self) -> None:
        """Everything, from back to front."""
        bands = self._bands()
        count = len(self._step.moments)
        self._axes.set_xlim(0, count)
        self._axes.set_ylim(0, self._top)
        for band in bands[::-1]:  # each from 0 up; what lies below is painted over it
            heights, edges = _stairs(band.upper)
            self._axes.stairs(heights, edges, fill=True, color=band.color, linewidth=0)
        self._phases()
        self._reserved()
        self._key([band for band in bands if not self._label(band)])
        if self._verdict is not None:
            self._draw_limit()
        if self._step.failed_at is not None:
            self._draw_failure(self._step.failed_at)
        else:
            self._draw_peak()
        self._dress()

    def _bands(self) -> list[_Band]:
        moments = self._step.moments
        lower = [0.0] * len(moments)
        bands = []
        drawn = {component for component, _, _ in LAYERS}
        rest = [index for index, each in enumerate(COMPONENTS) if each not in drawn]
        layers = [(label, color, [COMPONENTS.index(each)]) for each, label, color in LAYERS]
        for label, color, indices in ((*REST, rest), *layers):
            upper = [
                low + sum(moment.components[index] for index in indices) / self._unit
                for low, moment in zip(lower, moments, strict=True)
            ]
            bands.append(_Band(label, color, lower, upper))
            lower = upper
        return bands

    def _label(self, band: _Band) -> bool:
        """Write the band's name where it is thickest, before a failure if it can be."""
        end = self._step.failed_at
        for count in (len(band.lower), *((end,) if end is not None else ()))[::-1]:
            thickness, x, y = self._roomiest(band, count)
            if thickness >= THINNEST_LABELLED * self._top:
                self._axes.text(x, y, band.label, ha="center", va="center", color=INK)
                return True
        return False

    def _roomiest(self, band: _Band, count: int) -> tuple[float, float, float]:
        """How thick the band is, at most, over the width of a label, and that label's middle."""
        width = max(1, round(LABEL_SHARE * len(band.lower)))
        best = (0.0, 0.0, 0.0)
        for start in range(0, count - width, max(1, width // 12)):
            low = max(band.lower[start : start + width])
            high = min(band.upper[start : start + width])
            best = max(best, (high - low, start + width / 2, (low + high) / 2))
        return best

    def _key(self, bands: list[_Band]) -> None:
        """Name the bands that are too thin for a label beside a patch of their colour."""
        from matplotlib.patches import Patch

        visible = [
            Patch(color=band.color, label=band.label)
            for band in bands
            if max(map(float.__sub__, band.upper, band.lower)) >= THINNEST_KEYED * self._top
        ]
        if visible:
            self._axes.legend(
                handles=visible[::-1],
                loc="upper right",
                bbox_to_anchor=(1.0, -0.005),
                ncols=len(visible),
                frameon=False,
                fontsize=8.5,
                handlelength=1,
                handleheight=1,
                borderaxespad=0.2,
            )

    def _phases(self) -> None:
        count = len(self._step.moments)
        for start, end, phase in self._step.phases:
            if start:
                self._axes.axvline(start, color="white", linewidth=1.2)
                self._axes.axvline(start, color=FAINT, linewidth=0.6, linestyle=(0, (1, 2)))
            name = PHASES[phase]
            if end - start < 0.05 * count:
                name = {Phase.OPTIMIZER: "opt."}.get(phase, "")
            self._axes.text(
                (start + end) / 2,
                1.012,
                name,
                transform=self._axes.get_xaxis_transform(),
                ha="center",
                va="bottom",
                color=FAINT,
                fontsize=8.5,
            )

    def _reserved(self) -> None:
        """The outline of what PyTorch has taken from the card, until a failure."""
        held = [moment.reserved_bytes / self._unit for moment in self._step.moments]
        held = held[: self._step.failed_at]
        if not held:
            return
        heights, edges = _stairs(held)
        self._axes.stairs(heights, edges, baseline=None, color=INK, linewidth=0.9, zorder=3)
        flattest = max(range(len(heights)), key=lambda index: edges[index + 1] - edges[index])
        self._axes.text(
            (edges[flattest] + edges[flattest + 1]) / 2,
            heights[flattest] + 0.006 * self._top,
            "reserved by PyTorch",
            ha="center",
            va="bottom",
            color=INK,
            fontsize=8,
        )

    def _draw_limit(self) -> None:
        verdict = self._verdict
        assert verdict is not None
        text = f"{verdict.target.label}: {format_bytes(verdict.usable_bytes)} for PyTorch"
        if not self._to_scale:
            text += ", far above this axis"
        style = "-" if self._to_scale else (0, (6, 4))
        self._axes.axhline(self._limit, color=ALARM, linewidth=1.4, linestyle=style)
        early = self._step.failed_at is not None and self._step.failed_at < 0.45 * len(
            self._step.moments
        )
        self._axes.text(
            0.996 if early else 0.004,
            self._limit + 0.008 * self._top,
            text,
            transform=self._axes.get_yaxis_transform(),
            ha="right" if early else "left",
            va="bottom",
            color=ALARM,
            fontweight="bold",
        )

    def _draw_failure(self, at: int) -> None:
        """What PyTorch asked the card for, on top of what it had reserved."""
        oom = self._oom
        assert oom is not None
        count = len(self._step.moments)
        self._axes.axvspan(at, count, color="white", alpha=0.62, linewidth=0)
        bottom = oom.reserved_bytes / self._unit
        height = oom.requested_bytes / self._unit
        width = 0.012 * count
        self._axes.bar(
            at, height, width, bottom, align="edge", fill=False, hatch="////", edgecolor=ALARM
        )
        self._axes.plot(
            [at + width / 2], [bottom + height], marker="X", markersize=11, color=ALARM, mec="white"
        )
        left = at > 0.6 * count
        self._axes.annotate(
            f"out of memory: {oom.at}\n{format_bytes(oom.requested_bytes)} more do not fit",
            (at, bottom + height),
            xytext=(-10 if left else 18, 2),
            textcoords="offset points",
            ha="right" if left else "left",
            va="bottom",
            color=ALARM,
            fontweight="bold",
        )

    def _draw_peak(self) -> None:
        moments = self._step.moments
        at = max(range(len(moments)), key=lambda index: moments[index].allocated_bytes)
        height = moments[at].allocated_bytes / self._unit
        left = at > 0.6 * len(moments)
        self._axes.plot([at], [height], marker="o", markersize=5, color=INK)
        self._axes.annotate(
            f"peak: {format_bytes(moments[at].allocated_bytes)}\n{moments[at].name}",
            (at, height),
            xytext=(-8 if left else 8, 6),
            textcoords="offset points",
            ha="right" if left else "left",
            va="bottom",
            color=INK,
        )

    def _dress(self) -> None:
        self._axes.set_title(
            self._title,
            loc="left",
            pad=20,
            fontsize=11,
            color=INK,
        )
        self._axes.set_ylabel(f"GPU memory ({self._unit_name})")
        label = f"allocations and releases in order: {self._step.title}"
        self._axes.set_xlabel(label, loc="left", color=FAINT)
        self._axes.yaxis.grid(color="#E6E6E6", linewidth=0.6)
        self._axes.set_axisbelow(True)
        self._axes.set_xticks([])


def draw(subject: Subject, path: Path) -> None:
    """Draw ``subject`` into ``path``, as SVG or PNG by its suffix. Raises OSError."""
    import matplotlib as mpl
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    with mpl.rc_context(STYLE), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a file's name may hold characters that no font has
        figure = Figure(figsize=SIZE, layout="constrained")
        FigureCanvasAgg(figure)
        Picture(figure.add_subplot(), subject).draw()
        metadata = {"Date": None} if path.suffix.lower() == ".svg" else {"Software": None}
        figure.savefig(path, dpi=DOTS_PER_INCH, metadata=metadata)


MICRO_STEPS = 2  # shown: the first, and one on top of accumulated gradients; the others are alike


class Stretch(NamedTuple):
    """Consecutive events of one phase: ``start`` up to but without ``end``."""

    start: int
    end: int
    phase: Phase


@dataclass(frozen=True, slots=True)
class Step:
    """The moments of a step. ``phases`` and ``failed_at`` count from the first of them."""

    title: str
    moments: Sequence[Moment]
    phases: tuple[Stretch, ...]
    failed_at: int | None = None


def step_of(moments: Sequence[Moment], failed_at: int | None) -> Step:
    """The last optimizer step, where all is in place; with a failure, the step that it ends.

    A failure in an evaluation is shown with that evaluation alone, as is a run that only evaluates.
    """
    stretches = _stretches(moments)
    number = len(stretches) - 1
    if failed_at is not None:
        number = next(i for i, each in enumerate(stretches) if failed_at < each.end)
    elif any(each.phase is Phase.OPTIMIZER for each in stretches):
        number = max(i for i, each in enumerate(stretches) if each.phase is Phase.OPTIMIZER)
    title, shown = _visible(stretches, number)
    kept: list[Moment] = []
    phases = []
    failure = None
    for start, end, phase in shown:
        if failed_at is not None and start <= failed_at < end:
            failure = len(kept) + failed_at - start
        phases.append(Stretch(len(kept), len(kept) + end - start, phase))
        kept += moments[start:end]
    return Step(title, kept, tuple(phases), failure)


def _stretches(moments: Sequence[Moment]) -> list[Stretch]:
    stretches, start = [], 0
    for phase, group in groupby(moments, key=lambda moment: moment.phase):
        end = start + sum(1 for _ in group)
        stretches.append(Stretch(start, end, phase))
        start = end
    return stretches


def _visible(stretches: list[Stretch], number: int) -> tuple[str, list[Stretch]]:
    """What to call the step that the stretch of that number belongs to; what to show of it."""
    own = stretches[number]
    if own.phase is Phase.EVAL:
        return "the model is loaded, then the first estimate_loss", [own]
    if own.phase is Phase.EVAL_LATE:
        return "a later estimate_loss", [own]
    optimizers = [i for i, each in enumerate(stretches) if each.phase is Phase.OPTIMIZER]
    last = next((i for i in optimizers if i >= number), len(stretches) - 1)
    before = [i for i in optimizers if i < number]
    first = before[-1] + 1 if before else 1
    title = "a step once training is under way" if before else "the first step"
    passes = stretches[first:last]
    if len(passes) <= 2 * MICRO_STEPS:
        return title, stretches[first : last + 1]
    # A forward and a backward each: the first pair, then the one that fails or else the second.
    pair = max(2, (number - first) // 2 * 2) if number < last else 2
    return f"{title}, two micro-steps of it", [
        *passes[:2],
        *passes[pair : pair + 2],
        stretches[last],
    ]
