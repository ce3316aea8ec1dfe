"""A verdict in one line: the words that report, summary and editor share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.memory.verdict.verdict import Outcome
from nanolint.units import GIB, MIB

if TYPE_CHECKING:
    from nanolint.memory.verdict.verdict import Verdict

# What became of a run, in the words of a table.
OUTCOMES = {
    Outcome.COMFORTABLE: "fits",
    Outcome.THIN: "barely fits",
    Outcome.FRAGMENTED: "does not fit",
    Outcome.OUT_OF_MEMORY: "does not fit",
}
LEAST_IN_GIB = GIB // 4  # bytes; of less one decimal says too little


def headline(verdict: Verdict) -> str:
    """Whether the run fits, and what it takes of the card: one line of at most 100 characters.

    ``does not fit RTX 4070: needs 24.2 of 11.7 GiB (12.5 short)``
    """
    card, outcome = verdict.target.label, verdict.outcome
    if outcome is Outcome.COMFORTABLE:
        return f"fits {card}: {share(verdict)} ({margin(verdict)})"
    if outcome is Outcome.THIN:
        room = f"by {amount(verdict.margin_bytes)} only" if verdict.margin_bytes > 0 else "barely"
        return f"fits {card} {room} ({share(verdict)}), within the prediction's error"
    segments = " without expandable segments" if outcome is Outcome.FRAGMENTED else ""
    return f"does not fit {card}{segments}: needs {share(verdict)} ({margin(verdict)})"


def brief(verdict: Verdict) -> str:
    """The need alone, beside a value or a remedy: ``needs 24.2 of 11.7 GiB``."""
    return f"needs {share(verdict)}"


def share(verdict: Verdict, *, about: bool = False) -> str:
    """The process beside the card, and what other programs hold: ``6.0 + 2.0 in use of 11.7 GiB``.

    ``~`` marks what is only estimated: the run with ``about``, the card where nobody measured it.
    """
    used = f"{'~' if about else ''}{verdict.process_bytes / GIB:.1f}"
    if verdict.target.in_use_bytes:
        used += f" + {verdict.target.in_use_bytes / GIB:.1f} in use"
    return f"{used} of {total(verdict)}"


def takes(verdict: Verdict) -> str:
    """The process alone, and what other programs hold: ``6.0 GiB + 2.0 in use``."""
    held = verdict.target.in_use_bytes
    others = f" + {held / GIB:.1f} in use" if held else ""
    return f"{verdict.process_bytes / GIB:.1f} GiB{others}"


def total(verdict: Verdict) -> str:
    """The card alone: ``11.7 GiB``, ``~11.7 GiB`` where nobody measured it."""
    gpu = verdict.target.gpu
    return f"{'~' if gpu.estimated else ''}{gpu.total_bytes / GIB:.1f} GiB"


def margin(verdict: Verdict) -> str:
    """What is left under the limit, or lacking: ``1.1 to spare``, in GiB; ``38 MiB short``."""
    room = verdict.margin_bytes
    word = "to spare" if room >= 0 else "short"
    size = f"{abs(room) / GIB:.1f}" if abs(room) >= LEAST_IN_GIB else amount(abs(room))
    return f"{size} {word}"


def amount(nbytes: int) -> str:
    """``nbytes`` with no more digits than a headline needs: ``12.5 GiB``, ``38 MiB``."""
    if nbytes >= GIB:
        return f"{nbytes / GIB:.1f} GiB"
    return f"{nbytes / MIB:.0f} MiB"
