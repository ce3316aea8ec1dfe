"""The micro-batch that fits and keeps the effective batch exactly; a smaller step, if none does.

The largest micro-batch of a run that is comfortable on a card, the effective batch kept.

About what nanoGPT's own run takes with other sizes: where a search for one that fits begins.

A smaller step, if no accumulation keeps it: half the micro-batch, half of that, and so on.

The floor under all of them: what a run takes whatever its micro-batch.
"""

from __future__ import annotations

from bisect import bisect_left
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, TypeVar

from nanolint.frozen import dataclass
from nanolint.interpreter.values import Unread
from nanolint.recording.recording import (
    allocated_peak,
    answers_about,
    needs_no_reading,
    recorded,
    state_bytes,
)
from nanolint.run.run import Dialect
from nanolint.source.bounds import Unevaluable
from nanolint.tape.lasting import lasting
from nanolint.tape.reading_lock import turn
from nanolint.tape.tape import Component, Phase, floor_bytes, summits
from nanolint.verdict.changes import Change, micro_batch, partner
from nanolint.verdict.growth_estimate import Growth
from nanolint.verdict.replay import replay
from nanolint.verdict.verdict import (
    DIP_PERCENT,
    Outcome,
    Verdict,
    comfortable_limit,
    hopeful_bytes,
    is_comfortable,
    is_hopeless,
    judge,
    passes,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from nanolint.gpus.gpu import Gpu, Machine
    from nanolint.run.equation import Equation
    from nanolint.run.run import Run
    from nanolint.run.terms import Given
    from nanolint.source.values import Scalar
    from nanolint.tape.tape import Tape

# Trial division stops here: a cofactor without a smaller prime factor is taken for a prime, which
# is true up to its square. No batch or accumulation that anyone trains with comes near.
LARGEST_FACTOR = 1_000_000

# More than cards that compile a run alike allocate apart (partial sums, workspaces), or than a
# micro-batch does from what two others have it expected to.
APART_PERCENT = 3

# So many hopeful divisors in a row fail only for effective batches in the billions; below them it
# begins a little below where two that were read expect one to fit, which might not be the largest.
MOST_TRIES = 16

MOST_REMEMBERED = 512  # answers

Candidate = TypeVar("Candidate")


def best_micro_batch(
    cases: Sequence[tuple[Run, Machine]],
    *,
    upward: bool = False,
    like: Run | None = None,
) -> Change | None:
    """The largest comfortable micro-batch below the run's own, with ``upward`` above it.

    ``like`` is a run that differs in the micro-batch alone and was recorded already: where to begin
    is guessed from it.

    It is comfortable on every case and divides batch_size x accumulation exactly, in today's
    dialect with an accumulation that the world size divides. What fits is not assumed to grow
    with the batch: every divisor is tried from the largest down, except those beyond one whose
    allocated bytes alone are hopeless (see also MOST_TRIES).
    """
    return _found(tuple(cases), upward, like) if cases else None


@lru_cache(maxsize=MOST_REMEMBERED)  # an editor asks again with each keystroke
def _found(cases: tuple[tuple[Run, Machine], ...], upward: bool, like: Run | None) -> Change | None:
    run = cases[0][0]
    others: int = getattr(run, partner(run))
    if run.batch_size < 1 or others < 1 or not run.follows("batch_size", partner(run)):
        return None
    with turn():  # who asks again waits for nobody
        found = _kept(cases, upward, like)
    return None if found is None else micro_batch(run, *found)


def _kept(
    cases: tuple[tuple[Run, Machine], ...], upward: bool, like: Run | None
) -> tuple[int, int] | None:
    """What an earlier process has found, or this one finds."""
    answers = answers_about([(run, target.gpu) for run, target in cases])
    about = (upward, *((replace(run, program=None), target) for run, target in cases))
    pair: tuple[int, int] | None
    if answers is not None and answers.knows(_searched, about):
        pair = answers.find(_searched, about)
        return pair
    pair = _searched(cases, upward, like)
    if answers is not None:
        answers.keep(_searched, about, pair)
    return pair


@lasting()
def _searched(
    cases: tuple[tuple[Run, Machine], ...], upward: bool, like: Run | None
) -> tuple[int, int] | None:
    run = cases[0][0]
    others: int = getattr(run, partner(run))
    most = min(_most_sequences(run, target) for run, target in cases)
    if not upward:
        most = min(most, run.batch_size - 1)
    least = run.batch_size if upward else 0
    candidates = [
        pair
        for pair in divisors_down(run.batch_size, others, most)
        if pair[0] > least
        and not _is_uneven(run, pair[1])
        and (run.micro_batches is None or pair[0] in run.micro_batches)
        and micro_batch(run, *pair).applied(run).is_known
    ]

    grown = [(each, target, Growth(target.gpu)) for each, target in cases]

    def has_hope(pair: tuple[int, int]) -> bool:
        changed = micro_batch(run, *pair)
        return not any(
            _would_be_hopeless(changed.applied(each), target, growth)
            for each, target, growth in grown
        )

    def fits(pair: tuple[int, int]) -> bool:
        changed = micro_batch(run, *pair)
        least = pair == candidates[-1]  # that none fits is no guess
        return all(
            (least or not _would_fail(changed.applied(each), target, growth))
            and _does_fit(changed.applied(each), target, growth)
            for each, target, growth in grown
        )

    if not candidates:
        return None
    guess = min(_likely_batch(like or each, target, growth) for each, target, growth in grown)
    start = bisect_left(candidates, -guess, key=lambda pair: -pair[0])
    hopeful = candidates[first_that_holds(candidates, has_hope, start) :]
    found = next(filter(fits, hopeful[:MOST_TRIES]), None)
    if found is None:
        rest = hopeful[MOST_TRIES:]
        guess = min(
            growth.likely(like or each, comfortable_limit(each, target))
            for each, target, growth in grown
        )
        guess = guess * (100 - APART_PERCENT) // 100
        start = bisect_left(rest[:-1], -guess, key=lambda pair: -pair[0])
        found = next(iter(rest[start + first_that_holds(rest[start:], fits, 0) :]), None)
    return found


def _would_be_hopeless(run: Run, target: Machine, growth: Growth) -> bool:
    """``is_hopeless``, guessed where other tapes tell."""
    if not run.on_gpu:
        return False
    tape = growth.guess(run) or growth.guess_by_others(run)
    peak = growth.peak(run) if tape is None else allocated_peak(tape)
    if peak is not None:
        return peak > hopeful_bytes(run, target)
    try:
        growth.read(run)
    except Unread:  # one that is too large to be read is none to offer
        return True
    return is_hopeless(run, target)


def _would_fail(run: Run, target: Machine, growth: Growth) -> bool:
    """Whether a guess says that a run does not fit, so that it need not be read."""
    if needs_no_reading(run, target.gpu):
        return False  # the tape itself costs no more than a guess
    limit, tape = comfortable_limit(run, target), growth.guess(run)
    if tape is None:
        limit, tape = limit * (100 + APART_PERCENT) // 100, growth.guess_by_others(run)
    if tape is not None:
        return not passes(tape, target, limit)
    peak = growth.peak(run)
    return peak is not None and peak > limit


def _does_fit(run: Run, target: Machine, growth: Growth) -> bool:
    """Whether a run is comfortable; what was read of it helps to guess about others."""
    comfortable = is_comfortable(run, target)
    if run.on_gpu:
        with suppress(Unread):
            growth.read(run)
    return comfortable


def first_that_holds(
    candidates: Sequence[Candidate], holds: Callable[[Candidate], bool], start: int
) -> int:
    """The index of the first candidate that ``holds``, as all behind it do.

    As bisection finds it, but with few questions where it is near ``start``.
    """
    low, high = 0, len(candidates)  # it is within these, both included
    probe, step, was_upward = start, 1, False
    while low < high:
        probe = min(max(probe, low), high - 1)
        upward = not holds(candidates[probe])
        if upward:
            low = probe + 1
        else:
            high = probe
        if step > 1 and upward is not was_upward:
            return bisect_left(candidates, True, low, high, key=holds)
        was_upward = upward
        probe += step if upward else -step
        step *= 2
    return low


def _likely_batch(run: Run, target: Machine, growth: Growth) -> int:
    """About the largest micro-batch whose allocated bytes fit: they grow almost evenly with it.

    By what another card has of ``run``, where one has: it is read for this one only else.
    """
    if not run.on_gpu:
        return run.batch_size
    tape = growth.of_another_card(run) or growth.read(run)
    limit = comfortable_limit(run, target) * (100 + DIP_PERCENT) // 100
    fixed = state_bytes(run) or tape.answer(floor_bytes)
    growing = max(1, tape.answer(allocated_peak) - fixed)
    return max(0, limit - fixed) * run.batch_size // growing


def divisors_down(batch_size: int, partner: int, most: int) -> Iterator[tuple[int, int]]:
    """(b', partner') with b' x partner' == batch_size x partner, from b' = most downward."""
    product = batch_size * partner
    divisors = [1] if most >= 1 else []
    exponents: dict[int, int] = {}
    for number in (batch_size, partner):
        for prime in _prime_factors(number):
            exponents[prime] = exponents.get(prime, 0) + 1
    for prime, exponent in exponents.items():
        powers = [prime**power for power in range(exponent + 1)]
        divisors = [d * power for power in powers for d in divisors if d * power <= most]
    for divisor in sorted(divisors, reverse=True):
        yield divisor, product // divisor


def _prime_factors(number: int) -> Iterator[int]:
    factor = 2
    while factor * factor <= number and factor <= LARGEST_FACTOR:
        while number % factor == 0:
            yield factor
            number //= factor
        factor += 1 if factor == 2 else 2
    if number > 1:
        yield number


def _is_uneven(run: Run, steps: int) -> bool:
    return not run.eval_only and run.sizes.dialect is Dialect.TOTAL and steps % run.world_size != 0


def _most_sequences(run: Run, target: Machine) -> int:
    """No more fit: each has its logits and its X, Y (int64), beside the parameters."""
    if not run.on_gpu or run.program is not None:
        return run.batch_size * run.gradient_accumulation_steps
    limit = comfortable_limit(run, target)
    if state_bytes(run) > limit:
        return 0
    room = limit - 4 * run.parameters
    single = replace(run, batch_size=1)
    return max(0, room // (single.logits_bytes + 2 * 8 * run.block_size))


@dataclass(frozen=True, slots=True)
class Fit:
    """The run with its micro-batch and accumulation changed. ``is_own``: they are the config's."""

    run: Run
    verdict: Verdict
    is_own: bool


def best_fit(run: Run, target: Machine) -> Fit | None:
    """The largest comfortable micro-batch, larger than the config's own or smaller; None if none.

    With eval_only the number of sequences in an evaluation is kept.
    """
    single = smallest(run)
    if single is None:
        return None
    found = best_micro_batch([(single, target)], upward=True, like=run if run.is_known else single)
    best = single if found is None else found.applied(single)
    verdict = judge(best, target)
    if verdict.outcome is not Outcome.COMFORTABLE:
        return None
    return Fit(best, verdict, is_own=best == run)


def smallest(run: Run) -> Run | None:
    """The same effective batch in micro-batches of one sequence: the search goes up from it.

    Of the smallest that is known, where a profile does not know that; None where it knows none.
    """
    others: int = getattr(run, partner(run))
    single = micro_batch(run, 1, run.batch_size * others).applied(run)
    if single.is_known:
        return single
    pairs = divisors_down(run.batch_size, others, run.batch_size * others)
    runs = [micro_batch(run, *pair).applied(run) for pair in pairs]
    return next((each for each in reversed(runs) if each.is_known), None)


STATE = (Component.PARAMETERS, Component.GRADIENTS, Component.OPTIMIZER)
OF_LAYERS = (Component.ACTIVATIONS, Component.WEIGHT_COPIES)


def about(run: Run, other: Run, gpu: Gpu) -> int:
    """What ``other`` reserves, by what ``run`` does: as much more or less of each part as there are
    parameters, numbers in the layers, or tokens. Only of a run that ``has_sizes``."""
    peak = replay(run, gpu).peak
    parts = dict(replay(run, gpu).components)
    state = sum(parts[each] for each in STATE)
    layers = sum(parts[each] for each in OF_LAYERS)
    rest = peak.allocated_bytes - state - layers
    tokens = other.batch_size * other.block_size / (run.batch_size * run.block_size)
    numbers = tokens * _numbers(other) / _numbers(run)
    allocated = state * other.parameters / run.parameters + layers * numbers + rest * tokens
    return int(allocated * peak.reserved_bytes / peak.allocated_bytes)


def _numbers(run: Run) -> int:
    """Those that the layers keep of each token, in units of its width."""
    layers, width = run.sizes.n_layer, run.sizes.n_embd
    assert layers is not None and width is not None
    return layers * width


def smaller_steps(run: Run, equation: Equation) -> list[Change]:
    """The halves of the micro-batch, the largest first, with which the script takes smaller steps
    of as many passes."""
    free = replace(run, micro_batches=None)  # which are those that keep the step
    halves = [run.batch_size >> by for by in range(1, run.batch_size.bit_length())]
    smaller = [each for each in halves if _is_smaller(equation, each)]
    return [
        Change((("batch_size", each),), (("micro_batches", None),))
        for each in smaller
        if replace(free, batch_size=each).is_known
    ]


def _is_smaller(equation: Equation, micro_batch: int) -> bool:
    """Whether the script runs with so many sequences per pass, and as many passes a step."""
    if equation.factor is None:
        return False
    changes: dict[Given, Scalar] = {equation.factor: micro_batch}
    try:
        as_often = equation.number(equation.passes, changes) == equation.number(equation.passes)
        fewer = equation.sequences_per_step(changes) < equation.sequences_per_step()
    except Unevaluable:
        return False
    met = set(equation.broken(changes)) <= set(equation.broken())
    return as_often and fewer and met and equation.goes_the_same_way(changes)


def best_smaller_step(pairs: Sequence[tuple[Run, Machine]], equation: Equation) -> Change | None:
    """The largest of them that is comfortable everywhere, None where none is."""
    found = smaller_steps(pairs[0][0], equation)

    def fits(change: Change) -> bool:
        return all(is_comfortable(change.applied(run), target) for run, target in pairs)

    at = bisect_left(found, True, key=fits)
    return found[at] if at < len(found) else None


def step_floor_bytes(run: Run, gpu: Gpu) -> int:
    """What the optimizer step allocates at its peak with the smallest micro-batch that is known.

    Parameters, gradients, the optimizer's states and what its step makes for itself: no
    activation is left by then, so no micro-batch takes less. Without that step where no smaller
    micro-batch is known: the logits may be there still. 0 where nothing is trained.
    """
    if run.eval_only or not run.on_gpu:
        return 0
    least = smallest(run)
    if least is not None and least.batch_size == run.batch_size > 1:
        least = None
    return max(state_bytes(run), step_bytes(least, gpu))


def is_under_floor(verdict: Verdict) -> bool:
    """Whether the card has less than the optimizer step takes with the smallest micro-batch.

    Where the step of the run itself has room, that of a smaller micro-batch, which keeps smaller
    inputs and logits, has it too, and is not asked.
    """
    run, gpu, usable = verdict.run, verdict.target.gpu, verdict.usable_bytes
    if run.eval_only or not run.on_gpu:
        return False
    state = state_bytes(run)
    if state > usable:
        return True
    if step_bytes(run, gpu) <= usable:
        return False
    return step_floor_bytes(run, gpu) > usable


def step_bytes(run: Run | None, gpu: Gpu) -> int:
    """What the optimizer steps of ``run`` allocate at their peak."""
    if run is None:
        return 0
    return recorded(run, gpu).answer(_step_bytes)


@lasting()
def _step_bytes(tape: Tape) -> int:
    return summits(tape, end=len(tape.events)).get(Phase.OPTIMIZER, (0, 0))[0]
