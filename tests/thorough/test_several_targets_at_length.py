"""With several targets one micro-batch is chosen for all of them, and the message says so.

These take seconds each.
"""

from __future__ import annotations

from tests.support.harness import Bench
from tests.unit.rules.memory.test_several_targets import GPT2, told


def test_a_micro_batch_for_all_cards_is_told_as_that() -> None:
    found = told("rtx-3070,rtx-3050-4gb,a100-40gb")
    assert found[0] == found[1]
    assert " fits every target, " in found[0]
    assert "batch_size = 6 " not in found[0], "the smaller card decides"


def test_so_is_that_there_is_none() -> None:
    text = GPT2.replace("12", "1").replace("1024", "129")
    found = Bench("NL414", gpu="1GB,a100-40gb").findings(text + "init_from = 'gpt2-xl'\n")
    assert [each.gpu for each in found] == ["1 GB card"]
    assert "no micro-batch fits every target" in found[0].remedy
