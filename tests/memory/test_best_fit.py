"""The largest micro-batch for a card, whatever micro-batch the config has."""

from __future__ import annotations

from dataclasses import replace

import pytest

from nanolint.memory.fit import best_fit
from nanolint.memory.verdict import Outcome, judge
from tests.memory.runs import GPT2, GPT2_XL, card


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


def test_the_world_size_divides_the_accumulation() -> None:
    run = replace(GPT2, batch_size=12, gradient_accumulation_steps=40, world_size=8)
    fit = best_fit(run, card("b200"))
    assert fit is not None
    assert fit.run.gradient_accumulation_steps % 8 == 0
    assert fit.run.effective_batch_size == 480


def test_none_where_one_sequence_is_too_many() -> None:
    assert best_fit(GPT2_XL, card("rtx-3090")) is None


@pytest.mark.parametrize("name", ["rtx-3060", "rtx-4090", "h200"])
def test_the_process_and_the_margin_make_up_the_card(name: str) -> None:
    target = card(name)
    fit = best_fit(GPT2, target)
    assert fit is not None
    assert fit.margin_bytes > 0
    assert fit.process_bytes + fit.margin_bytes == target.gpu.total_bytes


def test_a_run_that_must_give_caches_back_is_told_as_it_is_on_the_card() -> None:
    run = replace(GPT2, batch_size=300, gradient_accumulation_steps=40, eval_only=True)
    target = card("12GB")
    fit = best_fit(run, target)
    assert fit is not None
    assert fit.process_bytes < target.gpu.total_bytes
