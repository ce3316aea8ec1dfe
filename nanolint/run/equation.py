"""How many sequences a step of a training script takes, as an equation over what was given.

A trainer is an equation, not a name. Every one multiplies the micro-batch, the passes of the loop
around ``backward()`` and the processes; they differ in which of these is given, and in how the
others follow: ``total // (B * T * world)``, ``accumulation // world``, ``8 // world``.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from nanolint.frozen import dataclass
from nanolint.run.terms import (
    Given,
    Operation,
    Place,
    Term,
    World,
    describe,
    evaluate,
    leaves,
    parts,
)
from nanolint.source.bounds import Unevaluable

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from nanolint.gpus.said import Between
    from nanolint.source.values import Scalar

    Changes = Mapping[Given, Scalar]

MOST_TRIED = 1 << 20  # as divisors of a step's sequences; no step has so many squared

UNCHANGED: Mapping[Given, Scalar] = {}


@dataclass(frozen=True, slots=True)
class Check:
    """A condition that has to be true, or the script ends: an ``assert``, an ``if`` that raises.

    ``text`` is the condition as the script has it, or what it says when it is not met.
    """

    condition: Term
    text: str
    place: Place


@dataclass(frozen=True, slots=True)
class Turn:
    """A condition by which the script went one way, ``taken`` or not: the other way may be another
    equation."""

    condition: Term
    taken: bool
    place: Place


@dataclass(frozen=True, slots=True)
class Rounding:
    """A division that leaves a remainder, which the script drops: ``512 // 24``."""

    division: Operation
    dividend: int
    divisor: int

    @property
    def remainder(self) -> int:
        """What is dropped, in the unit of the dividend."""
        return self.dividend % self.divisor


