"""In which turn of a loop questions have other answers: the first such turn, without trying all.

A question whose sides only rise or fall with the turn has an answer for a stretch of turns, whose
ends are found by halving. One of remainders has it every so many turns. All others are tried, turn
by turn, as far as ``MOST``.
"""

from __future__ import annotations

import operator
from math import gcd, lcm
from typing import TYPE_CHECKING, Any

from nanolint.interpreter.counted import RISING, Question, folded

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nanolint.interpreter.counted import Formula

Asked = tuple[Question, Any]  # with the answer that is wanted
FOREVER = 1 << 40  # turns of a loop that nothing is known to end
MOST = 4000  # turns that are tried
FAILURES = (ArithmeticError, TypeError, ValueError, LookupError)
ORDERS = {operator.lt: operator.ge, operator.ge: operator.lt, operator.le: operator.gt}
ORDERS[operator.gt] = operator.le
NOT_DECIDED = -1


def value(formula: Formula, turn: int, symbols: Sequence[Any]) -> Any:
    """Returns the value of a formula in a turn."""
    kind = formula[0]
    if kind == "turn":
        return formula[1] * turn + formula[2]
    if kind == "is":
        return formula[1]
    if kind == "symbol":
        return symbols[formula[1]]
    return formula[1](value(formula[2], turn, symbols), value(formula[3], turn, symbols))


def shifted(formula: Formula) -> Formula:
    """That of the turn before."""
    kind = formula[0]
    if kind == "turn":
        return kind, formula[1], formula[2] - formula[1], formula[3]
    if kind == "of":
        return kind, formula[1], shifted(formula[2]), shifted(formula[3])
    return formula


def holds(question: Question, turn: int, symbols: Sequence[Any]) -> Any:
    """The answer to a question in a turn."""
    how, one, other = question
    return how(value(one, turn, symbols), value(other, turn, symbols))


def agrees(question: Question, answer: Any, turn: int, symbols: Sequence[Any]) -> bool:
    """Whether a turn gives this answer; False if it cannot be told."""
    try:
        return bool(holds(question, turn, symbols)) == bool(answer)
    except FAILURES:
        return False


def first(asked: Sequence[Asked], start: int, stop: int, symbols: Sequence[Any]) -> int | None:
    """The first turn from ``start`` on, and before ``stop``, in which all questions have these
    answers; NOT_DECIDED if it is not found within ``MOST`` tries."""
    try:
        told = [
            (Question(how, _told(one, symbols), _told(other, symbols)), answer)
            for (how, one, other), answer in asked
        ]
        return _first(told, start, stop, symbols)
    except FAILURES:
        return NOT_DECIDED


def _told(formula: Formula, symbols: Sequence[Any]) -> Formula:
    """The formula with the numbers of its symbols in their places."""
    kind = formula[0]
    if kind == "symbol":
        return "is", symbols[formula[1]]
    if kind != "of":
        return formula
    how, one, other = formula[1], _told(formula[2], symbols), _told(formula[3], symbols)
    if one[0] == other[0] == "is":
        return "is", how(one[1], other[1])
    return folded(how, one, other)


def _first(asked: Sequence[Asked], start: int, stop: int, symbols: Sequence[Any]) -> int | None:
    rest: list[Asked] = []
    gaps: list[tuple[int, int]] = []  # of turns that a question leaves out
    within: list[Any] = []  # asks of a loop within this one, see ``within.py``
    step, residue, period = 1, 0, 1
    for question, answer in asked:
        if answer and hasattr(question.how, "first"):
            within.append(question.how)
            continue
        stretch = _stretch(question, answer, start, stop, symbols)
        if stretch is not None:
            start, stop = stretch
            if start >= stop:
                return None
            continue
        gap = _gap(question, answer, start, stop, symbols)
        if gap is not None:
            gaps.append(gap)
            continue
        every = _progression(question, answer, symbols)
        if every is not None:
            merged = _merged((step, residue), every)
            if merged is None:
                return None
            step, residue = merged
            continue
        rest.append((question, answer))
        own = _period(question, symbols)
        period = 0 if own is None else lcm(period, own)
    turn, tries = start + (residue - start) % step, 0
    enough = lcm(period, step) // step if period else FOREVER
    while turn < stop and tries < enough:
        behind = next((end for begin, end in gaps if begin <= turn < end), None)
        if behind is None and within:
            ahead = [each.first(turn, stop) for each in within]
            if None in ahead:
                return None
            behind = max(ahead) if max(ahead) > turn else None
        if behind is not None:
            turn = behind + (residue - behind) % step
        elif all(bool(holds(each, turn, symbols)) == bool(answer) for each, answer in rest):
            return turn
        else:
            turn, tries = turn + step, tries + 1
            if tries > MOST:
                return NOT_DECIDED
    return None


def _gap(
    question: Question, answer: Any, start: int, stop: int, symbols: Sequence[Any]
) -> tuple[int, int] | None:
    """The turns in which both sides are equal, if a question asks that they are not."""
    if not _is_equality(question, answer=not answer):
        return None
    return _stretch(question, not answer, start, stop, symbols)


