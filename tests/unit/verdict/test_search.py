"""The micro-batch that the fixer writes: brute force over every divisor agrees."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nanolint.gpus.gpu import Gpu, Machine
from nanolint.run.run import Attention, Dialect, NanoGptSizes, Run
from nanolint.verdict import search
from nanolint.verdict.changes import micro_batch
from nanolint.verdict.search import best_micro_batch, divisors_down
from nanolint.verdict.verdict import Outcome, is_comfortable, judge

RUN = Run(
    batch_size=24,
    gradient_accumulation_steps=10,
    world_size=1,
    block_size=256,
    vocab_size=5000,
    dtype="bfloat16",
    compile=False,
    device="cuda",
    attention=Attention.FLASH,
    sizes=NanoGptSizes(2, 4, 128, dropout=0.0, bias=False, init_from="scratch"),
)


def card(mib: int) -> Machine:
    total = mib << 20
    return Machine(Gpu("card", "nvidia", total, total, 20, (8, 6), False, "test"))


def brute_force(run: Run, targets: list[Machine], *, upward: bool = False) -> int | None:
    product, best = run.batch_size * run.gradient_accumulation_steps, None
    for batch in range(1, product + 1):
        steps, rest = divmod(product, batch)
        if rest or batch == run.batch_size or (batch > run.batch_size) is not upward:
            continue
        if run.sizes.dialect is Dialect.TOTAL and steps % run.world_size:
            continue
        changed = replace(run, batch_size=batch, gradient_accumulation_steps=steps)
        if all(judge(changed, target).outcome is Outcome.COMFORTABLE for target in targets):
            best = batch
    return best


def test_with_eval_only_the_partner_is_eval_iters() -> None:
    run = replace(RUN, batch_size=512, eval_only=True, eval_iters=30)
    found = best_micro_batch([(run, card(1500))])
    assert found is not None
    assert found.counts["batch_size"] * found.counts["eval_iters"] == 512 * 30
    assert "gradient_accumulation_steps" not in found.counts


def test_nothing_fits_a_card_that_the_parameters_fill() -> None:
    assert best_micro_batch([(RUN, card(64))]) is None


def test_off_the_gpu_any_micro_batch_is_comfortable() -> None:
    run = replace(RUN, device="cpu")
    assert best_micro_batch([(run, card(64))]) == micro_batch(run, 20, 12)


def test_divisors_come_from_the_largest_down() -> None:
    assert list(divisors_down(6, 2, 12)) == [(12, 1), (6, 2), (4, 3), (3, 4), (2, 6), (1, 12)]
    assert list(divisors_down(6, 2, 5)) == [(4, 3), (3, 4), (2, 6), (1, 12)]
    assert list(divisors_down(6, 2, 0)) == []


@pytest.mark.parametrize("most", [1, 7, 36, 10**6])
def test_no_divisor_is_missed_and_none_is_invented(most: int) -> None:
    for batch in range(1, 31):
        for partner in range(1, 31):
            product = batch * partner
            assert list(divisors_down(batch, partner, most)) == [
                (d, product // d) for d in range(min(most, product), 0, -1) if product % d == 0
            ]


def test_a_platform_that_keeps_a_part_of_the_card_gets_a_smaller_micro_batch() -> None:
    run = replace(RUN, batch_size=720, gradient_accumulation_steps=1)
    large = Machine(Gpu("card", "nvidia", 4 << 30, 4 << 30, 20, (8, 6), False, "test"))
    on_linux = best_micro_batch([(run, large)])
    on_windows = best_micro_batch([(run, replace(large, platform="windows"))])
    assert on_linux is not None
    assert on_windows is not None
    assert on_windows.counts["batch_size"] < on_linux.counts["batch_size"]
    changed = on_windows.applied(run)
    assert is_comfortable(changed, replace(large, platform="windows"))


@pytest.mark.parametrize("changes", [{"batch_size": 0}, {"gradient_accumulation_steps": 0}])
def test_a_run_of_no_sequences_has_no_micro_batch(changes: dict[str, Any]) -> None:
    assert best_micro_batch([(RUN.having(**changes), card(2000))]) is None


def test_without_a_card_there_is_nothing_to_search_for() -> None:
    assert best_micro_batch([]) is None


def test_few_of_many_divisors_are_replayed(monkeypatch: pytest.MonkeyPatch) -> None:
    tried = []

    def counted(run: Run, *_: object, **__: object) -> bool:
        tried.append(run.batch_size)
        return is_comfortable(run, *_, **__)  # type: ignore[arg-type]

    monkeypatch.setattr("nanolint.verdict.search.is_comfortable", counted)
    run = replace(RUN, batch_size=720_720, gradient_accumulation_steps=720_720, vocab_size=10)
    run = run.having(block_size=2, n_embd=4)
    assert best_micro_batch([(run, card(1000))]) is not None
    assert len(tried) < 40


@given(st.integers(0, 60), st.integers(0, 60), st.integers(0, 60))
def test_a_guess_changes_how_often_is_asked_and_not_what_is_found(
    count: int, first: int, start: int
) -> None:
    candidates = [(number, 1) for number in range(count)]
    asked: list[int] = []

    def holds(pair: tuple[int, int]) -> bool:
        asked.append(pair[0])
        return pair[0] >= first

    assert search.first_that_holds(candidates, holds, start) == min(first, count)
    if start == first < count:
        assert len(asked) <= 2
    assert len(asked) == len(set(asked)) <= 14
