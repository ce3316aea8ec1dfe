"""Verdicts on real runs that people have reported, and what a verdict says.

These take seconds each.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from nanolint.run.run import Attention, Run
from nanolint.verdict.replay import replay
from nanolint.verdict.verdict import Outcome, judge
from tests.unit.verdict.test_verdict import (
    A100,
    CHAR,
    EAGER,
    GPT2,
    LARGE,
    RTX_3090,
    RTX_4070,
    SMALL,
    V100,
    XL,
    card,
)

if TYPE_CHECKING:
    from nanolint.gpus.gpu import Machine


@pytest.mark.parametrize(
    ("run", "target", "fits"),
    [
        pytest.param(XL, RTX_3090, False, id="nanoGPT-208-xl-on-24GB"),
        pytest.param(replace(XL, compile=False), RTX_3090, False, id="nanoGPT-93-xl-on-24GB"),
        pytest.param(XL, A100, True, id="nanoGPT-93-xl-on-40GB"),
        pytest.param(LARGE, RTX_3090, True, id="nanoGPT-93-large-on-24GB"),
        pytest.param(replace(LARGE, compile=False), RTX_3090, True, id="nanoGPT-93-large-eager"),
        pytest.param(replace(EAGER, attention=Attention.MATH), V100, False, id="nanoGPT-88-slow"),
        pytest.param(
            replace(EAGER, attention=Attention.EFFICIENT), V100, False, id="nanoGPT-88-efficient"
        ),
        pytest.param(replace(GPT2, world_size=8), A100, True, id="readme-8xA100"),
        pytest.param(CHAR, A100, True, id="readme-shakespeare-char"),
        pytest.param(SMALL, RTX_4070, True, id="30M-on-4070"),
        pytest.param(
            replace(GPT2, batch_size=16, gradient_accumulation_steps=32), RTX_4070, False,
            id="124M-B16-on-12GB",
        ),
        pytest.param(
            replace(GPT2, batch_size=8, gradient_accumulation_steps=64), RTX_4070, True,
            id="124M-B8-on-12GB",
        ),
    ],
)  # fmt: skip
def test_reported_runs_get_their_verdict(run: Run, target: Machine, fits: bool) -> None:
    assert judge(run, target).fits is fits


@pytest.mark.parametrize(("release", "sets"), [((2, 13), 2), ((2, 7), 1)])
@pytest.mark.parametrize("compiled", [False, True])
def test_more_processes_add_gradient_buckets(
    release: tuple[int, int], sets: int, compiled: bool
) -> None:
    """From 2.8 on the collectives of the first step hold its buckets in the second."""
    alone = replace(EAGER, torch=release, compile=compiled)
    shared = replay(replace(alone, world_size=8, gradient_accumulation_steps=32))
    extra = shared.peak.allocated_bytes - replay(alone).peak.allocated_bytes
    assert extra == pytest.approx(sets * 4 * GPT2.parameters, rel=0.001)


def test_outcomes_worsen_as_the_card_shrinks() -> None:
    order = [Outcome.OUT_OF_MEMORY, Outcome.FRAGMENTED, Outcome.THIN, Outcome.COMFORTABLE]
    found = [judge(GPT2, card(gib / 20, 46, (8, 9))).outcome for gib in range(180, 280)]
    assert set(found) >= {Outcome.OUT_OF_MEMORY, Outcome.THIN, Outcome.COMFORTABLE}
    assert [order.index(outcome) for outcome in found] == sorted(map(order.index, found))


def test_the_deepest_model_that_is_replayed_has_all_its_layers() -> None:
    deep = CHAR.having(n_layer=512, n_embd=8, n_head=1, compile=False)
    assert replay(deep).peak.allocated_bytes > 16 * deep.parameters
