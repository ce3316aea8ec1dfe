"""The speed that explain and fit tell: the products of a step over what the maker promises."""

from __future__ import annotations

from dataclasses import replace

import pytest

from nanolint.gpus.abilities import matrix_flops
from nanolint.gpus.lookup import find
from nanolint.verdict.speed import speed
from tests.support.runs import GPT2, card, layers, width


@pytest.mark.parametrize(
    ("name", "dtype", "teraflops"),
    [  # NVIDIA's data sheets and white papers, dense, sums in float32
        ("v100-16gb", "float16", 125),
        ("t4", "float16", 65),
        ("rtx-2080-ti", "float16", 53.8),
        ("a100-40gb", "bfloat16", 312),
        ("a100-40gb", "float32", 156),
        ("rtx-3090", "bfloat16", 71),
        ("rtx-a6000", "bfloat16", 154.8),
        ("rtx-4090", "bfloat16", 165.2),
        ("l40s", "bfloat16", 362),
        ("h100", "bfloat16", 989),
        ("rtx-5090", "bfloat16", 209.5),
        ("b200", "bfloat16", 2250),
    ],
)
def test_the_peak_is_what_the_maker_says(name: str, dtype: str, teraflops: float) -> None:
    peak = matrix_flops(find(name).gpu, dtype)
    assert peak is not None
    # Clocks in the catalogue are those of the board, which data sheets round down.
    assert peak / 1e12 == pytest.approx(teraflops, rel=0.09)


@pytest.mark.parametrize(
    ("name", "dtype"),
    [("t4", "bfloat16"), ("t4", "float32"), ("gtx-1660", "float16"), ("12GB", "bfloat16")],
)
def test_nothing_is_said_of_what_a_card_is_not_made_for(name: str, dtype: str) -> None:
    assert matrix_flops(find(name).gpu, dtype) is None


def test_operations_are_about_those_of_estimate_mfu() -> None:
    # model.py: N = get_num_params(); flops_per_token = 6*N + 12*L*H*Q*T. Flash attention computes
    # its scores again in its backward pass: 14 in the place of 12.
    found = speed(GPT2, card("a100-40gb"))
    assert found is not None
    numbers = layers(GPT2) * width(GPT2) * GPT2.block_size
    estimated = 6 * GPT2.parameters_reported + 12 * numbers
    assert found.tokens == GPT2.tokens_per_iter
    again = 2 * numbers
    assert found.flops / found.tokens == pytest.approx(estimated + again, rel=1e-3)


def test_more_cards_are_faster_and_a_longer_run_takes_longer() -> None:
    one, eight = card("a100-40gb"), replace(GPT2, world_size=8)
    alone, together = speed(GPT2, one), speed(eight, one)
    assert alone is not None and together is not None
    assert together.tokens_per_second[0] == pytest.approx(8 * alone.tokens_per_second[0], rel=1e-4)
    shortest, longest = alone.seconds(1_000_000)
    assert 0 < shortest < longest
    assert alone.seconds(2_000_000)[0] == pytest.approx(2 * shortest)


def test_runs_that_do_not_train_have_no_speed() -> None:
    assert speed(replace(GPT2, eval_only=True), card("a100-40gb")) is None


def test_the_range_holds_the_time_that_nanogpts_readme_tells() -> None:
    # "takes about 4 days" on 8 A100 40GB: 600,000 steps of 491,520 tokens
    found = speed(replace(GPT2, world_size=8), card("a100-40gb"))
    assert found is not None
    shortest, longest = found.seconds(600_000 * 491_520)
    assert shortest < 4 * 86_400 < longest
