"""Each operation that is read is one that torch.compile's graphs are derived from, or is named.

``python validation/record_compiled_operations.py path/to/python`` records what PyTorch makes of
each, compiled, with a CUDA build of PyTorch and without a card.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

from tests.memory.tensors.operations import derived, recorded_entries
from validation.operations import EXPRESSIONS
from validation.record_compiled_operations import recorded, sample

# Without a formula, each by the name that a doubt says.
CHECKPOINTED = ("checkpoint", "reentrant checkpoint")
NAMED = {
    "bincount": "bincount",  # a library call that asks for values
    "cumprod": "cumprod",  # its gradient asks where zeros are
    "cumulative maximum": "cummax",
    "prod": "the gradient of prod",
    # Written out in a LayerNorm, its graph was derived too small: rasbt's GPTModel in docs/zoo.md.
    **dict.fromkeys(("var", "var biased"), "var"),
    **dict.fromkeys(("std", "std of all", "layer norm written out"), "std"),
    "rotary by complex numbers": "view_as_complex",  # library calls, which are not recorded yet
}
NAMED |= {name: "activation checkpointing" for name in EXPRESSIONS if name.startswith(CHECKPOINTED)}
# No kernel is left of these alone: the graph hands on what it is given.
NOTHING_LEFT = ("handing on",)
FIRST = {case["name"]: case for case in reversed(sample())}


@cache
def found(name: str) -> tuple[list[Any], list[str]]:
    return derived(FIRST[name])


@pytest.mark.parametrize("name", FIRST)
def test_it_has_a_formula_or_is_named(name: str) -> None:
    _, doubts = found(name)
    if name in NAMED:
        assert len(doubts) == 1
        assert f"makes of {NAMED[name]} in" in doubts[0]
    else:
        assert [each for each in doubts if NOTHING_LEFT[0] not in each] == []


def test_most_of_what_is_recorded_is_met_event_for_event() -> None:
    rows = recorded()
    met = sum(
        found(row["name"])[0] == recorded_entries(row) and not found(row["name"])[1] for row in rows
    )
    assert met >= 0.7 * len(rows)
