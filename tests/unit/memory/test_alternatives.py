"""Ways out of an out-of-memory error: in the order of the advice, each with its verdict."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from nanolint.memory.verdict.alternative import Alternative, Cost
from nanolint.memory.verdict.alternatives import Alternatives
from nanolint.memory.verdict.search import best_micro_batch
from nanolint.memory.verdict.verdict import Outcome, Verdict, judge
from nanolint.memory.verdict.ways.logits import logits_deleted
from nanolint.run.program import ReadScript, SourceText
from nanolint.run.run import Attention
from nanolint.trainers.nanogpt.keys import PRETRAINED_SIZES
from nanolint.trainers.nanogpt.own import own_script
from nanolint.units import GIB
from tests.support.runs import GPT2, GPT2_XL, SMALL, card

if TYPE_CHECKING:
    from collections.abc import Callable

    from nanolint.gpus.gpu import Machine
    from nanolint.run.run import Run

FITS = Outcome.COMFORTABLE


@pytest.fixture(scope="module")
def ways() -> dict[str, Alternative]:
    return {way.change: way for way in Alternatives(GPT2, card("rtx-3060"))}


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
    medium = replace(
        GPT2, n_layer=24, n_head=16, n_embd=1024, batch_size=8, gradient_accumulation_steps=8
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
        assert way.verdict.run.n_layer == 24


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


def test_batch_8_with_accumulation_64_is_what_fits(ways: dict[str, Alternative]) -> None:
    way = ways["batch_size = 8, gradient_accumulation_steps = 64"]
    assert way.verdict.outcome is FITS


def test_half_the_batch_alone_needs_as_much(ways: dict[str, Alternative]) -> None:
    alone = Alternatives(GPT2, card("rtx-3060"))._half_the_batch()
    assert alone is not None
    assert alone.change == "batch_size = 8 (effective batch 256)"
    kept = ways["batch_size = 8, gradient_accumulation_steps = 64"]
    assert alone.verdict.process_bytes == kept.verdict.process_bytes


def test_turning_compile_off_needs_more(ways: dict[str, Alternative]) -> None:
    way = ways["compile = False"]
    assert way.verdict.outcome is Outcome.OUT_OF_MEMORY
    assert way.verdict.process_bytes > judge(GPT2, card("rtx-3060")).process_bytes


def test_a_narrower_model_has_heads_that_divide_it() -> None:
    way = Alternatives(GPT2, card("rtx-3060"))._narrower()
    assert way is not None
    n_embd, n_head = (int(part.split(" = ")[1]) for part in way.change.split(", "))
    assert n_embd % n_head == 0
    assert n_embd // n_head == 64
    assert way.verdict.outcome is FITS


def test_the_largest_model_that_fits_is_offered() -> None:
    target = card("rtx-3060")
    way = Alternatives(GPT2, target)._fewer_layers()
    assert way is not None
    layers = int(way.change.split(" = ")[1])
    assert way.verdict.outcome is FITS
    assert judge(replace(GPT2, n_layer=layers + 1), target).outcome is not FITS


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


def test_compile_is_not_offered_where_triton_refuses() -> None:
    run = replace(GPT2, compile=False, dtype="float16", attention=Attention.EFFICIENT)
    assert Alternatives(run, card("gtx-1080-ti"))._compile_either_way() is None
    way = Alternatives(run, card("v100-16gb"))._compile_either_way()
    assert way is not None
    assert way.change == "compile = True"


def test_an_evaluation_keeps_the_number_of_its_sequences() -> None:
    run = replace(GPT2, batch_size=200, eval_only=True, eval_iters=100)
    first = next(iter(Alternatives(run, card("rtx-3060"))))
    batch, iters = (int(part.split(" = ")[1]) for part in first.change.split(", "))
    assert "eval_iters" in first.change
    assert batch * iters == 200 * 100
    assert first.verdict.outcome is FITS


def texts(run: Run) -> tuple[SourceText, ...]:
    return run.program.modules if isinstance(run.program, ReadScript) else ()


def says(run: Run, text: str) -> bool:
    """Whether the texts of a run say something that nanoGPT's own do not."""
    return any(text in each.text for each in texts(run))


