"""Where the memory goes: what is live at the peak, how high each phase rises, as bars.

Horizontal bars of block characters, an eighth of a cell exact.

What phases, components and outcomes are called in the text and in the picture.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TextIO

from nanolint.linting.judged import NAME_YOURS, PROBABLY, answered
from nanolint.tape.tape import Component, Phase
from nanolint.units import format_bytes
from nanolint.verdict.verdict import Outcome

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nanolint.gpus.gpu import Machine
    from nanolint.report.printer import Printer
    from nanolint.rule.case import Case
    from nanolint.verdict.replay import Replay


_EIGHTHS = "▏▎▍▌▋▊▉█"
_PLAIN = "#"


class Bars:
    """Bars of at most ``cells`` cells; of ``#`` where the stream has no block characters."""

    def __init__(self, stream: TextIO, cells: int) -> None:
        self._cells = cells
        self._blocks = _can_encode(stream, _EIGHTHS)

    def draw(self, part: int, whole: int) -> str:
        """A bar as long as ``part`` is of ``whole``, padded to the full width."""
        eighths = round(8 * self._cells * min(1.0, part / whole)) if whole > 0 else 0
        if part > 0:
            eighths = max(1, eighths)
        full, rest = divmod(eighths, 8)
        if self._blocks:
            bar = _EIGHTHS[-1] * full + (_EIGHTHS[rest - 1] if rest else "")
        else:
            bar = _PLAIN * (full + (rest >= 4))
        return f"{bar:<{self._cells}}"


def _can_encode(stream: TextIO, text: str) -> bool:
    try:
        text.encode(getattr(stream, "encoding", None) or "utf-8")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


PHASES = {
    Phase.SETUP: "setting up",
    Phase.EVAL: "estimate_loss",
    Phase.FORWARD: "forward",
    Phase.BACKWARD: "backward",
    Phase.OPTIMIZER: "optimizer",
    Phase.EVAL_LATE: "later estimate_loss",
}

SPLIT = "not known: torch.compile splits its graph at DDP's buckets"  # of an evaluation

COMPONENTS = {
    Component.PARAMETERS: "parameters",
    Component.GRADIENTS: "gradients",
    Component.OPTIMIZER: "Adam's state",
    Component.WEIGHT_COPIES: "half weight copies",
    Component.ACTIVATIONS: "activations",
    Component.LOGITS_AND_LOSS: "logits and loss",
    Component.INPUTS: "inputs",
    Component.WORKSPACE: "cuBLAS workspace",
}

OUTCOMES = {
    Outcome.COMFORTABLE: ("fits", "bold green"),
    Outcome.THIN: ("thin margin", "bold yellow"),
    Outcome.FRAGMENTED: ("fragmented", "bold red"),
    Outcome.OUT_OF_MEMORY: ("out of memory", "bold red"),
}


def answer(case: Case, usual: Sequence[Machine] = ()) -> str:
    """Returns the verdict, or without a card what the run needs, in one line; empty if unknown."""
    brief, doubts = (None, ()) if case.run is None else answered(case, usual)
    if brief is None:
        return ""
    doubt = ", not certain" if doubts and PROBABLY not in brief.headline else ""
    return f"{brief.headline}{doubt}{'' if case.target else f'; {NAME_YOURS}'}"


LABEL = 20  # cells
AMOUNT = 10
BAR_LIMITS = (10, 40)


def render(replay: Replay, printer: Printer, width: int) -> None:
    """Write a bar per component at the peak, and one per phase."""
    peak = replay.peak
    bars = Bars(printer.stream, _cells(width))
    printer.line(("At the peak", "bold"), f", in {peak.phase.within}")
    printer.line(f"  at: {peak.at}")
    live = sorted(replay.components, key=lambda component: -component[1])
    for component, nbytes in live:
        if nbytes:
            share = f"{100 * nbytes / peak.allocated_bytes:5.1f} %"
            bar = bars.draw(nbytes, peak.allocated_bytes)
            _line(printer, COMPONENTS[component], bar, "cyan", nbytes, share)
    _line(printer, "allocated", " " * _cells(width), "", peak.allocated_bytes, "100.0 %")
    printer.blank()
    printer.line(("The most that each phase allocates", "bold"))
    for phase, nbytes in replay.phases:
        if phase in replay.split:
            printer.line(f"  {PHASES[phase]:<{LABEL}}{SPLIT}")
            continue
        mark = "  <- peak" if phase is peak.phase else ""
        bar = bars.draw(nbytes, peak.allocated_bytes)
        _line(printer, PHASES[phase], bar, "magenta", nbytes, mark)


def _line(printer: Printer, label: str, bar: str, style: str, nbytes: int, remark: str) -> None:
    amount = f" {format_bytes(nbytes):>{AMOUNT}}"
    printer.line(f"  {label:<{LABEL}}", (bar, style), f"{amount}  {remark}".rstrip())


def _cells(width: int) -> int:
    """What is left for a bar beside its label, its amount and a remark."""
    least, most = BAR_LIMITS
    return max(least, min(most, width - LABEL - AMOUNT - 2 - 12))