@dataclass(frozen=True, slots=True)
class Equation:
    """What one optimizer step of a script takes.

    ``micro_batch`` is the first dimension of the batch that the model is given, in sequences per
    process, ``context`` the second, in tokens; ``passes`` is N of the ``range(N)`` around
    ``backward()``. ``checks`` are all that the script demands on its way there, ``turns`` the
    conditions by which it got there. ``loop`` is where the loop stands.

    Each question takes ``changes``, other values for what was given; ``Unevaluable`` is raised
    where the script would fail to compute the answer.
    """

    micro_batch: Term
    context: Term
    passes: Term
    world: int
    loop: Place
    checks: tuple[Check, ...] = ()
    turns: tuple[Turn, ...] = ()

    def number(self, term: Term, changes: Changes = UNCHANGED, world: int | None = None) -> int:
        """The value of a term that has to be a whole number."""
        value = evaluate(term, changes, self.world if world is None else world)
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if not isinstance(value, int) or isinstance(value, bool):
            raise Unevaluable(f"{describe(term)} is not a whole number")
        return value

    def sequences_per_step(self, changes: Changes = UNCHANGED, world: int | None = None) -> int:
        """The effective batch: sequences over all passes and processes."""
        passes = self.number(self.passes, changes, world)
        return (
            self.number(self.micro_batch, changes, world)
            * passes
            * (self.world if world is None else world)
        )

    def tokens_per_step(self, changes: Changes = UNCHANGED) -> int:
        """Tokens per optimizer step over all passes and processes."""
        return self.sequences_per_step(changes) * self.number(self.context, changes)

    @property
    def factor(self) -> Given | None:
        """What was given as the micro-batch, unchanged; None where the script computes it."""
        return self.micro_batch if isinstance(self.micro_batch, Given) else None

    def broken(self, changes: Changes = UNCHANGED) -> Iterator[Check]:
        """The conditions that are not met, so that the script would end."""
        for check in self.checks:
            try:
                met = evaluate(check.condition, changes, self.world)
            except Unevaluable:
                continue
            if not met:
                yield check

    def goes_the_same_way(self, changes: Changes) -> bool:
        """Whether every condition on the way is decided as before."""
        for turn in self.turns:
            try:
                taken = evaluate(turn.condition, changes, self.world)
            except Unevaluable:
                return False
            if bool(taken) is not turn.taken:
                return False
        return True

    def roundings(self, changes: Changes = UNCHANGED) -> tuple[Rounding, ...]:
        """The divisions on the way to the passes that leave a remainder."""
        return tuple(self._roundings(changes))

    def _roundings(self, changes: Changes) -> Iterator[Rounding]:
        followed = set(parts(self.micro_batch)) | set(parts(self.context))
        for term in parts(self.passes):
            if not isinstance(term, Operation) or term.symbol != "//":
                continue
            if term in followed:  # fewer passes, each of more
                continue
            if self._is_of_a_step(term.operands[1]):
                left, right = (self.number(each, changes) for each in term.operands)
                if right and left % right:
                    yield Rounding(term, left, right)

    def _is_of_a_step(self, divisor: Term) -> bool:
        """Whether a batch, a context or the processes divide: a total that follows from the number
        of parameters has divisions of its own, which are about the model."""
        sizes = {*leaves(self.micro_batch), *leaves(self.context)}
        return any(isinstance(each, World) or each in sizes for each in leaves(divisor))

    def keeps(self, changes: Changes) -> bool:
        """Whether the script runs with ``changes`` too, and with exactly as many tokens a step."""
        try:
            same = self.tokens_per_step(changes) == self.tokens_per_step()
            runs = self.number(self.passes, changes) >= 1
            rounded = len(self.roundings(changes)) > len(self.roundings())
        except Unevaluable:
            return False
        before = set(self.broken())
        met = all(check in before for check in self.broken(changes))
        return same and runs and met and not rounded and self.goes_the_same_way(changes)

    def changes_for(self, micro_batch: int) -> dict[Given, Scalar] | None:
        """What to write for so many sequences per pass, with the tokens of a step kept.

        One number where a total is given; two where the accumulation is. None: it cannot be had.
        """
        factor = self.factor
        if factor is None or micro_batch < 1:
            return None
        alone: dict[Given, Scalar] = {factor: micro_batch}
        if self.keeps(alone):
            return alone
        for other in leaves(self.passes):
            if not isinstance(other, Given) or other == factor or other in leaves(self.context):
                continue
            value = other.value
            if isinstance(value, int) and not isinstance(value, bool):
                total = value * self.number(factor)
                both = {**alone, other: total // micro_batch}
                if total % micro_batch == 0 and self.keeps(both):
                    return both
        return None

    def legal(self, most: int) -> tuple[int, ...]:
        """The micro-batches up to ``most`` that can be had with the tokens of a step kept."""
        sequences = self.sequences_per_step()
        least = range(1, min(math.isqrt(max(sequences, 0)), MOST_TRIED) + 1)
        pairs = ((each, sequences // each) for each in least if sequences % each == 0)
        divisors = sorted({each for pair in pairs for each in pair if each <= most})
        return tuple(each for each in divisors if self.changes_for(each) is not None)

    def nearest(self) -> int | None:
        """The largest micro-batch up to the given one for which every condition is met and no
        division leaves a remainder: what to write where the given one is refused. None: there is
        none."""
        factor = self.factor
        if factor is None:
            return None
        for each in range(self.number(factor), 0, -1):
            changes: dict[Given, Scalar] = {factor: each}
            try:
                passes, rounded = self.number(self.passes, changes), self.roundings(changes)
            except Unevaluable:
                continue
            fine = passes >= 1 and not rounded and not any(True for _ in self.broken(changes))
            if fine and self._only_stops_refusing(changes):
                return each
        return None

    def nearest_pair(self) -> dict[Given, Scalar] | None:
        """The largest micro-batch with the accumulation for which every condition is met, with as
        many sequences a step as one process takes: where no micro-batch alone is accepted."""
        factor = self.factor
        if factor is None:
            return None
        for other in leaves(self.passes):
            if not isinstance(other, Given) or type(other.value) is not int or other == factor:
                continue
            product = other.value * self.number(factor)
            for each in range(self.number(factor), 0, -1):
                changes: dict[Given, Scalar] = {factor: each, other: product // each}
                if product % each == 0 and self._takes_as_one_process(changes):
                    return changes
        return None

    def _takes_as_one_process(self, changes: Changes) -> bool:
        try:
            same = self.sequences_per_step(changes) == self.sequences_per_step(world=1)
        except Unevaluable:
            return False
        met = not self.roundings(changes) and not any(True for _ in self.broken(changes))
        return same and met and self._only_stops_refusing(changes)

    def _only_stops_refusing(self, changes: Changes) -> bool:
        """Whether every condition is decided as before, but those on a remainder: the given size
        may have gone the way of what is refused."""
        kept = tuple(turn for turn in self.turns if not any(remainders(turn.condition)))
        return replace(self, turns=kept).goes_the_same_way(changes)

    @property
    def depends_on(self) -> frozenset[Given]:
        """All that was given and decides the size of a step."""
        terms = (self.micro_batch, self.context, self.passes)
        return frozenset(each for term in terms for each in leaves(term) if isinstance(each, Given))


def remainders(term: Term) -> Iterator[Operation]:
    """Where a condition asks for a remainder: ``total % (B * T) == 0``."""
    for each in parts(term):
        if isinstance(each, Operation) and each.symbol == "%":
            yield each


@dataclass(frozen=True, slots=True)
class LateSync:
    """An assignment of ``require_backward_grad_sync`` that stands after the model's call: DDP arms
    its reducer in the forward pass, so of several passes only the first is averaged."""

    assignment: Place
    forward: Place


@dataclass(frozen=True, slots=True)
class NotKnown:
    """Why only a run would tell a value, and where that is decided.

    ``like`` is what is known of it where it is a text: ``*`` stands for what is not. ``period`` is
    N of a test that is met every N-th time, ``between`` what is known of a number.
    """

    reason: str
    path: Path | None = None
    line: int = 0
    like: str = ""
    period: Term | None = None
    between: Between | None = None

    def __str__(self) -> str:
        """``read from the tokenizer (train.py:461)``."""
        if self.path is None:
            return self.reason
        place = f"{self.path.name}:{self.line}" if self.line else self.path.name
        return f"{self.reason} ({place})"
