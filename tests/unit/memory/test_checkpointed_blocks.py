"""nanoGPT's blocks through torch.utils.checkpoint: what PyTorch allocates, and what is offered."""

from __future__ import annotations

from dataclasses import replace

import pytest

from nanolint.memory.recording import allocated_bytes
from nanolint.memory.verdict.alternative import Cost
from nanolint.memory.verdict.alternatives import Alternatives
from nanolint.memory.verdict.verdict import judge
from nanolint.memory.verdict.ways.blocks import blocks_checkpointed
from nanolint.trainers.nanogpt.own import own_script
from tests.support.runs import GPT2, GPT2_XL, card

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


def test_they_are_a_way_out_that_says_its_price() -> None:
    eager = replace(GPT2_XL, compile=False, init_from="scratch", batch_size=2)
    (way,) = [way for way in Alternatives(eager, card("a100-40gb")) if "checkpoint" in way.change]
    assert (way.change, way.cost) == ("blocks in torch.utils.checkpoint", Cost.SLOWER)
    assert way.price == "about a third more compute"
    assert way.verdict.process_bytes < judge(eager, card("a100-40gb")).process_bytes


def test_those_of_a_pretrained_checkpoint_are_checkpointed_too() -> None:
    eager = replace(GPT2_XL, compile=False)
    (way,) = [way for way in Alternatives(eager, card("a100-40gb")) if "checkpoint" in way.change]
    assert way.verdict.process_bytes < judge(eager, card("a100-40gb")).process_bytes


def test_a_compiled_run_would_have_to_be_eager() -> None:
    ways = [way for way in Alternatives(GPT2, card("rtx-3060")) if "checkpoint" in way.change]
    assert [way.verdict.run.compile for way in ways] == [False]
    assert ways[0].change == "compile = False, blocks in torch.utils.checkpoint"


def test_an_evaluation_saves_nothing_that_could_be_dropped() -> None:
    run = replace(GPT2, eval_only=True, batch_size=256)
    assert not [way for way in Alternatives(run, card("rtx-3060")) if "checkpoint" in way.change]
