"""Runs of which the same is played count as one."""

from __future__ import annotations

from typing import Any

import pytest

from nanolint.run.run import Dialect
from nanolint.script.played import played, representative
from tests.support.runs import GPT2


@pytest.mark.parametrize(
    "changes",
    [
        {"max_iters": 5_000},
        {"eval_iters": 2},
        {"gradient_accumulation_steps": 40},
        {"gradient_accumulation_steps": 4},
        {"eval_interval": 100},
        {"dialect": Dialect.PER_GPU},
    ],
    ids=str,
)
def test_what_repeats_makes_no_other_run(changes: dict[str, Any]) -> None:
    assert representative(GPT2.having(**changes)) == representative(GPT2)


@pytest.mark.parametrize(
    "changes",
    [
        {"batch_size": 17},
        {"max_iters": 0},
        {"max_iters": 1},
        {"max_iters": 100},  # no second evaluation
        {"eval_iters": 1},
        {"eval_interval": 0},
        {"gradient_accumulation_steps": 31},
        {"gradient_accumulation_steps": 2},
        {"world_size": 8},
    ],
    ids=str,
)
def test_what_is_played_otherwise_makes_another_run(changes: dict[str, Any]) -> None:
    assert representative(GPT2.having(**changes)) != representative(GPT2)


def test_an_even_accumulation_stays_even_and_an_odd_one_odd() -> None:
    assert [played(steps, 4) for steps in range(9)] == [1, 1, 2, 3, 4, 3, 4, 3, 4]
    assert [played(steps, 1) for steps in range(5)] == [1, 1, 1, 1, 1]
