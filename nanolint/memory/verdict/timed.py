"""Products that torch.compile times on the card, with and without padding: two bounds of a run.

torch/_inductor/fx_passes/pad_mm.py pads the columns of the logits, their gradient twice (for the
gradient of the input and that of the weight), and the weight. Allowed for here is twice the largest
activation and twice the largest parameter, which it also makes to time them before the first step,
and what Triton's do_bench writes between two timings. Traced with each of these padded or not
(2.13, vocabulary 50,257), a step takes never less than without, and at most the padded logits more.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from nanolint.memory.model.reading.values import Unread
from nanolint.memory.recording import allocated_peak, recorded
from nanolint.memory.tape import Component
from nanolint.memory.verdict.overhead import overhead
from nanolint.memory.verdict.verdict import comfortable_limit, passes, usable_bytes
from nanolint.run.coverage import TIMED
from nanolint.units import format_bytes

if TYPE_CHECKING:
    from nanolint.gpus.gpu import Machine
    from nanolint.memory.tape import Tape
    from nanolint.run.settled import Resolution

PADDED = 2  # copies of each at once
BETWEEN_TIMINGS = 256 << 20  # triton/testing.py: to clear the cache of the card


def decided(found: Resolution, target: Machine) -> Resolution:
    """``found`` without the doubt about such products, where that is its only one and the run fits
    with all of them padded, or does not with none."""
    run = found.run
    if run is None or not found.doubts:
        return found
    if not all(each.text.startswith(TIMED) for each in found.doubts):
        return found
    try:
        known = recorded(run, target.gpu)
    except Unread:
        return found
    more = known.answer(padding)
    fits = passes(known.tape, target, comfortable_limit(run, target) - more)
    usable = usable_bytes(target, overhead(target.gpu, run.world_size))
    if not fits and known.answer(allocated_peak) <= usable:
        return found
    told = f"{found.doubts[0]}: up to {format_bytes(more)} more, which changes no verdict"
    return replace(found, doubts=(), left_open=(*found.left_open, told))


def padding(tape: Tape) -> int:
    """The most bytes that padding adds."""
    largest = dict.fromkeys((True, False), 0)
    for size, component in zip(tape.sizes, tape.components, strict=True):
        of_model = component is Component.PARAMETERS
        largest[of_model] = max(largest[of_model], size)
    return PADDED * sum(largest.values()) + BETWEEN_TIMINGS
