"""What torch.compile decides on the card or by DDP's buckets: two bounds of a run.

Products are timed with and without padding.

torch/_inductor/fx_passes/pad_mm.py pads the columns of the logits, their gradient twice (for the
gradient of the input and that of the weight), and the weight. Allowed for here is twice the largest
activation and twice the largest parameter, which it also makes to time them before the first step,
and what Triton's do_bench writes between two timings. Traced with each of these padded or not
(2.13, vocabulary 50,257), a step takes never less than without, and at most the padded logits more.

A graph that is split at DDP's buckets is read as one. Traced with two processes, a step of
nanoGPT's takes 0.2 % more at most, an evaluation up to a quarter more, another model 7.5 % less.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from nanolint.interpreter.values import Unread
from nanolint.recording.recording import allocated_peak, recorded
from nanolint.run.coverage import SPLIT_GRAPH, TIMED
from nanolint.tape.lasting import lasting
from nanolint.tape.tape import Component
from nanolint.units import format_bytes
from nanolint.verdict.ladder import Unnamed
from nanolint.verdict.replay import overhead
from nanolint.verdict.verdict import comfortable_limit, survives, usable_bytes

if TYPE_CHECKING:
    from nanolint.gpus.gpu import Gpu, Machine
    from nanolint.run.settled import Resolution
    from nanolint.run.trust import Doubt
    from nanolint.tape.tape import Tape

PADDED = 2  # copies of each at once
BETWEEN_TIMINGS = 256 << 20  # triton/testing.py: to clear the cache of the card
SPLIT_MORE, SPLIT_LESS = 4, 10  # of the peak one in so many


def decided(found: Resolution, target: Machine) -> Resolution:
    """``found`` without doubts of these kinds, if it has no other and the run fits with the most
    that they may add, or does not with the least."""
    run, bounds = found.run, _bounds(found, target.gpu)
    if run is None or bounds is None:
        return found
    limit = comfortable_limit(run, target) - bounds.more
    fits = survives(run, target, limit, expandable=target.expandable)
    usable = usable_bytes(target, overhead(target.gpu, run.world_size))
    if not fits and bounds.least <= usable:
        return found
    return replace(found, doubts=(), left_open=(*found.left_open, *bounds.told))


def undecided(found: Resolution, target: Machine) -> tuple[Doubt, ...]:
    """The doubts about a run on a card that nobody named; none if it fits whatever they add."""
    bounds = _bounds(found, None)
    if found.run is None or bounds is None:
        return found.doubts
    unnamed = Unnamed(found.run, expandable=target.expandable)
    return () if unnamed.fits(target, bounds.more) else found.doubts


class _Bounds(NamedTuple):
    """The most bytes that doubts add to a peak, the least peak, and these in words."""

    more: int
    least: int
    told: tuple[str, ...]


def _bounds(found: Resolution, gpu: Gpu | None) -> _Bounds | None:
    """The bounds of a run in doubt; None where it has other doubts, or none."""
    run = found.run
    if run is None or not found.doubts:
        return None
    timed = [each for each in found.doubts if each.text.startswith(TIMED)]
    split = [each for each in found.doubts if each.text == SPLIT_GRAPH]
    if len(timed) + len(split) < len(found.doubts):
        return None
    try:
        known = recorded(run, gpu)
    except Unread:
        return None
    peak = known.answer(allocated_peak)
    padded = known.answer(padding) if timed else 0
    more = padded + (peak // SPLIT_MORE if split else 0)
    told = [
        *(f"{each}: up to {format_bytes(padded)} more" for each in timed[:1]),
        *(f"{each}: up to {format_bytes(more - padded)} more" for each in split),
    ]
    return _Bounds(
        more,
        peak - (peak // SPLIT_LESS if split else 0),
        tuple(f"{each}. The verdict is the same either way." for each in told),
    )


@lasting()
def padding(tape: Tape) -> int:
    """The most bytes that padding adds."""
    largest = dict.fromkeys((True, False), 0)
    for size, component in zip(tape.sizes, tape.components, strict=True):
        of_model = component is Component.PARAMETERS
        largest[of_model] = max(largest[of_model], size)
    return PADDED * sum(largest.values()) + BETWEEN_TIMINGS
