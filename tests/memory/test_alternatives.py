"""Ways out of an out-of-memory error: in the order of the advice, each with its verdict."""

from __future__ import annotations

from dataclasses import replace

import pytest

from nanolint.memory.alternatives import Alternative, Alternatives
from nanolint.memory.verdict import Outcome, judge
from nanolint.run.model import Attention
from nanolint.units import GIB
from tests.memory.runs import GPT2, GPT2_XL, card

FITS = Outcome.COMFORTABLE


@pytest.fixture(scope="module")
def ways() -> dict[str, Alternative]:
    return {way.change: way for way in Alternatives(GPT2, card("rtx-3060"))}


def test_they_come_in_the_order_of_the_advice(ways: dict[str, Alternative]) -> None:
    words = [change.split()[0] for change in ways]
    assert words == [
        *("batch_size", "batch_size", "block_size", "compile", "n_layer", "n_embd", "del"),
        "expandable_segments:True",
    ]


def test_batch_8_with_accumulation_64_is_what_fits(ways: dict[str, Alternative]) -> None:
    way = ways["batch_size = 8, gradient_accumulation_steps = 64"]
    assert way.outcome is FITS


def test_half_the_batch_alone_needs_as_much(ways: dict[str, Alternative]) -> None:
    alone = ways["batch_size = 8 (effective batch 256)"]
    kept = ways["batch_size = 8, gradient_accumulation_steps = 64"]
    assert alone.process_bytes == kept.process_bytes


def test_turning_compile_off_needs_more(ways: dict[str, Alternative]) -> None:
    way = ways["compile = False"]
    assert way.outcome is Outcome.OUT_OF_MEMORY
    assert way.process_bytes > judge(GPT2, card("rtx-3060")).process_bytes


def test_a_narrower_model_has_heads_that_divide_it(ways: dict[str, Alternative]) -> None:
    change = next(change for change in ways if change.startswith("n_embd"))
    n_embd, n_head = (int(part.split(" = ")[1]) for part in change.split(", "))
    assert n_embd % n_head == 0
    assert n_embd // n_head == 64
    assert ways[change].outcome is FITS


def test_the_largest_model_that_fits_is_offered() -> None:
    target = card("rtx-3060")
    (way,) = [w for w in Alternatives(GPT2, target) if w.change.startswith("n_layer")]
    layers = int(way.change.split(" = ")[1])
    assert way.outcome is FITS
    assert judge(replace(GPT2, n_layer=layers + 1), target).outcome is not FITS


def test_closing_other_programs_is_offered_where_there_are_any() -> None:
    run = replace(GPT2, batch_size=12, gradient_accumulation_steps=1)
    crowded = list(Alternatives(run, card("rtx-3060", in_use_bytes=3 * GIB)))
    assert crowded[-1].change == "other programs closed (frees 3.00 GiB)"
    assert crowded[-1].outcome is FITS


def test_a_checkpoint_keeps_its_layers_but_a_smaller_one_exists() -> None:
    ways = list(Alternatives(GPT2_XL, card("rtx-3090")))
    assert not any(way.change.startswith(("n_layer", "n_embd")) for way in ways)
    (smaller,) = [way for way in ways if way.change.startswith("init_from")]
    assert smaller.change == "init_from = 'gpt2-large'"
    assert smaller.outcome is FITS


def test_compile_is_not_offered_where_triton_refuses() -> None:
    run = replace(GPT2, compile=False, dtype="float16", attention=Attention.EFFICIENT)
    old = [way.change for way in Alternatives(run, card("gtx-1080-ti"))]
    assert "compile = True" not in old
    assert "compile = True" in [way.change for way in Alternatives(run, card("v100-16gb"))]


def test_an_evaluation_keeps_the_number_of_its_sequences() -> None:
    run = replace(GPT2, batch_size=200, eval_only=True, eval_iters=100)
    first = next(iter(Alternatives(run, card("rtx-3060"))))
    batch, iters = (int(part.split(" = ")[1]) for part in first.change.split(", "))
    assert "eval_iters" in first.change
    assert batch * iters == 200 * 100
    assert first.outcome is FITS
