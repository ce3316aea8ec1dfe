"""Ways out of an out-of-memory error: in the order of the advice, each with its verdict.

These take seconds each.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from nanolint.run.run import Attention
from nanolint.trainers.nanogpt.keys import PRETRAINED_SIZES
from nanolint.units import GIB
from nanolint.verdict.alternatives import Alternatives
from nanolint.verdict.changes import Alternative, Cost
from nanolint.verdict.search import best_micro_batch
from nanolint.verdict.verdict import judge
from tests.support.runs import GPT2, GPT2_XL, card, heads, layers

if TYPE_CHECKING:
    from nanolint.run.run import Run
from tests.unit.verdict.test_alternatives import (
    FITS,
    TINY,
    Judged,
    changes,
    deleted,
    says,
    texts,
    ways,
)


def test_they_come_in_the_order_of_what_they_cost() -> None:
    single = replace(GPT2, batch_size=1, gradient_accumulation_steps=1)
    ways = Alternatives(single, card("2300MiB"))
    told = [(way.cost, way.change.split()[0]) for way in ways]
    assert told == [
        (Cost.SAME, "expandable_segments:True"),
        (Cost.SAME, "del"),
        (Cost.SLOWER, "compile"),
        (Cost.SLOWER, "compile"),
        (Cost.NUMERICS, "compile"),
        (Cost.MODEL, "block_size"),
        (Cost.MODEL, "n_layer"),
        (Cost.MODEL, "n_embd"),
    ]


def test_what_changes_the_batch_or_the_model_is_not_tried_where_another_way_fits(
    ways: dict[str, Alternative],
) -> None:
    told = [(way.cost, change.split()[0]) for change, way in ways.items()]
    assert told == [
        (Cost.SAME, "batch_size"),
        (Cost.SAME, "expandable_segments:True"),
        (Cost.SAME, "del"),
        (Cost.SLOWER, "compile"),
        (Cost.SLOWER, "compile"),
        (Cost.NUMERICS, "compile"),
    ]


def test_where_no_micro_batch_is_enough_the_others_are_tried_with_the_smallest() -> None:
    medium = GPT2.having(
        n_layer=24, n_head=16, n_embd=1024, batch_size=8, gradient_accumulation_steps=8
    )
    target = card("rtx-4060")
    assert best_micro_batch([(medium, target)]) is None
    ways = list(Alternatives(medium, target))
    assert {way.beside for way in ways} == {"batch_size = 1, gradient_accumulation_steps = 64"}
    fitting = [way for way in ways if way.verdict.outcome is FITS]
    assert fitting
    for way in fitting:
        assert way.whole == f"{way.beside}, {way.change}"
        assert way.verdict.run.effective_batch_size == medium.effective_batch_size
        assert way.verdict.run.sizes.n_layer == 24


def test_where_the_optimizer_step_alone_is_too_much_only_what_lowers_it_is_tried() -> None:
    assert changes(GPT2, card("1800MiB")) == [], "no shape that anybody would take fits"
    held = card("rtx-3060", in_use_bytes=10 * GIB)
    assert changes(GPT2, held)[0] == "other programs closed (frees 10.0 GiB)"


def test_half_precision_is_that_of_the_card() -> None:
    full = replace(GPT2, dtype="float32")
    for name, half in (("rtx-3060", "bfloat16"), ("t4", "float16")):
        ways = {way.change: way for way in Alternatives(full, card(name))}
        way = ways[f"dtype = '{half}'"]
        assert way.cost is Cost.NUMERICS
        assert way.verdict.process_bytes < judge(full, card(name)).process_bytes


def test_closing_other_programs_is_offered_where_there_are_any() -> None:
    run = replace(GPT2, batch_size=12, gradient_accumulation_steps=1)
    crowded = list(Alternatives(run, card("rtx-3060", in_use_bytes=3 * GIB)))
    (closed,) = [way for way in crowded if way.change.startswith("other programs closed")]
    assert closed.change == "other programs closed (frees 3.0 GiB)"
    assert closed.verdict.outcome is FITS


def test_a_checkpoint_keeps_its_layers_but_a_smaller_one_exists() -> None:
    ways = Alternatives(GPT2_XL, card("rtx-3090"))
    assert ways._fewer_layers() is ways._narrower() is None
    smaller = ways._smaller_checkpoint()
    assert smaller is not None
    assert smaller.change == "init_from = 'gpt2-large'"
    assert smaller.verdict.outcome is FITS


def test_each_is_judged_with_the_allocator_and_on_the_platform_of_the_run() -> None:
    usual = card("430MiB")
    for target in (
        replace(usual, allocator="expandable"),
        replace(usual, platform="windows"),
        usual,
    ):
        ways = {way.change: way for way in Alternatives(TINY, target)}
        verdict = judge(replace(TINY, compile=True), target)
        way = ways["compile = True"]
        assert way.verdict == verdict
        found = best_micro_batch([(TINY, target)])
        assert found is not None
        assert ways[str(found)].verdict.outcome is FITS


def test_a_card_without_a_known_capability_may_compile() -> None:
    assert "compile = True" in changes(TINY, card("400MiB"))
    assert "compile = True" not in changes(replace(TINY, attention=Attention.MATH), card("400MiB"))


@pytest.mark.parametrize(
    ("run", "told", "untold"),
    [
        (replace(TINY, batch_size=1), "expandable", "batch_size"),
        (replace(TINY, eval_only=True), "expandable", "(effective"),
        (replace(TINY, block_size=130), "block_size = 65", "block_size = 32"),
        (replace(TINY, block_size=127), "expandable", "block_size"),
        (replace(TINY, block_size=126), "expandable", "block_size"),
        (replace(TINY, block_size=128), "block_size = 64", "block_size = 32"),
        (TINY.having(n_layer=1), "expandable", "n_layer"),
        (TINY.having(n_head=1), "expandable", "n_embd"),
        (deleted(TINY), "expandable", "del logits"),
    ],
)
def test_only_what_can_be_changed_is_offered(run: Run, told: str, untold: str) -> None:
    found = changes(run, card("220MiB" if run.batch_size > 2 else "190MiB"))
    assert any(told in change for change in found)
    assert not any(untold in change for change in found)


def test_a_checkpoint_has_its_sizes_and_the_smallest_has_no_smaller_one() -> None:
    single = replace(GPT2, batch_size=1, gradient_accumulation_steps=1)
    run = single.having(init_from="gpt2", vocab_size=50257, bias=True)
    found = changes(run, card("2300MiB"))
    assert any("del logits" in change for change in found)
    assert any("block_size" in change for change in found)
    assert not any(key in change for change in found for key in ("init_from", "n_layer", "n_embd"))


@pytest.mark.parametrize("most", range(9))
def test_the_largest_of_many_sizes_that_fit_is_offered(most: int) -> None:
    shallow = Judged(TINY.having(n_layer=9), lambda run: layers(run) <= most)._fewer_layers()
    wide = Judged(TINY.having(n_head=9, n_embd=144), lambda run: heads(run) <= most)
    narrow = wide._narrower()
    assert all(each.sizes.n_embd == 16 * heads(each) for each in wide.asked)
    if most < 5:  # less than half of a model is another model
        assert (shallow, narrow) == (None, None)
        return
    assert shallow is not None
    assert shallow.change == f"n_layer = {most}"
    assert narrow is not None
    assert narrow.change == f"n_embd = {16 * most}, n_head = {most}"


@pytest.mark.parametrize(("most", "told"), [(8, None), (4, "n_layer = 3"), (2, None)])
def test_a_smaller_shape_is_offered_if_half_of_either_is_too_much(
    most: int, told: str | None
) -> None:
    run = TINY.having(n_layer=8, n_head=10, n_embd=160)
    way = Judged(run, lambda run: max(layers(run), heads(run)) <= most)._smaller()
    assert (way and way.change.partition(",")[0]) == told


@pytest.mark.parametrize(("most", "name"), [(36, "gpt2-large"), (24, "gpt2-medium"), (0, "gpt2")])
def test_the_largest_checkpoint_that_fits_is_offered(most: int, name: str) -> None:
    judged = Judged(GPT2_XL, lambda run: layers(run) <= most)
    way = judged._smaller_checkpoint()
    assert way is not None
    assert way.change == f"init_from = {name!r}"
    last = judged.asked[-1]
    sizes = last.sizes
    assert (sizes.n_layer, sizes.n_head, sizes.n_embd) == PRETRAINED_SIZES[name]
    assert sizes.init_from == name
    assert last.block_size == GPT2_XL.block_size


def test_what_is_told_is_what_is_judged() -> None:
    judged = Judged(replace(GPT2, batch_size=512, gradient_accumulation_steps=3), lambda _: False)
    told = [way.change for way in judged]
    first = judged.asked[0]
    steps = first.gradient_accumulation_steps
    assert told[0] == f"batch_size = {first.batch_size}, gradient_accumulation_steps = {steps}"
    assert first.batch_size * steps == 512 * 3
    half = judged._half_the_batch()
    assert half is not None
    assert half.change == "batch_size = 256 (effective batch 768)"
    assert half.verdict.run.gradient_accumulation_steps == 3
    eager = [run for run in judged.asked if not run.compile]
    assert [says(run, "checkpoint(") for run in eager] == [False, True, False]
    assert [says(run, "linear_cross_entropy(") for run in eager] == [False, False, True]
    assert {run.block_size for run in judged.asked} == {1024}  # the batch can be kept
    (way,) = [run for run in judged.asked if says(run, "del logits")]
    assert sum(each.text.count("; del logits") for each in texts(way)) == 2


__all__ = ["ways"]  # fixtures
