"""The largest micro-batch for a card, whatever micro-batch the config has.

These take seconds each.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from nanolint.verdict.search import best_fit
from nanolint.verdict.verdict import Outcome, judge
from tests.support.runs import GPT2, card
from tests.unit.verdict.test_best_fit import TINY


@pytest.mark.parametrize("batch_size", [1, 4, 8, 16, 64, 512])
def test_it_does_not_depend_on_the_config_s_own_micro_batch(batch_size: int) -> None:
    run = replace(GPT2, batch_size=batch_size, gradient_accumulation_steps=512 // batch_size)
    fit = best_fit(run, card("rtx-3060"))
    assert fit is not None
    assert fit.run.batch_size == 8
    assert fit.run.effective_batch_size == 512
    assert fit.is_own is (batch_size == 8)


def test_nothing_larger_is_comfortable() -> None:
    target = card("a100-40gb")
    fit = best_fit(GPT2, target)
    assert fit is not None
    for larger in (64, 128, 256, 512):
        if larger > fit.run.batch_size:
            run = replace(GPT2, batch_size=larger, gradient_accumulation_steps=512 // larger)
            assert judge(run, target).outcome is not Outcome.COMFORTABLE


@pytest.mark.parametrize(
    "options", [{"allocator": "expandable"}, {"platform": "windows"}, {}], ids=str
)
def test_it_is_comfortable_with_the_allocator_and_on_the_platform_that_were_asked_for(
    options: dict[str, Any],
) -> None:
    run = replace(TINY, batch_size=720, gradient_accumulation_steps=1, compile=False)
    best = {}
    for mib in range(400, 700, 20):
        machine = replace(card(f"{mib}MiB"), **options)
        fit = best_fit(run, machine)
        assert fit is not None
        assert fit.verdict == judge(fit.run, machine)
        assert fit.verdict.outcome is Outcome.COMFORTABLE
        best[mib] = fit.run.batch_size
    usual = {mib: fit.run.batch_size for mib in best if (fit := best_fit(run, card(f"{mib}MiB")))}
    assert (best == usual) is (not options)
