"""nanoGPT's blocks through torch.utils.checkpoint: what PyTorch allocates, and what is offered.

These take seconds each.
"""

from __future__ import annotations

from nanolint.verdict.alternatives import Alternatives
from nanolint.verdict.changes import Cost
from nanolint.verdict.verdict import judge
from tests.support.runs import GPT2, card


def test_they_are_a_way_out_that_says_its_price() -> None:
    eager = GPT2.having(compile=False, n_layer=4)
    (way,) = [way for way in Alternatives(eager, card("rtx-3060")) if "checkpoint" in way.change]
    assert (way.change, way.cost) == ("blocks in torch.utils.checkpoint", Cost.SLOWER)
    assert way.price == "about a third more compute"
    assert way.verdict.process_bytes < judge(eager, card("rtx-3060")).process_bytes


def test_those_of_a_pretrained_checkpoint_are_checkpointed_too() -> None:
    eager = GPT2.having(compile=False, init_from="gpt2", vocab_size=50257, bias=True)
    (way,) = [way for way in Alternatives(eager, card("rtx-3060")) if "checkpoint" in way.change]
    assert way.verdict.process_bytes < judge(eager, card("rtx-3060")).process_bytes


def test_a_compiled_run_would_have_to_be_eager() -> None:
    ways = [way for way in Alternatives(GPT2, card("rtx-3060")) if "checkpoint" in way.change]
    assert [way.verdict.run.compile for way in ways] == [False]
    assert ways[0].change == "compile = False, blocks in torch.utils.checkpoint"
