"""The micro-batch that the fixer writes: brute force over every divisor agrees.

These take seconds each.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from nanolint.recording.recording import allocated_bytes
from nanolint.run.run import Dialect, Run
from nanolint.verdict import search
from nanolint.verdict.growth_estimate import Growth
from nanolint.verdict.search import best_micro_batch
from nanolint.verdict.verdict import comfortable_limit
from tests.unit.verdict.test_search import RUN, brute_force, card


@pytest.mark.parametrize("mib", [300, 400, 500, 700, 1000, 2000])
@pytest.mark.parametrize("upward", [False, True])
@pytest.mark.parametrize(
    "run",
    [
        RUN,
        replace(RUN, batch_size=7, gradient_accumulation_steps=30),
        replace(RUN, world_size=2, gradient_accumulation_steps=8),
        RUN.having(dialect=Dialect.PER_GPU, world_size=2),
    ],
)
def test_the_choice_equals_brute_force(run: Run, upward: bool, mib: int) -> None:
    targets = [card(mib), card(2 * mib)]
    found = best_micro_batch([(run, target) for target in targets], upward=upward)
    assert (found and found.counts["batch_size"]) == brute_force(run, targets, upward=upward)
    if found is not None:
        product = run.batch_size * run.gradient_accumulation_steps
        assert found.counts["batch_size"] * found.counts["gradient_accumulation_steps"] == product


@pytest.mark.parametrize(("batch", "steps"), [(10**9, 7), (10**30, 10**9), (10**12 + 39, 1)])
def test_huge_values_are_answered(batch: int, steps: int) -> None:
    run = replace(RUN, batch_size=batch, gradient_accumulation_steps=steps)
    found = best_micro_batch([(run, card(2000))])
    assert found is not None
    assert found.counts["batch_size"] * found.counts["gradient_accumulation_steps"] == batch * steps


def test_expandable_segments_may_hold_a_larger_micro_batch() -> None:
    run = replace(RUN, batch_size=720, gradient_accumulation_steps=1)
    found = [
        best_micro_batch([(run, replace(card(mib), allocator=allocator))])
        for mib in range(600, 1400, 50)
        for allocator in ("default", "expandable")
    ]
    sizes = [each.counts["batch_size"] for each in found if each is not None]
    assert all(e >= d for d, e in zip(sizes[::2], sizes[1::2], strict=True))
    assert sizes[::2] != sizes[1::2]


@pytest.mark.parametrize("changes", [{}, {"eval_only": True}, {"compile": True}])
@pytest.mark.parametrize("platform", ["linux", "windows"])
def test_the_search_starts_where_the_tensors_fill_the_card(
    changes: dict[str, Any], platform: str
) -> None:
    run = RUN.having(batch_size=720, n_embd=1024, **changes)
    for mib in (1500, 2000, 4000):
        machine = replace(card(mib), platform=platform)
        guess = search._likely_batch(run, machine, Growth(machine.gpu))
        needed = allocated_bytes(replace(run, batch_size=guess), card(mib).gpu)
        room = comfortable_limit(run, machine) * 110 // 100
        assert needed == pytest.approx(room, rel=0.07)
    growth = Growth(card(20).gpu)
    assert search._likely_batch(run, card(20), growth) == 0
    assert search._likely_batch(replace(run, device="cpu"), card(20), growth) == 720
