"""Comments behind code keep their column where there is room."""

from __future__ import annotations

import pytest

from tests.support.harness import Bench

SIZES = "n_layer = 2\nn_head = 4\nn_embd = 256\nblock_size = 256\n"


def fixed(batch: str, steps: str, between: str = "") -> str:
    """The lines of batch_size and accumulation, fixed to 4 and sixteen times as much."""
    text = Bench("NL102", gpu="1GiB").fixed(f"{SIZES}{batch}\n{between}{steps}\n")
    return text.removeprefix(SIZES)


@pytest.mark.parametrize(
    ("batch", "after"),
    [
        ("batch_size = 64   # why", "batch_size = 4    # why"),
        ("batch_size = 64          # why", "batch_size = 4           # why"),
        ("batch_size = 64  # why", "batch_size = 4  # why"),
        ("batch_size = 64 # why", "batch_size = 4 # why"),
        ("batch_size = 64# why", "batch_size = 4# why"),
        ("batch_size = 64\t\t# why", "batch_size = 4\t\t# why"),
        ("batch_size = 16 * 4      # why", "batch_size = 1 * 4       # why"),
        ("batch_size = (64)     # why", "batch_size = (4)      # why"),
        ("batch_size = 64    ; seed = 1    # why", "batch_size = 4    ; seed = 1     # why"),
    ],
)
def test_a_shorter_value(batch: str, after: str) -> None:
    assert fixed(batch, "gradient_accumulation_steps = 2").splitlines()[0] == after


@pytest.mark.parametrize(
    ("steps", "after"),
    [
        ("gradient_accumulation_steps = 2     # why", "gradient_accumulation_steps = 32    # why"),
        ("gradient_accumulation_steps = 2   # why", "gradient_accumulation_steps = 32  # why"),
        ("gradient_accumulation_steps = 2  # why", "gradient_accumulation_steps = 32  # why"),
        ("gradient_accumulation_steps = 2 # why", "gradient_accumulation_steps = 32 # why"),
    ],
)
def test_a_longer_value(steps: str, after: str) -> None:
    assert fixed("batch_size = 64", steps).splitlines()[1] == after


def test_a_block_of_comments_stays_one() -> None:
    before = "batch_size = 64                  # a", "gradient_accumulation_steps = 2  # b"
    assert fixed(*before).splitlines() == [
        "batch_size = 4                   # a",
        "gradient_accumulation_steps = 32  # b",  # no room
    ]
    block = fixed(
        "batch_size = 64  # a", "gradient_accumulation_steps = 2", "bias = False     # b\n"
    )
    assert block.splitlines()[:2] == ["batch_size = 4   # a", "bias = False     # b"]


def test_a_sum_in_the_comment_does_not_move_it() -> None:
    text = fixed("batch_size = 64     # 64 * 2 = 128", "gradient_accumulation_steps = 2")
    assert text.splitlines()[0] == "batch_size = 4      # 4 * 32 = 128"
