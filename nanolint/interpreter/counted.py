"""Numbers that follow from the turn of the loop that trains: the step, the tokens so far.

Each carries its formula. What is worked out of it has one, too, and a comparison is noted as a
question about the turn, with its answer: so it can be told in which other turns the answer differs.
A number of an earlier turn is a plain one. A fraction that is watched stays watched.
"""

from __future__ import annotations

import math
import operator
from typing import TYPE_CHECKING, Any, NamedTuple

from nanolint.interpreter.watched import Watched
from nanolint.tape.symbolic import TAKES_OVER, Symbolic

if TYPE_CHECKING:
    import ast
    from collections.abc import Callable

    from nanolint.interpreter.values import Place

# ("turn", a, b, is_free): a * turn + b, where a loop around this one goes on counting if it is
# free. ("is", value). ("symbol", place among the symbols). ("of", function, one, other).
Formula = tuple[Any, ...]
NUMBERS = (int, float, bool, Symbolic)
NONE = frozenset[str]()


class Question(NamedTuple):
    """A comparison of two formulas."""

    how: Callable[[Any, Any], Any]
    one: Formula
    other: Formula


class Noted:
    """A question that a turn asked, with its answer. ``key`` tells it from others in every run of
    the loop. ``ends``: with another answer the loop is over,
    before this turn (1) or in it (2), and ``exits``: so is the program; ``acts``: it does more than
    that; ``evaluates`` is the branch that it
    leads to, which only evaluates; ``is_size``: it asks whether a size is what it was; ``sets`` are
    the values that alone hang on it, if nothing else does."""

    __slots__ = (
        *("acts", "answer", "by", "ends", "evaluates", "exits", "is_size", "key", "place"),
        *("question", "sets"),
    )

    def __init__(
        self, by: Turn, question: Question, answer: Any, place: Place, *, is_size: bool
    ) -> None:
        self.by, self.question, self.answer, self.place = by, question, answer, place
        self.ends, self.exits, self.acts = 0, False, False
        self.evaluates: ast.If | None = None
        self.is_size = is_size
        self.sets: frozenset[str] = NONE
        other = None if is_size else _skeleton(question.other)
        self.key = place, question.how, _skeleton(question.one), other


class Turn:
    """The turn of a loop, and the symbolic numbers that it is compared with. ``depth`` is the
    number of loops around it that train; ``is_over``: the loop was left."""

    def __init__(self, asked: list[Noted], place: Callable[[], Place], depth: int = 0) -> None:
        self.number = -1
        self.depth, self.is_over = depth, False
        self.symbols: list[Symbolic] = []
        self._asked, self._place = asked, place

    def formula(self, value: Any) -> Formula:
        """That of any number, as this loop sees it."""
        if type(value) in COUNTED and value.turn is self and value.number == self.number:
            formula: Formula = value.formula
            return formula
        value = plain(value)
        if type(value) is Symbolic:
            at = next((i for i, each in enumerate(self.symbols) if each is value), None)
            if at is None:
                at = len(self.symbols)
                self.symbols.append(value)
            return "symbol", at
        return "is", value

    def ask(
        self,
        how: Callable[[Any, Any], Any],
        one: Any,
        other: Any,
        answer: Any,
        *,
        is_size: bool = False,
    ) -> None:
        """Note a comparison that was answered, if it depends on the turn."""
        question = Question(how, self.formula(one), self.formula(other))
        if not (_is_fixed(question.one) and _is_fixed(question.other)):
            self._asked.append(Noted(self, question, answer, self._place(), is_size=is_size))

    def made(self, value: Any, formula: Formula) -> Any:
        """A number of this turn."""
        kind = type(value.value if type(value) is Symbolic else value)
        if kind not in (int, float) or _is_fixed(formula):
            return value
        number = (Counted if kind is int else CountedReal)(
            value.value if type(value) is Symbolic else value
        )
        number.formula, number.turn, number.number, number.now = formula, self, self.number, value
        return number


class Length(NamedTuple):
    """The length of a list which grows by ``slope`` a turn; ``held`` is the length when the turn
    begins, without those of turns that are left out."""

    turn: Turn
    slope: int
    start: int
    held: int

    def of(self, value: Any) -> Any:
        """The length now."""
        start = self.start + len(value) - self.held
        found = self.slope * self.turn.number + start
        return self.turn.made(found, ("turn", self.slope, start, True))


class Counted(int):
    """A whole number of a turn; ``now`` is the plain or symbolic one."""

    formula: Formula
    turn: Turn
    number: int
    now: Any


class CountedReal(float):
    """A fraction of one."""

    formula: Formula
    turn: Turn
    number: int
    now: Any


COUNTED = frozenset({Counted, CountedReal})
TAKES_OVER.update(COUNTED)


def plain(value: Any) -> Any:
    """The number without its formula."""
    return value.now if type(value) in COUNTED else value


def pinned(value: Any) -> Any:
    """Returns the number and notes that it decides a size: another number is another size."""
    if type(value) not in COUNTED:
        return value
    value.turn.ask(operator.eq, value, value.now, True, is_size=True)
    return value.now


def converted(kind: type, value: Any) -> Any:
    """``int(value)`` and ``float(value)``."""
    return _worked_out(_truncated if kind is int else _as_float, value, 0)