def _is_equality(question: Question, *, answer: Any) -> bool:
    """Whether it asks that both sides are equal."""
    return question.how is (operator.eq if answer else operator.ne)


def _stretch(
    question: Question, answer: Any, start: int, stop: int, symbols: Sequence[Any]
) -> tuple[int, int] | None:
    """The turns of ``start`` to ``stop`` in which the answer is this; None if they are no stretch
    whose ends can be found."""
    how, one, other = question
    if how in ORDERS:
        rises = _both(question, symbols)
        if rises is None:
            return None
        how = how if answer else ORDERS[how]
        wanted = Question(how, one, other)
        is_up = rises * (1 if how in (operator.gt, operator.ge) else -1) >= 0
        at = _change(wanted, start, stop, symbols, becomes=is_up)
        return (at, stop) if is_up else (start, at)
    if _is_equality(question, answer=answer):
        if _both(question, symbols) is None:
            return None
        for each in (operator.ge, operator.le):
            found = _stretch(Question(each, one, other), True, start, stop, symbols)
            start, stop = found or (start, start)
            if start >= stop:
                break
        return start, stop
    return None


def _change(
    question: Question, start: int, stop: int, symbols: Sequence[Any], *, becomes: bool
) -> int:
    """Where the answer becomes true, or false."""
    while start < stop:
        middle = (start + stop) // 2
        if bool(holds(question, middle, symbols)) is becomes:
            stop = middle
        else:
            start = middle + 1
    return start


def _both(question: Question, symbols: Sequence[Any]) -> int | None:
    """Whether the left side rises (1) against the right one, falls (-1) or neither (0)."""
    one, other = _slope(question.one, symbols), _slope(question.other, symbols)
    return _added(one, None if other is None else -other)


def _added(one: int | None, other: int | None) -> int | None:
    if one is None or other is None or one * other < 0:
        return None
    return one or other


def _slope(formula: Formula, symbols: Sequence[Any]) -> int | None:
    """Whether a formula rises with the turn, falls or stays; None if it may do several."""
    kind = formula[0]
    if kind == "turn":
        return 1 if formula[1] > 0 else -1
    if kind != "of":
        return 0
    how, one, other = formula[1:]
    left, right = _slope(one, symbols), _slope(other, symbols)
    if left == 0 and right == 0:
        return 0
    if how in RISING:
        return left
    if how is operator.add:
        return _added(left, right)
    if how is operator.sub:
        return _added(left, None if right is None else -right)
    if how is operator.mul and 0 in (left, right):
        fixed, moving = (one, right) if left == 0 else (other, left)
        return None if moving is None else _sign(value(fixed, 0, symbols)) * moving
    if how in (operator.truediv, operator.floordiv) and right == 0 and left is not None:
        return _sign(value(other, 0, symbols)) * left
    return None


def _sign(number: Any) -> int:
    return int(number > 0) - int(number < 0)


def _period(question: Question, symbols: Sequence[Any]) -> int | None:
    """After how many turns the answers come again; None if they need not."""
    one, other = _again(question.one, symbols), _again(question.other, symbols)
    return None if one is None or other is None else lcm(one, other)


def _again(formula: Formula, symbols: Sequence[Any]) -> int | None:
    kind = formula[0]
    if kind == "turn":
        return None
    if kind != "of":
        return 1
    how, one, other = formula[1:]
    left, right = _again(one, symbols), _again(other, symbols)
    if left is not None and right is not None:
        return lcm(left, right)
    if how is operator.mod and right == 1:
        divisor = value(other, 0, symbols)
        scale, inner = 1, one
        if inner[0] == "of" and inner[1] is operator.floordiv and inner[3][0] != "turn":
            scale, inner = value(inner[3], 0, symbols), inner[2]
        whole = type(divisor) is int and type(scale) is int and divisor * scale != 0
        if inner[0] == "turn" and whole:
            cycle: int = abs(divisor * scale)
            return cycle // gcd(inner[1], cycle)
    return None


def _progression(question: Question, answer: Any, symbols: Sequence[Any]) -> tuple[int, int] | None:
    """Every how many turns, and from which residue on, ``turn % n == r`` has the answer; None of
    any other question."""
    _, one, other = question
    if not _is_equality(question, answer=answer) or one[0] != "of" or one[1] is not operator.mod:
        return None
    moving, divisor = one[2], one[3]
    if moving[0] != "turn" or abs(moving[1]) != 1 or "turn" in (divisor[0], other[0]):
        return None
    if "of" in (divisor[0], other[0]):
        return None
    every, rest = value(divisor, 0, symbols), value(other, 0, symbols)
    if type(every) is not int or type(rest) not in (int, bool) or every <= 0:
        return None
    if not 0 <= rest < every:
        return None
    return every, (rest - moving[2]) * moving[1] % every


def _merged(one: tuple[int, int], other: tuple[int, int]) -> tuple[int, int] | None:
    """The turns that are of both; None if there are none."""
    (step, residue), (every, rest) = one, other
    shared = gcd(step, every)
    if (rest - residue) % shared:
        return None
    turns = (
        (rest - residue) // shared * pow(step // shared, -1, every // shared) % (every // shared)
    )
    return lcm(step, every), (residue + step * turns) % lcm(step, every)
