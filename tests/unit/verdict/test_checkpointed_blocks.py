"""nanoGPT's blocks through torch.utils.checkpoint: what PyTorch allocates, and what is offered."""

from __future__ import annotations

from dataclasses import replace

import pytest

from nanolint.recording.recording import allocated_bytes
from nanolint.trainers.nanogpt.own import own_script
from nanolint.verdict.alternatives import Alternatives
from nanolint.verdict.ways.blocks import blocks_checkpointed
from tests.support.runs import GPT2, card

# `nanolint trace --gpu rtx-4070 -- python train.py config/train_gpt2.py --batch_size=4
# --gradient_accumulation_steps=3 --compile=False --dtype=...` of PyTorch 2.13.0, where nanoGPT's
# model.py has `x = checkpoint(block, x, use_reentrant=False)` in place of `x = block(x)`.
TRACED = {"bfloat16": 4_726_910_464, "float32": 5_480_081_920}


@pytest.mark.parametrize("dtype", TRACED)
def test_they_allocate_what_pytorch_does(dtype: str) -> None:
    found = blocks_checkpointed(own_script())
    assert found is not None
    run = replace(
        GPT2,
        batch_size=4,
        gradient_accumulation_steps=3,
        compile=False,
        dtype=dtype,
        torch=(2, 13),
        program=found.program,
    )
    assert allocated_bytes(run, card("rtx-4070").gpu) == TRACED[dtype]


def test_an_evaluation_saves_nothing_that_could_be_dropped() -> None:
    run = replace(GPT2, eval_only=True, batch_size=256)
    assert not [way for way in Alternatives(run, card("rtx-3060")) if "checkpoint" in way.change]