def looked_up(owner: Any, index: Any) -> Any:
    """Returns ``owner[index]``. The number of a turn decides what it finds, if
    that is an integer or a text."""
    if type(index) not in COUNTED:
        return index
    found = owner.values() if isinstance(owner, dict) else owner
    if isinstance(owner, (dict, list, tuple)) and any(isinstance(e, (int, str)) for e in found):
        if isinstance(owner, dict):
            for key in owner:
                if key == index:  # asked of one after the other
                    break
        else:
            pinned(index)
    return plain(index)


def _turn_of(one: Any, other: Any) -> Turn | None:
    """The innermost loop whose turn either is of."""
    turns = [
        each.turn
        for each in (one, other)
        if type(each) in COUNTED and each.number == each.turn.number and not each.turn.is_over
    ]
    return max(turns, key=lambda each: each.depth, default=None)


def _worked_out(how: Callable[[Any, Any], Any], one: Any, other: Any) -> Any:
    found = how(plain(one), plain(other))
    turn = _turn_of(one, other)
    if turn is None:
        return found
    return turn.made(found, folded(how, turn.formula(one), turn.formula(other)))


def folded(how: Callable[[Any, Any], Any], left: Formula, right: Formula) -> Formula:
    """A sum, a difference and a multiple of a turn's number are such numbers."""
    kinds = left[0], right[0]
    whole = all(type(part[1]) is int for part in (left, right) if part[0] == "is")
    if kinds == ("turn", "turn") and how in (operator.add, operator.sub):
        sign = 1 if how is operator.add else -1
        slope, start = left[1] + sign * right[1], left[2] + sign * right[2]
        return ("turn", slope, start, left[3] or right[3]) if slope else ("is", start)
    if kinds == ("turn", "is") and whole:
        _, slope, start, is_free = left
        if how is operator.add or how is operator.sub:
            return "turn", slope, how(start, right[1]), is_free
        if how is operator.mul and right[1]:
            return "turn", slope * right[1], start * right[1], is_free
    if kinds == ("is", "turn") and whole:
        _, slope, start, is_free = right
        if how is operator.add:
            return "turn", slope, start + left[1], is_free
        if how is operator.sub:
            return "turn", -slope, left[1] - start, is_free
        if how is operator.mul and left[1]:
            return "turn", slope * left[1], start * left[1], is_free
    if _is_fixed(left) and _is_fixed(right):
        return "is", None
    return "of", how, left, right


def _is_fixed(formula: Formula) -> bool:
    """Whether it is the same in each turn."""
    kind = formula[0]
    if kind == "of":
        return _is_fixed(formula[2]) and _is_fixed(formula[3])
    return bool(kind != "turn")


def _skeleton(formula: Formula) -> Formula:
    """A formula without how far a loop around this one is."""
    if formula[0] == "turn":
        return formula[0], formula[1]
    if formula[0] == "of":
        return formula[1], _skeleton(formula[2]), _skeleton(formula[3])
    return formula


def _truncated(one: Any, _other: Any) -> Any:
    return int(one)


def _as_float(one: Any, _other: Any) -> Any:
    return float(one)


def _magnitude(one: Any, _other: Any) -> Any:
    return abs(one)


def _rounded(one: Any, digits: Any) -> Any:
    return round(one, digits)


def _floor(one: Any, _other: Any) -> Any:
    return math.floor(one)


def _ceil(one: Any, _other: Any) -> Any:
    return math.ceil(one)


RISING = frozenset(
    {_truncated, _as_float, _rounded, _floor, _ceil}
)  # a larger number comes to no less


def _works_out(how: Callable[[Any, Any], Any], *, swapped: bool) -> Callable[[Any, Any], Any]:
    def working(self: Any, other: Any) -> Any:
        if type(other) is Watched and how in (operator.truediv, operator.floordiv, operator.mod):
            other = other.seen()
        if type(other) not in NUMBERS and type(other) not in COUNTED:
            return NotImplemented
        return _worked_out(how, other, self) if swapped else _worked_out(how, self, other)

    return working


def _compares(how: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def comparing(self: Any, other: Any) -> Any:
        if type(other) is Watched:
            other = other.seen()
        if type(other) not in NUMBERS and type(other) not in COUNTED:
            return NotImplemented
        found = how(plain(self), plain(other))
        turn = _turn_of(self, other)
        if turn is not None and other is not self:
            turn.ask(how, self, other, found)
        return found

    return comparing


_WORKING = (
    *("add", "sub", "mul", "floordiv", "mod", "truediv", "pow", "lshift", "rshift"),
    *("and", "or", "xor"),
)
for _kind in COUNTED:
    for _name in _WORKING:
        _how = getattr(operator, f"__{_name}__")
        setattr(_kind, f"__{_name}__", _works_out(_how, swapped=False))
        setattr(_kind, f"__r{_name}__", _works_out(_how, swapped=True))
    for _name in ("eq", "ne", "lt", "le", "gt", "ge"):
        setattr(_kind, f"__{_name}__", _compares(getattr(operator, _name)))
    for _name, _member in (
        ("__bool__", lambda self: self != 0),
        ("__neg__", lambda self: 0 - self),
        ("__pos__", lambda self: self),
        ("__abs__", lambda self: _worked_out(_magnitude, self, 0)),
        ("__divmod__", lambda self, other: (self // other, self % other)),
        ("__trunc__", lambda self: _worked_out(_truncated, self, 0)),
        ("__floor__", lambda self: _worked_out(_floor, self, 0)),
        ("__ceil__", lambda self: _worked_out(_ceil, self, 0)),
        ("__round__", lambda self, digits=None: _worked_out(_rounded, self, digits)),
        ("__hash__", lambda self: hash(plain(self))),
    ):
        setattr(_kind, _name, _member)
