"""Questions that a loop within another one left open: in which turn of the outer one they come.

If the inner loop has ``count`` turns, turn ``t`` of all its turns is turn ``t % count`` of the turn
``t // count`` of the outer loop. How far a counter is at the start is known from turns of the outer
loop that were read: it grows by the same from one to the next, or stays.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any, TypeAlias

from nanolint.interpreter.counted import Formula, Question, folded
from nanolint.script import when

if TYPE_CHECKING:
    import ast
    from collections.abc import Iterable, Iterator, Sequence

    from nanolint.interpreter.counted import Noted, Turn
    from nanolint.script.kinds import Asked, Kinds

SAMPLES = 3  # turns of the outer loop that tell how a counter goes on
MOST_SAMPLES = 6  # after which it is not known
ALL: Formula = "turn", 1, 0, True

Path: TypeAlias = "tuple[tuple[Any, bool], ...]"  # keys of questions, with their answers


class NotALine(ValueError):
    """Nobody knows how a counter goes on from one turn of the outer loop to the next."""


class Inner:
    """The questions of an inner loop, in turns of the outer one that were read."""

    def __init__(self, node: ast.stmt) -> None:
        self.node = node
        self._deeper: dict[ast.stmt, Inner] = {}  # loops within the inner one
        self._within: dict[tuple[Any, bool], Within] = {}
        self._samples: dict[Any, dict[int, Question]] = {}
        self._sizes: dict[Any, dict[Formula, None]] = {}
        self._joint: dict[Any, Question | None] = {}
        self._counts: set[int] = set()

    @property
    def count(self) -> int:
        """How many turns the inner loop has. Raises NotALine."""
        if len(self._counts) != 1:
            raise NotALine
        return next(iter(self._counts))

    def take(
        self, outer: int, turn: Turn, known: Kinds, opened: list[tuple[Noted, Asked]], count: int
    ) -> Iterator[tuple[Within, Noted, bool]]:
        """It had ``count`` turns in the turn ``outer``. Yields what may come in another one, with
        the question that is ``opened``, or was; and whether it came in this one."""
        noted = {each.question: each for path in known.paths for each in path}
        own = (each for each in noted.values() if not isinstance(each.question.how, Within))
        self._add(outer, count, [(each.key, pinned(each.question, turn)) for each in own])
        for each, asked in opened:
            if each.is_size:
                sizes = (pinned(one, turn).other for one in known.sizes(each.key))
                self._sizes.setdefault(each.key, {}).update(dict.fromkeys(sizes))
            told = [(noted[one].key, bool(answer)) for one, answer in asked]
            how = each.question.how
            if isinstance(how, Within):
                inner = self._deeper.setdefault(how.inner.node, Inner(how.inner.node))
                inner._take_over(outer, how, count)
                paths = [*how.paths]
            else:
                inner, paths = self, [tuple(told)]
            within = inner._within.setdefault(
                (each.key, each.is_size or not each.answer), Within(inner)
            )
            within.paths.update(dict.fromkeys(paths))
            yield within, each, False
        for each in noted.values():
            for inner in (self, *self._deeper.values()):
                for answer in (True, False):
                    if known.has_seen(each.key, answer=answer):
                        found = inner._within.get((each.key, answer))
                        if found is not None:
                            yield found, each, True

    def _add(self, turn: int, count: int, questions: Iterable[tuple[Any, Question]]) -> None:
        self._joint.clear()
        self._counts.add(count)
        for key, question in questions:
            self._samples.setdefault(key, {})[turn] = question

    def _take_over(self, turn: int, within: Within, count: int) -> None:
        """Take the questions of a loop in a loop, as the turns of both ask them."""
        inner = within.inner
        try:
            count *= inner.count
            keys = {key for path in within.paths for key, _ in path}
            found = [(key, inner.joint(key)) for key in keys]
        except NotALine:
            self._add(turn, -1, ())
            return
        self._add(turn, count, [(key, each) for key, each in found if each is not None])
        self._sizes |= {key: inner._sizes[key] for key in keys if key in inner._sizes}

    def joint(self, key: Any) -> Question | None:
        """The question by the number among all turns of the inner loop; None if more have to be
        read. Raises NotALine."""
        if key not in self._joint:
            samples = self._samples.get(key, {})
            try:
                self._joint[key] = self._of_latest(key, list(samples.items())[-SAMPLES:])
            except NotALine:
                if len(samples) > MOST_SAMPLES:
                    raise
                self._joint[key] = None  # something begins anew, and goes on from there
        return self._joint[key]

    def _of_latest(self, key: Any, samples: list[tuple[int, Question]]) -> Question | None:
        if len(samples) < SAMPLES:
            return None
        turns, asked = [turn for turn, _ in samples], [question for _, question in samples]
        one = _together(turns, [each.one for each in asked], self.count)
        if key in self._sizes:
            return Question(asked[0].how, one, one)
        other = _together(turns, [each.other for each in asked], self.count)
        return Question(asked[0].how, one, other)

    def path(self, told: Path) -> Asked:
        """The questions with their answers, by the number among all turns of the inner loop,
        except those of which too few were read. Raises NotALine."""
        found: Asked = []
        for at, (key, answer) in enumerate(told):
            question = self.joint(key)
            if question is None:
                continue
            if key in self._sizes and at == len(told) - 1:
                found += [(question._replace(other=each), False) for each in self._sizes[key]]
            elif key not in self._sizes:
                found.append((question, answer))
        return found


class Within:
    """Asks of a turn of the outer loop whether a turn of the inner one gives such answers."""

    def __init__(self, inner: Inner) -> None:
        self.inner = inner
        self.paths: dict[Path, None] = {}  # each may lead there

    def __call__(self, turn: int, _: Any) -> bool:
        return self.first(turn, turn + 1) == turn

    def first(self, start: int, stop: int) -> int | None:
        """The first turn of the outer loop in which it may be so: it has to be read to know how
        the counters go on, if too few were read. Raises NotALine."""
        count, found = self.inner.count, []
        for each in self.paths:
            turn = when.first(self.inner.path(each), start * count, stop * count, ())
            if turn == when.NOT_DECIDED:
                raise NotALine
            found += [] if turn is None else [turn // count]
        return min(found, default=None)


def pinned(question: Question, turn: Turn) -> Question:
    """The question with the symbolic numbers of a turn taken for what they are."""
    return Question(question.how, _pinned(question.one, turn), _pinned(question.other, turn))


def _pinned(formula: Formula, turn: Turn) -> Formula:
    if formula[0] == "symbol":
        return "is", int(turn.symbols[formula[1]])  # type: ignore[call-overload]
    if formula[0] != "of":
        return formula
    return "of", formula[1], _pinned(formula[2], turn), _pinned(formula[3], turn)


def _together(turns: list[int], formulas: Sequence[Formula], count: int) -> Formula:
    """The formula by the number among all turns, of those in ``turns`` of the outer loop."""
    first = formulas[0]
    if any(each[0] != first[0] for each in formulas):
        raise NotALine
    if first[0] == "of":
        if any(each[1] is not first[1] for each in formulas):
            raise NotALine
        one, other = (_together(turns, [each[side] for each in formulas], count) for side in (2, 3))
        return folded(first[1], one, other)
    if first[0] == "is":
        return _line(turns, [each[1] for each in formulas], count)
    if any(each[1] != first[1] for each in formulas):
        raise NotALine
    slope, starts = first[1], [each[2] for each in formulas]
    if _slope(turns, starts) == slope * count:
        return "turn", slope, starts[0] - slope * count * turns[0], True
    inner = folded(operator.mul, ("of", operator.mod, ALL, ("is", count)), ("is", slope))
    return folded(operator.add, inner, _line(turns, starts, count))


def _line(turns: list[int], values: list[Any], count: int) -> Formula:
    """A number that the outer loop's turns have, as they go on."""
    if all(type(each) is type(values[0]) and each == values[0] for each in values):
        return "is", values[0]
    slope = _slope(turns, values)
    outer = "of", operator.floordiv, ALL, ("is", count)
    start = values[0] - slope * turns[0]
    return folded(operator.add, folded(operator.mul, outer, ("is", slope)), ("is", start))


def _slope(turns: list[int], values: list[Any]) -> int:
    """By how much whole numbers grow in a turn. Raises NotALine."""
    if any(type(each) is not int for each in values):
        raise NotALine
    slope: int = (values[1] - values[0]) // (turns[1] - turns[0])
    pairs = zip(turns, values, strict=True)
    if any(value - values[0] != slope * (turn - turns[0]) for turn, value in pairs):
        raise NotALine
    return slope
