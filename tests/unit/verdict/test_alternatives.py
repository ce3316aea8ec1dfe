"""Ways out of an out-of-memory error: in the order of the advice, each with its verdict."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from nanolint.run.program import ReadScript, SourceText
from nanolint.run.run import Attention
from nanolint.trainers.nanogpt.own import own_script
from nanolint.verdict.alternatives import Alternatives
from nanolint.verdict.changes import Alternative
from nanolint.verdict.verdict import Outcome, Verdict, judge
from nanolint.verdict.ways.logits import logits_deleted
from tests.support.runs import GPT2, SMALL, card

if TYPE_CHECKING:
    from collections.abc import Callable

    from nanolint.gpus.gpu import Machine
    from nanolint.run.run import Run

FITS = Outcome.COMFORTABLE


@pytest.fixture(scope="module")
def ways() -> dict[str, Alternative]:
    return {way.change: way for way in Alternatives(GPT2, card("rtx-3060"))}


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
    assert judge(GPT2.having(n_layer=layers + 1), target).outcome is not FITS


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
