"""nanoGPT's blocks through torch.utils.checkpoint: what PyTorch allocates, and what is offered.

These take seconds each.
"""

from __future__ import annotations

from dataclasses import replace

from nanolint.verdict.alternatives import Alternatives
from nanolint.verdict.changes import Cost
from nanolint.verdict.verdict import judge
from tests.support.runs import GPT2, GPT2_XL, card


def test_they_are_a_way_out_that_says_its_price() -> None:
    eager = GPT2_XL.having(compile=False, init_from="scratch", batch_size=2)
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
