"""What a log of events says: the peak of each phase, and the log as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from validation.counting.card import Event, Kind, rounded

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


def phase_peaks(events: Iterable[Event], phases: Sequence[str]) -> dict[str, int]:
    """The most bytes live after any allocation of each phase."""
    peaks: dict[str, int] = {}
    live: dict[int, int] = {}
    total, phase = 0, ""
    for event in events:
        if event.kind is Kind.PHASE:
            phase = phases[event.number]
        elif event.kind is Kind.ALLOCATION:
            live[event.number] = rounded(event.bytes)
            total += live[event.number]
            peaks[phase] = max(peaks.get(phase, 0), total)
        else:
            total -= live.pop(event.number)
    return peaks


def text(events: Iterable[Event], phases: Sequence[str]) -> str:
    """One event a line: ``+number bytes``, ``-number``, or ``# phase``."""
    return "".join(_line(event, phases) for event in events)


def _line(event: Event, phases: Sequence[str]) -> str:
    if event.kind is Kind.PHASE:
        return f"# {phases[event.number]}\n"
    if event.kind is Kind.ALLOCATION:
        return f"+{event.number} {event.bytes}\n"
    return f"-{event.number}\n"
