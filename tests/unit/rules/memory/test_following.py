"""What the file computes from the micro-batch follows by itself, where it comes out right."""

from __future__ import annotations

import pytest

from tests.support.harness import Bench

SIZES = "block_size = 256\nn_layer = 2\nn_head = 4\nn_embd = 256\n"
BENCH = Bench("NL102", gpu="1GiB")


@pytest.mark.parametrize(
    "following",
    [
        "gradient_accumulation_steps = 512 // batch_size\n",
        "gradient_accumulation_steps = 64 * 8 // batch_size\n",
        "gradient_accumulation_steps = 131072 // (batch_size * block_size)\n",
        "TOTAL = 512\ngradient_accumulation_steps = TOTAL // batch_size  # kept\n",
        "gradient_accumulation_steps = (\n    512  # sequences\n    // batch_size\n)\n",
        "gradient_accumulation_steps = 512 // batch_size\n"
        "max_iters = 51200 // (batch_size * gradient_accumulation_steps)\n",
    ],
)
def test_one_number_is_changed(following: str) -> None:
    text = f"{SIZES}batch_size = 64\n{following}"
    assert BENCH.fixed(text) == text.replace("batch_size = 64\n", "batch_size = 4\n")
    fix = BENCH.finding(text).fix
    assert fix is not None
    assert fix.title == "Set batch_size = 4; gradient_accumulation_steps = 128 follows from it"


@pytest.mark.parametrize(
    "computed",
    [
        "gradient_accumulation_steps = 8\nwarmup_iters = 100 * batch_size\n",
        "gradient_accumulation_steps = 520 // batch_size\n",  # 64 x 8, but 4 x 130
        "gradient_accumulation_steps = 8 if batch_size > 8 else 64\n",
        "gradient_accumulation_steps = 8\nif batch_size > 8:\n    max_iters = 5\n",
        "x = gradient_accumulation_steps = 512 // batch_size\n",
    ],
)
def test_what_would_come_out_otherwise_is_in_the_way(computed: str) -> None:
    text = f"{SIZES}batch_size = 64\n{computed}"
    assert BENCH.fixed(text) == text
    notes = BENCH.finding(text).notes
    assert any(" from batch_size" in note for note in notes), notes


def test_a_value_that_stays_the_same_is_not_in_the_way() -> None:
    text = f"{SIZES}batch_size = 64\ngradient_accumulation_steps = 8\n"
    text += "lr_decay_iters = 51200 // (batch_size * gradient_accumulation_steps)\n"
    after = text.replace("= 64\n", "= 4\n").replace("steps = 8\n", "steps = 128\n")
    assert BENCH.fixed(text) == after
