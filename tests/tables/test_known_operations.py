"""Each operation that is read is one that torch.compile's graphs are derived from, or is named.

``python validation/record_compiled_operations.py path/to/python`` records what PyTorch makes of
each, compiled, with a CUDA build of PyTorch and without a card.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

from nanolint.inductor.derive.operations import UNVERIFIED
from tests.support.rows import each_row
from tests.tables.operations import derived
from validation.record_compiled_operations import recorded, sample

# Without a formula, each by the name that a doubt says.
NAMED = {
    "bincount": "bincount",  # a library call that asks for values
    "cumprod": "cumprod",  # its gradient asks where zeros are
    "cumulative maximum": "cummax",
    "prod": "the gradient of prod",
    **dict.fromkeys(("prelu", "prelu of channels"), "prelu"),  # few use it
    **dict.fromkeys(
        (
            *("std", "std of all", "variance in float64 down many rows"),
            "variance and mean down many rows",
        ),
        "a variance of few elements, or in several steps",
    ),
    "checkpoint in segments": "checkpoint_sequential",  # its segments are graphs of their own
    "conv1d of all channels": "conv1d by cuDNN",
    **dict.fromkeys(("kth value", "kth value, kept"), "kthvalue"),
    **dict.fromkeys(("dropout of all", "dropout of all in place"), "dropout of everything"),
    "weighed and smoothed": "a loss of weighted classes",
    "rotary by complex numbers": "view_as_complex",  # library calls, which are not recorded yet
}
# Of images nothing is recorded: the beginnings of their names, each with its operation.
IMAGES = {
    "conv2d": "conv2d",
    "transposed conv2d": "conv_transpose2d",
    "batch norm": "batch_norm",
    "group norm": "group_norm",
    "cat, channels last": "group_norm",
    "max pool": "max_pool2d",
    "average pool": "avg_pool2d",
    "adaptive average pool": "adaptive_avg_pool2d",
    "bilinear": "interpolate",
    "nearest": "interpolate",
    "nearest, channels last": "conv2d",
    "dropout of channels": "dropout2d",
}
NAMED |= {
    case["name"]: named
    for case in sample()
    for begins, named in IMAGES.items()
    if case["name"].startswith(begins) and "rows" not in case["name"]
}
# No kernel is left of these alone: the graph hands on what it is given.
NOTHING_LEFT = ("handing on",)
FIRST = {case["name"]: case for case in reversed(sample())}


@cache
def found(name: str) -> tuple[list[Any], list[str]]:
    return derived(FIRST[name])


@each_row("compiled_operations", FIRST)
def test_it_has_a_formula_or_is_named(name: str) -> None:
    _, doubts = found(name)
    if doubts and any("is not verified" in each for each in doubts):
        said = (*UNVERIFIED.values(), "the gradient of indexing in half precision")
        assert any(f"torch.compile of {each} in" in doubts[0] for each in said)
    elif name in NAMED:
        assert len(doubts) == 1
        assert f"torch.compile of {NAMED[name]} in" in doubts[0]
    else:
        assert [each for each in doubts if NOTHING_LEFT[0] not in each] == []


@pytest.mark.parametrize(("release", "doubts"), [((2, 12), 1), ((2, 13), 0), ((2, 15), 1)])
def test_convolutions_are_doubted_by_other_releases(release: tuple[int, int], doubts: int) -> None:
    row = next(row for row in recorded() if row["name"] == "conv1d of what lies across")
    assert len(derived(row, release)[1]) == doubts


@pytest.mark.parametrize(("release", "doubts"), [((2, 9), 1), ((2, 12), 1), ((2, 13), 0)])
def test_gradients_that_do_not_lie_in_order_are_doubted_where_they_are_copied(
    release: tuple[int, int], doubts: int
) -> None:
    row = next(row for row in recorded() if row["name"] == "sub with alpha")
    assert len(derived(row, release)[1]) == doubts
