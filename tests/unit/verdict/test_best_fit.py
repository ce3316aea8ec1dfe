"""The largest micro-batch for a card, whatever micro-batch the config has."""

from __future__ import annotations

from dataclasses import replace

import pytest

from nanolint.verdict.replay import replay
from nanolint.verdict.search import best_fit
from nanolint.verdict.verdict import judge
from tests.support.runs import GPT2, GPT2_XL, SMALL, card


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
    assert fit.verdict.margin_bytes > 0
    assert fit.verdict.process_bytes + fit.verdict.margin_bytes == target.gpu.total_bytes


def test_a_run_that_must_give_caches_back_is_told_as_it_is_on_the_card() -> None:
    run = replace(GPT2, batch_size=300, gradient_accumulation_steps=40, eval_only=True)
    target = card("12GB")
    fit = best_fit(run, target)
    assert fit is not None
    assert fit.verdict.process_bytes < target.gpu.total_bytes


TINY = replace(SMALL, batch_size=64)


@pytest.mark.parametrize("allocator", ["default", "expandable"])
@pytest.mark.parametrize(
    ("name", "compiled"), [("353MiB", True), ("345MiB", True), ("4GiB", False)]
)
def test_what_is_reserved_is_never_more_than_the_card_lets_it(
    allocator: str, name: str, compiled: bool
) -> None:
    run, target = replace(TINY, compile=compiled), card(name)
    expandable = allocator == "expandable"
    verdict = judge(run, replace(target, allocator=allocator))
    unlimited = replay(run, target.gpu, expandable=expandable).peak.reserved_bytes
    limited = replay(
        run, target.gpu, limit_bytes=verdict.usable_bytes, expandable=expandable
    ).peak.reserved_bytes
    found = verdict.reserved_bytes
    assert found == (limited if verdict.fits else unlimited)
    assert (found <= verdict.usable_bytes) is verdict.fits


def test_an_evaluation_keeps_the_number_of_its_sequences() -> None:
    run = replace(TINY, batch_size=3, eval_only=True, eval_iters=5)
    fit = best_fit(run, card("24GiB"))
    assert fit is not None
    assert (fit.run.batch_size, fit.run.eval_iters) == (15, 1)
    assert fit.run.gradient_accumulation_steps == run.gradient_accumulation_steps
    own = best_fit(replace(run, batch_size=15, eval_iters=1), card("24GiB"))
    assert own is not None
    assert own.is_own


def test_a_lone_sequence_can_be_the_largest_micro_batch() -> None:
    run = replace(TINY, batch_size=997, gradient_accumulation_steps=1)
    fit = best_fit(run, card("300MiB"))
    assert fit is not None
    assert (fit.run.batch_size, fit.run.gradient_accumulation_steps) == (1, 997)
    assert not fit.is_own
