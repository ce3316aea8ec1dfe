"""A verdict in one line: the words that report, summary and editor share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.units import GIB, MIB, listed
from nanolint.verdict.verdict import Outcome, kept_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from nanolint.verdict.verdict import Verdict

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
        left = f" ({margin(verdict)})" if verdict.margin_bytes > 0 else ""
        return f"barely fits {card}: {share(verdict)}{left}, within the prediction's error"
    segments = " without expandable segments" if outcome is Outcome.FRAGMENTED else ""
    return f"does not fit {card}{segments}: needs {share(verdict)} ({margin(verdict)})"


def probably(verdicts: Sequence[Verdict]) -> str:
    """Returns the headline of a run that fits these cards, as far as is known."""
    cards = (f"{each.target.label}: {share(each)} ({margin(each)})" for each in verdicts)
    return f"probably fits {listed(list(cards))}"


def brief(verdict: Verdict) -> str:
    """The need alone, beside a value or a remedy: ``needs 24.2 of 11.7 GiB``."""
    return f"needs {share(verdict)}"


def share(verdict: Verdict, *, about: bool = False) -> str:
    """Returns the process beside the card, with all else that the card holds.

    ``6.0 + 2.0 in use of 11.7 GiB``; ``~`` marks what is only estimated: the run with ``about``,
    the card if nobody measured it. A process that limits itself is shown with what PyTorch
    reserves: ``6.0 of 5.8 GiB allowed``.
    """
    used = f"{'~' * about}{_needed(verdict) / GIB:.1f}"
    return f"{used}{_others(verdict)} of {total(verdict)}{' allowed' * _limits_itself(verdict)}"


def takes(verdict: Verdict) -> str:
    """Returns the process, and all else that the card holds: ``6.0 GiB + 2.0 in use``."""
    return f"{_needed(verdict) / GIB:.1f} GiB{_others(verdict)}"


def total(verdict: Verdict) -> str:
    """Returns the limit alone: ``11.7 GiB``, ``~11.7 GiB`` if nobody measured the card."""
    estimated = verdict.target.gpu.estimated and not _limits_itself(verdict)
    return f"{'~' * estimated}{_limit(verdict) / GIB:.1f} GiB"


def margin(verdict: Verdict) -> str:
    """Returns what is left or lacking, in GiB: ``1.1 to spare``; ``38 MiB short``."""
    word = "to spare" if verdict.margin_bytes >= 0 else "short"
    return f"{room(verdict).removesuffix(' GiB')} {word}"


def room(verdict: Verdict) -> str:
    """Returns the amount alone, ``1.1 GiB`` or ``38 MiB``, whether it is left or lacking.

    In GiB it is the difference of the rounded figures, so that they add up.
    """
    nbytes = abs(verdict.margin_bytes)
    if nbytes < LEAST_IN_GIB:
        return amount(nbytes)
    held = _needed(verdict), *(nbytes for nbytes, _ in _taken(verdict))
    left = _tenths(_limit(verdict)) - sum(map(_tenths, held))
    return f"{abs(left) / 10:.1f} GiB"


def _limits_itself(verdict: Verdict) -> bool:
    """Whether the limit is one that the process sets, and not the card's."""
    return verdict.usable_bytes == verdict.target.allowed_bytes


def _needed(verdict: Verdict) -> int:
    return verdict.reserved_bytes if _limits_itself(verdict) else verdict.process_bytes


def _limit(verdict: Verdict) -> int:
    return verdict.usable_bytes if _limits_itself(verdict) else verdict.target.gpu.total_bytes


def _taken(verdict: Verdict) -> Iterator[tuple[int, str]]:
    """Yields what is taken off the limit before the process: bytes, and whose they are."""
    target = verdict.target
    if _limits_itself(verdict):
        return
    if target.in_use_bytes:
        yield target.in_use_bytes, "in use"
    if kept := kept_bytes(target):
        yield kept, "for Windows"


def _others(verdict: Verdict) -> str:
    return "".join(f" + {nbytes / GIB:.1f} {whose}" for nbytes, whose in _taken(verdict))


def _tenths(nbytes: int) -> int:
    """Returns bytes in tenths of a GiB, rounded as they are shown."""
    return round(float(f"{nbytes / GIB:.1f}") * 10)


def amount(nbytes: int) -> str:
    """``nbytes`` with no more digits than a headline needs: ``12.5 GiB``, ``38 MiB``."""
    if nbytes >= GIB:
        return f"{nbytes / GIB:.1f} GiB"
    return f"{nbytes / MIB:.0f} MiB"
