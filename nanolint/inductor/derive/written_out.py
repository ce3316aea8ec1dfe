"""Attention that is written out, which Inductor makes one call of: torch/_inductor/fx_passes/
fuse_attention.py, ``_sfdp_pattern_1`` and its kin, before the joint graph is cut in two.

What the call keeps is not derived: such a graph is computed as it is written, which takes more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.inductor.derive.operations import VIEW, Operation

if TYPE_CHECKING:
    from collections.abc import Iterable

FOUND = (
    "torch.compile fuses hand-written attention into one call, which takes less than this number"
)
DROPPED = "nanolint does not model hand-written attention with dropout under torch.compile"
SCALES = frozenset({"product", "quotient"})
PASSED = frozenset({"convert", "clone"})  # between a softmax and its products


def has_attention(operations: Iterable[Operation], *, over_any: bool) -> bool:
    """Whether batched products in two bytes are around a softmax, ``over_any`` dimension or the
    last, of what is at most scaled by a number."""
    return any(
        each.name == "bmm" and each.dtype.itemsize == 2 and _is_of_scores(each.of[0], over_any)
        for each in operations
    )


def drops_weights(operations: Iterable[Operation]) -> bool:
    """Whether there is such attention with dropout behind its softmax."""
    return any(
        each.name == "bmm"
        and each.dtype.itemsize == 2
        and (kept := _kept(each.of[0])) is not None
        and _is_of_scores(kept, over_any=True)
        for each in operations
    )


def _kept(weights: Operation) -> Operation | None:
    """What dropout is of; None where it is none: a product with a number, and one with a mask."""
    scaled = _behind(weights)
    if scaled.name != "product" or len(scaled.of) != 1:
        return None
    dropped = _behind(scaled.of[0])
    if dropped.name != "product" or len(dropped.of) != 2:
        return None
    mask, kept = dropped.of
    drawn = mask.of[0].name if mask.name == "comparison" else ""
    return kept if drawn == "random" else None


def _is_of_scores(weights: Operation, over_any: bool) -> bool:
    softmax = _behind(weights)
    if softmax.name != "quotient" or len(softmax.of) != 2:
        return False
    exponential, total = softmax.of
    if exponential.name != "exponential" or total.name != "sum" or total.of != (exponential,):
        return False
    difference = exponential.of[0]
    if difference.name != "difference" or len(difference.of) != 2:
        return False
    scores, largest = difference.of
    if largest.name != "amax" or largest.of != (scores,) or len(scores.shape) != 4:
        return False
    is_last = largest.settings[0] == (len(scores.shape) - 1,)
    scaled = _behind(scores)
    if scaled.name in SCALES and len(scaled.of) == 1:
        scaled = _behind(scaled.of[0])
    return scaled.name == "bmm" and (is_last or over_any)


def _behind(each: Operation) -> Operation:
    """What it is of, seen or cast otherwise."""
    while each.kind == VIEW or each.name in PASSED:
        each = each.of[0]
    return each
