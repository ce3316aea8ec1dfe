"""Traces at a few micro-batches as a tape for all others."""

from __future__ import annotations

import random
from typing import Any

import pytest

from nanolint.recording.recording import allocated_peak
from nanolint.run.profile import Profile
from nanolint.run.profile_file import digest, read, write
from nanolint.tape.profile import NotCovered, profiled, tape_of
from nanolint.tape.tape import Component, Phase, Tape
from nanolint.trace.fit import Fitted, fit, record
from nanolint.trace.survey import Point
from tests.support.runs import GPT2

T, C = 1024, 64
THRESHOLD = 3072  # tokens; an embedding's gradient is sorted from there on


def run(batch: int, micro_steps: int, shuffle: int = 0) -> Point:
    """A run of a script: weights, then per micro-step activations, a mask, scratch, a gradient."""
    tape, requests = Tape(), list[int]()

    def alloc(nbytes: int, name: str, component: Component = Component.ACTIVATIONS) -> int:
        requests.append(nbytes)
        return tape.alloc(nbytes, name, component)

    tape.phase(Phase.SETUP)
    alloc(4 * 1000 * C, "model.py:3 wte", Component.PARAMETERS)
    for _ in range(micro_steps):
        tape.phase(Phase.FORWARD)
        hidden = alloc(4 * batch * T * C, "model.py:9 x = wte(idx)")
        mask = alloc(batch * batch * T, "model.py:11 mask = same(batch)")
        tape.phase(Phase.BACKWARD)
        if batch * T > THRESHOLD:
            scratch = alloc(batch * T // 10, "model.py:9 x = wte(idx)")
            tape.free(scratch)
        gradient = alloc(4 * 1000 * C, "model.py:9 x = wte(idx)", Component.GRADIENTS)
        let_go = [hidden, mask, gradient]
        random.Random(shuffle).shuffle(let_go)
        tape.free(*let_go)
    return Point(batch, micro_steps, tape, requests)


class Tracer:
    """Counts what is traced; refuses some micro-batches, as a script may."""

    def __init__(self, *refused: int) -> None:
        self.asked: list[tuple[int, int]] = []
        self._refused = refused

    def __call__(self, batch: int, micro_steps: int) -> Point | None:
        self.asked.append((batch, micro_steps))
        if batch in self._refused:
            return None
        return run(batch, micro_steps, shuffle=len(self.asked))


def bounds(fitted: Fitted, micro_steps: int = 1) -> list[tuple[int, int]]:
    return [(each.low, each.high) for each in fitted.regimes if each.micro_steps == micro_steps]


def profile_of(fitted: Fitted) -> Profile:
    return Profile(
        traced="2026-11-20", command="python train.py", torch="2.13.0+cu130", capability=(8, 0),
        sm_count=108, world_size=1, ranked=False, script="train.py",
        files={"train.py": digest(b"")}, settings={"n_layer": "6"}, micro_batch="batch_size",
        accumulation=None,
        error_per_mille=fitted.error_per_mille, held_out=fitted.held_out, kinds=fitted.kinds,
        regimes=fitted.regimes,
    )  # fmt: skip


@pytest.fixture(scope="module")
def fitted() -> Fitted:
    return fit(Tracer(), {1: (1, 12, 100), 2: (1, 100)})


def test_the_threshold_is_found_whatever_the_order_of_releases(fitted: Fitted) -> None:
    assert bounds(fitted) == [(1, 3), (4, 100)]
    assert bounds(fitted, 2) == [(1, 3), (4, 100)]
    assert fitted.complete


@pytest.mark.parametrize("micro_steps", [1, 2])
@pytest.mark.parametrize("batch", [1, 2, 3, 4, 5, 17, 64, 99, 100])
def test_every_micro_batch_between_has_the_bytes_of_its_own_trace(
    fitted: Fitted, batch: int, micro_steps: int
) -> None:
    real, tape = run(batch, micro_steps), profiled(profile_of(fitted), batch, micro_steps)
    assert tape.events == list(real.events)
    assert tape.sizes == real.tape.sizes
    assert (tape.names, tape.phases) == (real.tape.names, real.tape.phases)
    assert tape.components == real.tape.components


def test_what_was_held_out_is_told_with_its_error(fitted: Fitted) -> None:
    assert {each.batch_size for each in fitted.held_out} - {1, 3, 4, 100}
    assert all(each.allocated_bytes == each.reserved_bytes == 0 for each in fitted.held_out)
    assert fitted.error_per_mille == 0


def test_a_size_that_no_polynomial_has_is_an_error_that_is_told() -> None:
    def trace(batch: int, micro_steps: int) -> Point:
        point = run(batch, micro_steps)
        sizes = [size * (3 if batch % 2 else 1) for size in point.requests]
        tape = Tape()
        tape.events, tape.names = point.tape.events, point.tape.names
        tape.components, tape.phases = point.tape.components, point.tape.phases
        tape.sizes = sizes
        return point._replace(tape=tape, requests=sizes)

    found = fit(trace, {1: (4, 100)})
    worst = max(
        abs(each.allocated_bytes) / allocated_peak(trace(each.batch_size, 1).tape)
        for each in found.held_out
    )
    assert found.error_per_mille / 1000 >= worst > 0.1


def test_few_traces_are_enough() -> None:
    tracer = Tracer()
    fit(tracer, {1: (1, 100), 2: (50,), 4: (1, 25)})
    assert len(tracer.asked) == len(set(tracer.asked)) < 30


def test_what_the_script_refuses_is_left_out() -> None:
    found = fit(Tracer(1, 2), {1: (1, 2, 3, 40)})
    assert bounds(found) == [(3, 3), (4, 40)]


def test_with_too_few_traces_the_gap_is_not_covered() -> None:
    found = fit(Tracer(), {1: (1, 100)}, most=3)
    assert not found.complete
    with pytest.raises(NotCovered):
        profiled(profile_of(found), 20, 1)


def test_more_micro_steps_stand_for_those_of_the_same_parity() -> None:
    profile = profile_of(fit(Tracer(), {3: (4, 12), 4: (4, 12)}))
    for many, few in ((3, 3), (5, 3), (41, 3), (4, 4), (40, 4)):
        regime = profile.regime(8, many)
        assert regime is not None and regime.micro_steps == few
    assert profile.regime(8, 2) is None


def test_a_profile_is_the_same_when_it_is_read_again_and_small(fitted: Fitted) -> None:
    profile = profile_of(fitted)
    assert read(write(profile)) == profile
    assert len(write(profile)) < 4000
    assert tape_of(profile.regimes[0], profile.kinds, 2).sizes == run(2, 1).tape.sizes


def test_other_numbers_of_micro_steps_are_fitted_as_carefully_on_their_own_micro_batches() -> None:
    profile = profile_of(fit(Tracer(), {1: (1, 100), 4: (1, 20)}))
    for batch in (2, 5, 9, 13, 19):
        assert profiled(profile, batch, 4).sizes == run(batch, 4).tape.sizes
    assert any(each.micro_steps == 4 for each in profile.held_out)


def test_what_inductor_writes_has_other_numbers_for_each_micro_batch_and_is_the_same() -> None:
    """A line of generated code names its sizes, and stands on another line of a longer file."""

    def compiled(batch: int, _steps: int) -> Point:
        tape = Tape()
        tape.phase(Phase.FORWARD)
        code = f"buf{batch} = empty_strided_cuda(({batch}, {T}), ({T}, 1), torch.float32)"
        requests = [4 * batch * T]
        tape.alloc(requests[0], f"torch.compile's code:{1000 + batch} {code}", Component.INPUTS)
        return Point(batch, 1, tape, requests)

    found = fit(compiled, {1: (1, 64)})
    assert [(each.low, each.high) for each in found.regimes] == [(1, 64)]
    assert [kind.name for kind in found.kinds] == ["torch.compile's code: empty_strided_cuda"]
    assert found.held_out
    assert found.error_per_mille == 0


def all_differ(batch: int, micro_steps: int) -> Point:
    """Of a compiled run, whose events are others with each micro-batch."""
    tape = Tape()
    requests = [4 * batch * T for _ in range(batch)]
    for number, nbytes in enumerate(requests):
        tape.alloc(nbytes, f"model.py:{number} x = block(x)", Component.ACTIVATIONS)
    return Point(batch, micro_steps, tape, requests)


KEPT = {64: 2, 32: 4, 16: 4, 8: 4, 4: 4, 2: 4, 1: 4, 128: 1}  # of 128 sequences to a step


def test_where_all_differ_the_preferred_are_known_whatever_the_number_of_micro_steps() -> None:
    found = fit(all_differ, {2: (1, 64, 256), 1: (128,), 4: (1, 32)}, 18, KEPT)
    assert not found.complete
    assert {1, 16, 32, 64, 256} <= {low for low, _ in bounds(found, 2)}
    assert bounds(found, 1) == [(128, 128)]
    assert bounds(found, 4) == [(each, each) for each in (1, 2, 4, 8, 16, 32)]
    assert sum(len(each.traced) for each in found.regimes) == 18


def test_few_traces_are_of_runs_that_keep_the_effective_batch() -> None:
    """From the run's own micro-batch downward: that is what --fix chooses among."""
    found = fit(all_differ, {2: (1, 64, 256), 1: (128,), 4: (1, 32)}, 5, KEPT)
    assert bounds(found, 2) == [(64, 64)]
    assert bounds(found, 1) == []
    assert bounds(found, 4) == [(each, each) for each in (4, 8, 16, 32)]
    assert not found.complete


def some_differ(batch: int, micro_steps: int) -> Point:
    """Of a compiled run: powers of two meet sizes that others do not."""
    return (
        all_differ(batch, micro_steps) if batch.bit_count() == 1 else all_alike(batch, micro_steps)
    )


def all_alike(batch: int, micro_steps: int) -> Point:
    tape = Tape()
    tape.alloc(4 * batch * T, "model.py:1 x = block(x)", Component.ACTIVATIONS)
    return Point(batch, micro_steps, tape, tape.sizes)


def none_above(batch: int, micro_steps: int) -> Point | None:
    """Of a script that refuses more than it was written for."""
    return all_alike(batch, micro_steps) if batch <= 64 else None


@pytest.mark.parametrize(
    ("trace", "regime", "held_out"),
    [
        (all_alike, (64, 96), 80),
        (some_differ, (80, 96), 88),
        (none_above, (48, 64), 56),
    ],
    ids=["a regime of its own", "one beside it", "nothing larger"],
)
def test_few_traces_hold_one_out_around_the_runs_own_micro_batch(
    trace: Any, regime: tuple[int, int], held_out: int
) -> None:
    """The line through two micro-batches is held against a third, between them."""
    found = fit(trace, {2: (1, 64, 256), 1: (128,), 4: (1, 32)}, 8, KEPT)
    assert regime in bounds(found, 2)
    assert [each.batch_size for each in found.held_out if each.micro_steps == 2] == [held_out]
    assert found.error_per_mille == 0
    assert max(high for _, high in bounds(found, 4)) == 32


def test_each_of_few_traces_is_of_a_micro_batch_that_the_profile_then_knows() -> None:
    def trace(batch: int, micro_steps: int) -> Point:
        asked.append((batch, micro_steps))
        return all_alike(batch, micro_steps)

    asked = list[tuple[int, int]]()
    found = record(GPT2, trace, 6)
    known = {(batch, each.micro_steps) for each in found.regimes for batch in each.traced}
    assert set(asked) == known == {(16, 4), (8, 4), (4, 4), (24, 4), (20, 4)}


def test_where_none_are_alike_the_real_number_of_micro_steps_is_held_out() -> None:
    """16 micro-steps are judged by 4: here each of them keeps something."""

    def trace(batch: int, micro_steps: int) -> Point:
        point = all_differ(batch, micro_steps)
        kept = 4 * T * micro_steps
        point.tape.alloc(kept, "train.py:9 losses.append(loss)", Component.ACTIVATIONS)
        return point._replace(requests=point.tape.sizes)

    for most in (4, 60):
        found = fit(trace, {4: (1, 16, 40), 2: (64,)}, most, {16: 16, 8: 32, 4: 64, 64: 2})
        assert (16, 16) in bounds(found, 4)
        (held_out,) = found.held_out
        assert (held_out.batch_size, held_out.micro_steps) == (16, 16)
        assert held_out.allocated_bytes == -12 * 4 * T
        assert found.error_per_mille == 45  # 48 of 1,088 KiB
        assert sum(len(each.traced) for each in found.regimes) < most


def test_where_no_neighbours_are_alike_the_traces_are_bounded_all_the_same() -> None:
    found = fit(all_differ, {2: (1, 64, 256), 1: (128,), 4: (1, 32)}, 8, KEPT)
    assert not found.held_out
    assert sum(len(each.traced) for each in found.regimes) <= 8


def test_what_is_held_against_a_line_and_is_off_it_is_the_margin() -> None:
    def square(batch: int, micro_steps: int) -> Point:
        tape = Tape()
        tape.alloc(T * batch * batch, "model.py:1 mask", Component.ACTIVATIONS)
        return Point(batch, micro_steps, tape, tape.sizes)

    found = fit(square, {2: (1, 64, 256), 1: (128,), 4: (1, 32)}, 8, KEPT)
    worst = max(found.held_out, key=lambda each: each.allocated_bytes)
    assert (worst.batch_size, worst.allocated_bytes) == (80, (64**2 + 96**2 - 2 * 80**2) // 2 * T)
    assert found.error_per_mille == 40
