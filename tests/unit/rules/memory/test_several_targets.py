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
