"""The size of a step as an equation: what it takes, what it keeps, what it allows."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from nanolint.run.equation import Check, Equation
from nanolint.run.terms import Given, Number, Operation, Place, Surface, Term, World, describe
from nanolint.run.terms import evaluate as value_of

HERE = Place(None, 1)


def constant(key: str, value: int) -> Given:
    return Given(key, value, Surface.CONSTANT, HERE)


def made(symbol: str, *operands: Term, world: int = 1) -> Operation:
    bare = Operation(symbol, operands, None)
    return replace(bare, value=value_of(bare, {}, world))


def tokens(total: int, batch: int, context: int, world: int) -> Equation:
    """``total // (B * T * world)``, with the assert that all such scripts have."""
    all_tokens, b, t = constant("TOTAL", total), constant("B", batch), constant("T", context)
    pass_ = made("*", made("*", b, t), World(world), world=world)
    fits = made("==", made("%", all_tokens, pass_, world=world), Number(0), world=world)
    return Equation(
        b,
        t,
        made("//", all_tokens, pass_, world=world),
        world,
        HERE,
        (Check(fits, "TOTAL % (B * T * world) == 0", HERE),),
    )


def accumulated(accumulation: int, batch: int, world: int) -> Equation:
    """nanoGPT's ``accumulation // world``."""
    passes = made("//", constant("accumulation", accumulation), World(world), world=world)
    return Equation(constant("B", batch), constant("T", 1024), passes, world, HERE)


def test_a_total_is_kept_by_writing_one_number() -> None:
    equation = tokens(2**19, 128, 2048, 1)
    assert equation.changes_for(16) == {equation.factor: 16}
    assert equation.legal(130) == (1, 2, 4, 8, 16, 32, 64, 128)
    assert describe(equation.passes) == "TOTAL // (B * T * world size)"


def test_an_accumulation_takes_a_second_number() -> None:
    equation = accumulated(40, 12, 8)
    found = equation.changes_for(6)
    assert found is not None
    assert {each.key: value for each, value in found.items()} == {"B": 6, "accumulation": 80}
    assert equation.changes_for(7) is None  # 480 sequences are no multiple of it
    assert equation.changes_for(15) is not None  # 32 passes
    assert equation.changes_for(20) == {equation.factor: 20, constant("accumulation", 40): 24}
    assert equation.changes_for(40) is None  # 12 passes are no multiple of 8 processes


def test_where_no_factor_shrinks_the_micro_batch_nothing_is_legal() -> None:
    """parameter-golf's ``8 // world``: the micro-batch follows from the total."""
    micro = made("//", constant("TRAIN_BATCH_TOKENS", 2**19), Number(8 * 1024))
    passes = made("//", Number(8), World(1))
    equation = Equation(micro, constant("TRAIN_SEQ_LEN", 1024), passes, 1, HERE)
    assert equation.factor is None
    assert equation.legal(64) == ()


def test_an_indivisible_total_names_the_assert_and_the_nearest_micro_batch() -> None:
    equation = tokens(2**19, 6, 2048, 1)
    assert [check.text for check in equation.broken()] == ["TOTAL % (B * T * world) == 0"]
    assert equation.nearest() == 4
    assert [each.remainder for each in equation.roundings()] == [2**19 % (6 * 2048)]


def test_three_processes_never_divide_a_power_of_two() -> None:
    assert tokens(2**19, 32, 2048, 3).nearest() is None


@settings(deadline=None, max_examples=60)
@given(some.integers(1, 64), some.integers(1, 64), some.integers(1, 8), some.booleans())
def test_what_is_legal_keeps_every_token(batch: int, factor: int, world: int, total: bool) -> None:
    if total:
        equation = tokens(batch * 16 * world * factor, batch, 16, world)
    else:
        equation = accumulated(factor * world, batch, world)
    legal = equation.legal(batch)
    assert batch in legal
    for each in legal:
        changes = equation.changes_for(each)
        assert changes is not None
        assert equation.tokens_per_step(changes) == equation.tokens_per_step()
        assert not list(equation.broken(changes))


@pytest.mark.parametrize(
    ("term", "text"),
    [
        (made("//", made("*", Number(2), Number(3)), Number(4)), "2 * 3 // 4"),
        (made("-", Number(9), made("-", Number(3), Number(1))), "9 - (3 - 1)"),
        (made("round", made("math.log2", Number(8))), "round(math.log2(8))"),
        (made("==", Number(9), Number(3)), "9 == 3"),
        (made("neg", Number(9)), "-9"),
    ],
)
def test_terms_read_as_people_write_them(term: Term, text: str) -> None:
    assert describe(term) == text


def test_a_division_of_the_model_is_no_rounding_of_a_step() -> None:
    width = made("*", made("//", constant("width", 1407), constant("head_dim", 128)), Number(128))
    total = made("*", width, Number(2**9))
    batch, context = constant("B", 8), constant("T", 64)
    for divisor, dropped in ((made("*", batch, context), 0), (constant("other", 1000), 0)):
        equation = Equation(batch, context, made("//", total, divisor), 1, HERE)
        assert len(equation.roundings()) == dropped
    rounded = Equation(batch, context, made("//", total, made("*", batch, Number(1000))), 1, HERE)
    assert [each.divisor for each in rounded.roundings()] == [8000]
