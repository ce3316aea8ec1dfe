"""With several targets one micro-batch is chosen for all of them, and the message says so."""

from __future__ import annotations

from tests.support.harness import Bench

GPT2 = (
    "batch_size = 12\nblock_size = 1024\ngradient_accumulation_steps = 5 * 8\ndtype = 'float16'\n"
)


OUT_OF_MEMORY = ("NL101", "NL102", "NL104")


def told(gpu: str, text: str = GPT2) -> list[str]:
    """The way out that each card's finding ends with."""
    found = Bench("NL102", gpu=gpu).report(text).diagnostics
    return [each.remedy for each in found if each.code in OUT_OF_MEMORY]


def test_a_micro_batch_for_one_card_is_told_as_its_own() -> None:
    assert told("rtx-3070") == [
        "batch_size = 6, gradient_accumulation_steps = 80 fits, effective batch 480 kept"
    ]


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
