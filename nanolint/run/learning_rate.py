"""Whether a learning rate does in all steps of a run what its schedule is for.

A rate is a function of the step. It is looked at in a sample of steps, which takes a falling or
rising rate for what it is; the steps at which it changes are found by halving.
"""

from __future__ import annotations

from itertools import pairwise
from math import isfinite
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    Rate = Callable[[int], float]
    # What is wrong, with its numbers of steps and its rates.
    Verdict = tuple[str, tuple[int, ...], tuple[float, ...]]

WARM, ZERO, EARLY, LATE, RISES = "warm-up", "zero", "early", "late", "rises"
SMOKE = 20  # steps: a run of fewer only tries whether it runs
SAMPLES = 96
PART = 10  # of the steps, or of the peak: a tenth
MOVE = 0.01  # of the peak: less is no move
JUMP = 0.25  # of a move, in one sample: it is no gradual one
FAR = 1024  # times the run, as far as a schedule may go on
LEVELS = 8  # of a rate that falls gradually
TAIL = 1e-3  # what is left of a decay at nine tenths of its way, unless it has no end


def judged(rate: Rate, steps: int, *, least: int = SMOKE) -> Verdict | None:
    """Returns what is wrong with a rate in a run of so many steps; None if nothing is certain.
    Runs of fewer than ``least`` only try whether they run."""
    if steps < least:
        return None
    points = sorted({0, 1, *(steps * i // SAMPLES for i in range(SAMPLES)), steps - 1})
    values = [rate(each) for each in points]
    peak = max(values)
    if not all(isfinite(each) and each >= 0 for each in values) or peak <= 0:
        return None
    if values[0] == values[1] == 0:
        first = _first(lambda at: rate(at) > 0, 1, steps - 1)
        return ZERO, (steps, first), (peak,)
    moves = _moves(values, peak * MOVE)
    if moves == [1]:
        return _warms(rate, steps, values)
    creeps = not moves and values[-1] < values[0] == peak
    if creeps or (moves in ([-1], [1, -1]) and _is_gradual(values, peak)):
        return _falls(rate, steps, points, values)
    if moves in ([-1, 1], [1, -1, 1]):
        return _rises(rate, steps, points, values)
    return None


def _moves(values: list[float], least: float) -> list[int]:
    """The directions that values go in one after the other, by at least so much."""
    found: list[int] = []
    low = high = values[0]
    for each in values:
        low, high = min(low, each), max(high, each)
        if each - low > least and (not found or found[-1] < 0):
            found.append(1)
            low = high = each
        elif high - each > least and (not found or found[-1] > 0):
            found.append(-1)
            low = high = each
        elif found and found[-1] > 0:
            low = high
        elif found:
            high = low
    return found


def _warms(rate: Rate, steps: int, values: list[float]) -> Verdict | None:
    """The rate only rises: the run ends before its warm-up does."""
    end = values[-1]
    if not end > values[-1 - len(values) // PART] * (1 + MOVE):
        return None  # it has come to its peak
    far = [*range(steps, 3 * steps, max(1, steps // 16)), *_doubled(3 * steps, steps * FAR)]
    beyond = [rate(each) for each in far]
    top = max(beyond)
    if not end * (1 + 2 * MOVE) < top or top == beyond[-1] > beyond[-2]:
        return None  # it rises without an end
    at = beyond.index(top)
    start = far[at - 1] if at else steps - 1
    stop = far[at]
    if at + 1 < len(far) and beyond[at + 1] < top:  # the peak may lie on either side
        stop = _peak(rate, start, far[at + 1])
    found = _first(lambda step: rate(step) >= rate(stop), start, stop)
    return WARM, (steps, found), (end, rate(found))


def _peak(rate: Rate, start: int, stop: int) -> int:
    while stop - start > 2:
        third = (stop - start) // 3
        one, other = start + third, stop - third
        if rate(one) < rate(other):
            start = one
        else:
            stop = other
    return max(range(start, stop + 1), key=rate)


def _falls(rate: Rate, steps: int, points: list[int], values: list[float]) -> Verdict | None:
    """The rate falls at the end: the run ends in its decay, or long after it."""
    end, peak = values[-1], max(values)
    top = points[len(values) - 1 - values[::-1].index(peak)]
    if rate(steps - 2) == end == rate(2 * steps) == rate(4 * steps):
        first = _first(lambda at: rate(at) <= end, top, steps - 1)
        is_long = (steps - first) * PART > steps
        is_whole = _ends(rate, top, first, peak, end)
        return (LATE, (steps, first), (peak, end)) if is_long and is_whole else None
    far = [*range(steps, 3 * steps, max(1, steps // 32)), *_doubled(3 * steps, steps * FAR)]
    beyond = [rate(each) for each in far]
    rest = [end, *beyond]
    at = next((i for i, (one, after) in enumerate(pairwise(beyond)) if after >= one), None)
    if at is None or any(after >= one for one, after in pairwise(rest[: at + 2])):
        return None  # it falls without an end
    low = beyond[at]
    stop = far[at]
    if beyond[at + 1] > low:
        start = far[at - 1] if at else steps - 1
        stop = _peak(lambda step: -rate(step), start, far[at + 1])
    floor = rate(stop)
    found = _first(lambda step: rate(step) <= floor, steps - 1, stop)
    left = (end - floor) / (peak - floor)
    is_far = left * PART > 1 and end * PART > peak
    is_whole = is_far and _ends(rate, top, found, peak, floor)
    return (EARLY, (steps, found), (peak, end, floor)) if is_whole else None


def _ends(rate: Rate, top: int, stop: int, peak: float, floor: float) -> bool:
    """Whether a decay from ``top`` to ``stop`` has its end there: an exponential one has none."""
    if stop - top < LEVELS or not peak - floor > peak / PART:
        return False
    late = (rate(stop - (stop - top) // PART) - floor) / (peak - floor)
    parts = [rate(top + (stop - top) * i // 8) for i in range(2, 8, 2)]
    ratios = [after / before for before, after in pairwise(parts) if before]
    is_exponential = len(ratios) == 2 and abs(ratios[0] - ratios[1]) < MOVE
    return late > TAIL and not is_exponential


def _rises(rate: Rate, steps: int, points: list[int], values: list[float]) -> Verdict | None:
    """The rate rises again after its decay, without a jump."""
    last = len(values) - 1 - values[::-1].index(min(values[values.index(max(values)) :]))
    low, end, peak = values[last], values[-1], max(values)
    rise = end - low
    if not (rise * PART > peak and low * 2 < peak and last < len(values) - 1):
        return None
    steepest = max(after - before for before, after in pairwise(values[last:]))
    falls = values[values.index(peak) : last + 1]
    steepest = max(
        steepest,
        *(before - after for before, after in pairwise(falls)),
    )
    count = len(values) - last
    if count < LEVELS or steepest > max(JUMP, 3 / count) * rise:
        return None
    valley = _peak(lambda step: -rate(step), points[max(0, last - 1)], points[last + 1])
    return RISES, (steps, valley), (peak, rate(valley), end)


def _is_gradual(values: list[float], peak: float) -> bool:
    """Whether a rate falls in many small parts."""
    falls = values[values.index(peak) :]
    return len({round(each / peak, 6) for each in falls}) > LEVELS


def _first(holds: Callable[[int], bool], start: int, stop: int) -> int:
    """The first step that a condition holds in, which holds from there on."""
    while start < stop:
        middle = (start + stop) // 2
        if holds(middle):
            stop = middle
        else:
            start = middle + 1
    return start


def _doubled(start: int, stop: int) -> list[int]:
    found = []
    while start < stop:
        found.append(start)
        start += max(1, start // 4)
    return found