def deleted(run: Run) -> Run:
    """A run whose script deletes the logits."""
    found = logits_deleted(own_script())
    assert found is not None
    return replace(run, program=found.program)


TINY = replace(SMALL, batch_size=64, compile=False)


def changes(run: Run, target: Machine) -> list[str]:
    return [way.change for way in Alternatives(run, target)]


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


def test_the_way_by_expandable_segments_is_judged_with_them() -> None:
    target = card("4GiB")
    way = {way.change: way for way in Alternatives(TINY, target)}[
        "expandable_segments:True in the environment"
    ]
    assert (
        way.verdict.process_bytes
        == judge(TINY, replace(target, allocator="expandable")).process_bytes
    )
    assert way.verdict.process_bytes < judge(TINY, target).process_bytes


def test_expandable_segments_are_not_offered_to_who_has_them() -> None:
    told = changes(TINY, replace(card("400MiB"), allocator="expandable"))
    assert not any("expandable" in change for change in told)


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
        (replace(TINY, n_layer=1), "expandable", "n_layer"),
        (replace(TINY, n_head=1), "expandable", "n_embd"),
        (deleted(TINY), "expandable", "del logits"),
    ],
)
def test_only_what_can_be_changed_is_offered(run: Run, told: str, untold: str) -> None:
    found = changes(run, card("220MiB" if run.batch_size > 2 else "190MiB"))
    assert any(told in change for change in found)
    assert not any(untold in change for change in found)


def test_a_checkpoint_has_its_sizes_and_the_smallest_has_no_smaller_one() -> None:
    single = replace(GPT2, batch_size=1, gradient_accumulation_steps=1)
    run = replace(single, init_from="gpt2", vocab_size=50257, bias=True)
    found = changes(run, card("2300MiB"))
    assert any("del logits" in change for change in found)
    assert any("block_size" in change for change in found)
    assert not any(key in change for change in found for key in ("init_from", "n_layer", "n_embd"))


class Judged(Alternatives):
    """With a verdict of the test's own, and the runs that were asked about."""

    def __init__(self, run: Run, fits: Callable[[Run], bool]) -> None:
        super().__init__(run, card("t4"))
        self.fits = fits
        self.asked: list[Run] = []

    def _of(self, change: str, run: Run, target: Machine | None = None) -> Alternative:
        self.asked.append(run)
        outcome = FITS if self.fits(run) else Outcome.OUT_OF_MEMORY
        return Alternative(change, Verdict(run, target or self._target, outcome, None, 0, 0))


@pytest.mark.parametrize("most", range(9))
def test_the_largest_of_many_sizes_that_fit_is_offered(most: int) -> None:
    layers = Judged(replace(TINY, n_layer=9), lambda run: run.n_layer <= most)._fewer_layers()
    wide = Judged(replace(TINY, n_head=9, n_embd=144), lambda run: run.n_head <= most)
    heads = wide._narrower()
    assert all(each.n_embd == 16 * each.n_head for each in wide.asked)
    if most < 5:  # less than half of a model is another model
        assert (layers, heads) == (None, None)
        return
    assert layers is not None
    assert layers.change == f"n_layer = {most}"
    assert heads is not None
    assert heads.change == f"n_embd = {16 * most}, n_head = {most}"


@pytest.mark.parametrize(("most", "told"), [(8, None), (4, "n_layer = 3"), (2, None)])
def test_a_smaller_shape_is_offered_if_half_of_either_is_too_much(
    most: int, told: str | None
) -> None:
    run = replace(TINY, n_layer=8, n_head=10, n_embd=160)
    way = Judged(run, lambda run: max(run.n_layer, run.n_head) <= most)._smaller()
    assert (way and way.change.partition(",")[0]) == told


@pytest.mark.parametrize(("layers", "name"), [(36, "gpt2-large"), (24, "gpt2-medium"), (0, "gpt2")])
def test_the_largest_checkpoint_that_fits_is_offered(layers: int, name: str) -> None:
    judged = Judged(GPT2_XL, lambda run: run.n_layer <= layers)
    way = judged._smaller_checkpoint()
    assert way is not None
    assert way.change == f"init_from = {name!r}"
    last = judged.asked[-1]
    assert (last.n_layer, last.n_head, last.n_embd) == PRETRAINED_SIZES[name]
    assert last.init_from == name
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
