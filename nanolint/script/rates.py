"""Learning rates as functions of the step: each that the loop sets, or steps a schedule for.

The rate is worked out again for all steps of the run as plain numbers (``plainly.py``). What comes
out has to be what the loop has set in the turns that were read; otherwise nothing is said.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from nanolint.interpreter.counted import COUNTED, plain
from nanolint.interpreter.values import Function, Instance, Native, Unknown
from nanolint.interpreter.watched import Watched
from nanolint.run.learning_rate import SMOKE, judged
from nanolint.run.story import Fact, Told
from nanolint.script import flows, when
from nanolint.script.plainly import FAILURES, Call, Made, Plain, Unsure
from nanolint.script.schedules import SCHEDULES, rate_of
from nanolint.source.python import of_node
from nanolint.tape.symbolic import Symbolic
from nanolint.tape.symbolic import plain as unnoted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from nanolint.interpreter.counted import Turn
    from nanolint.interpreter.scopes import Frame
    from nanolint.interpreter.values import Value
    from nanolint.run.story import Stack
    from nanolint.tensors.device import Card

RATE = "lr"
PER_TURN = "turn"  # a schedule steps in a loop around the one that steps
FEWEST = 3  # turns of that
FEW = 64  # numbers of functions that are known
TRIES = 6  # turns, after which a rate is none that is known
CLOSE = 1e-6  # of a rate that is worked out again
NUMBERS = frozenset({int, float, Symbolic, Watched, *COUNTED})
REALS = frozenset({float, Watched})


class Loop(Protocol):
    """A loop that trains: ``Course``."""

    node: ast.For | ast.While
    turn: Turn

    @property
    def turns(self) -> Any:
        """How many it has, once it is left."""


class Stepped(NamedTuple):
    """A step of a schedule: the loops that it is in, their turns, and the steps so far."""

    courses: tuple[Loop, ...]
    turns: tuple[int, ...]
    done: int


class Schedule(Unknown):
    """A schedule of a library: of its object nothing else is known."""

    __slots__ = ("arguments", "base", "calls", "name", "options", "stack")

    def __init__(self, of: Unknown, name: str, stack: Stack) -> None:
        super().__init__(of.reason, of.place)
        self.name, self.stack = name, stack
        self.arguments: list[Value] = []
        self.options: dict[str, Value] = {}
        self.base: Value = None
        self.calls: list[Stepped] = []


class Set:
    """A statement of the loop that sets a rate. ``seen``: the turn, the steps so far, the rate."""

    def __init__(self, stack: Stack, course: Loop) -> None:
        self.stack, self.course = stack, course
        self.of: Callable[[], Any] | None = None
        self.plain = Plain(None, frozenset(), {})
        self.seen: list[tuple[int, int, float]] = []
        self.tries = 0


class Rates:
    """All rates of a reading."""

    def __init__(self, machine: Any, here: Callable[[], Stack]) -> None:
        self._machine, self._here = machine, here
        self._made: dict[int, Made] = {}
        self._set: dict[ast.stmt, Set] = {}
        self._schedules: list[Schedule] = []
        self._lost: set[ast.stmt] = set()
        self._around: dict[ast.stmt, list[Loop]] = {}  # the loops around a loop, and itself

    # What the reading tells.

    def takes(self, arguments: Sequence[Value]) -> tuple[Value, ...] | None:
        """The arguments of a call that may work out a rate; None of any other."""
        if not arguments or not self._machine.turns.courses:
            return None
        *owner, last = arguments
        is_rate = type(last) in NUMBERS and all(
            type(each) in NUMBERS or type(each) is Instance for each in owner
        )
        return tuple(arguments) if is_rate else None

    def returned(self, found: Value, function: Function, given: tuple[Value, ...]) -> None:
        """A function has returned a number."""
        if type(found) in REALS:
            while len(self._made) >= FEW:
                del self._made[next(iter(self._made))]
            self._made[id(found)] = Made(found, function, given)

    def meets(self, node: ast.stmt, frame: Frame) -> None:
        """A statement of a loop that trains was run."""
        if type(node) is not ast.Assign or node in self._lost or not _sets_rate(node):
            return
        course, phases = self._machine.turns.courses[-1], self._machine.phases
        value = self._now(node, frame)
        turn = unnoted(course.turn.number)
        known = self._set.get(node)
        if known is None:
            known = self._set[node] = Set(self._here(), course)
            self._around[node] = list(self._machine.turns.courses)
        if known.course is not course or (known.seen and known.seen[-1][0] == turn):
            return
        if type(value) not in NUMBERS:
            self._lost.add(node)
            return
        rate = value.among(()) if type(value) is Watched else float(unnoted(plain(value)))
        if known.of is not None and known.tries < TRIES:
            known.plain.at = turn
            if not _is_close(_tried(known.of), rate):
                known.of = None  # by now it may be known how a number counts
        if known.of is None:
            known.tries += 1
            if not self._tell(known, node, frame, rate, turn) and known.tries >= TRIES:
                self._lost.add(node)
        known.seen.append((turn, phases.done, rate))

    def _now(self, node: ast.Assign, frame: Frame) -> Value:
        """The rate that a statement has set."""
        target = node.targets[0]
        assert isinstance(target, ast.Subscript)
        owner = target.value
        group = frame.find(owner.id) if isinstance(owner, ast.Name) else None
        if isinstance(owner, ast.Subscript) and isinstance(owner.value, ast.Attribute):
            holder = owner.value.value
            of = frame.find(holder.id) if isinstance(holder, ast.Name) else None
            groups = of.attributes.get("param_groups") if isinstance(of, Instance) else None
            group = groups[0] if isinstance(groups, list) and groups else None
        if not isinstance(group, dict) or "params" not in group:
            return None
        return group.get(RATE)

    def _tell(self, known: Set, node: ast.Assign, frame: Frame, rate: float, turn: int) -> bool:
        """Whether the rate that was set can be worked out from what it is made of."""
        course = known.course
        of = Plain(course.turn, self._banned(course), dict(self._made))
        of.is_nested = len(self._around[node]) > 1
        of.at = turn
        body = course.node.body if frame.function is None else frame.function.node.body
        if not isinstance(body, list):
            return False
        part, names = _sliced(body, node)
        around = {name: frame.find(name) for name in names}

        def work_out() -> Any:
            call = Call(of, {}, None, around=around)
            call.ran(part)
            return call.worked_out(node.value)

        if _is_close(_tried(work_out), rate):
            known.of, known.plain = work_out, of
        return known.of is not None

    def _banned(self, course: Loop) -> frozenset[str]:
        """The names that the loop, or a function in it, sets."""
        found = flows.around(course.node, self._machine.trees())
        return flows.written(course.node).union(*found.writes.values())

    def makes(
        self, of: Unknown, arguments: list[Value], options: dict[str, Value]
    ) -> Schedule | None:
        """A library makes something that may be a schedule."""
        name = of.reason.removesuffix(" is not known").rpartition(".")[2]
        if name not in SCHEDULES or not of.reason.startswith(("torch.optim.", "transformers.")):
            return None
        given = dict(options)
        optimizer = arguments[0] if arguments else given.pop("optimizer", None)
        groups = optimizer.attributes.get("param_groups") if type(optimizer) is Instance else None
        if groups is None and type(optimizer) is Instance:  # accelerate has prepared it
            inner = optimizer.attributes.get("optimizer")
            groups = inner.attributes.get("param_groups") if type(inner) is Instance else None
        made = Schedule(of, name, self._here())
        made.arguments, made.options = list(arguments[1:]), given
        if isinstance(groups, list) and groups and isinstance(groups[0], dict):
            made.base = groups[0].get("initial_lr", groups[0].get(RATE))
        self._schedules.append(made)
        return made

    def attribute(self, schedule: Schedule, name: str) -> Value:
        """An attribute of a schedule."""
        if name != "step":
            return schedule.bare()

        def step(*given: Value, **options: Value) -> None:
            if given or options:
                schedule.base = None  # a metric, or a step of the program's own
            courses = tuple(self._machine.turns.courses)
            turns = tuple(unnoted(each.turn.number) for each in courses)
            schedule.calls.append(Stepped(courses, turns, self._machine.phases.done))

        return Native(f"{schedule.name}.step", step, plain=False)

    # The story.

    def told(self) -> Iterator[Told]:
        """Yields what is wrong with a rate."""
        for node, each in self._set.items():
            if node not in self._lost and each.of is not None:
                yield from self._of_set(self._around[node], each, each.of, each.plain)
        parts = [
            part
            for each in self._schedules
            for part in (*each.arguments, *each.options.values())
            if isinstance(part, list)
        ]
        inner = {id(part) for listed in parts for part in listed}
        for schedule in self._schedules:
            if id(schedule) not in inner and type(schedule.base) in NUMBERS:
                yield from self._of_schedule(schedule)

    def _of_set(
        self, courses: list[Loop], each: Set, work_out: Callable[[], Any], of: Plain
    ) -> Iterator[Told]:
        period = _period(each.seen)
        turns = _turns(courses)
        if period is None or turns is None:
            return
        for turn, _, rate in each.seen:
            of.at = turn
            if not _is_close(_tried(work_out), rate):
                return

        def rate_at(step: int) -> float:
            of.at = step * period
            return float(work_out())

        yield from self._judged(each.stack, of, lambda: rate_at, turns, period, "")

    def _of_schedule(self, schedule: Schedule) -> Iterator[Told]:
        courses = list(schedule.calls[0].courses) if schedule.calls else []
        loops = [each.node for each in courses]
        if not loops or any([o.node for o in each.courses] != loops for each in schedule.calls):
            return
        if len(loops) > 1 and not _steps_within(schedule.calls):
            courses.pop()  # of the passes of a step
        calls = [(each.turns[len(courses) - 1], each.done) for each in schedule.calls]
        turns, course = _turns(courses), courses[-1]
        if turns is None:
            return
        is_direct = min(done for _, done in calls) < max(done for _, done in calls)
        if is_direct:
            period, often = _period([(*each, 0.0) for each in calls]), _per_step(calls)
        else:  # once a turn of a loop around
            period, often = 1, 1 if len({turn for turn, _ in calls}) == len(calls) else None
        if period is None or often is None:
            return
        of = Plain(None, self._banned(course), {})

        def made() -> Callable[[int], float]:
            rate = rate_of(of, schedule.name, schedule.base, schedule.arguments, schedule.options)
            return lambda step: rate(step * often)

        how = str(often) if often > 1 else "" if is_direct else PER_TURN
        yield from self._judged(schedule.stack, of, made, turns, period, how)

    def _judged(
        self,
        stack: Stack,
        of: Plain,
        made: Callable[[], Callable[[int], float]],
        turns: list[Any],
        period: int,
        how: str,
    ) -> Iterator[Told]:
        """What is wrong with a rate is asked, and nothing else about the numbers that it is made
        of: others with the same answer have the same reading."""
        count = len(turns)

        def question(card: Card, *values: Any) -> Any:
            of.numbers = card.numbers
            of.given = values[count:] if len(values) > count else None
            steps = 1
            for each in values[:count]:
                steps *= int(each)
            try:
                least = FEWEST if how == PER_TURN else SMOKE
                return judged(made(), steps // period, least=least)
            except (Unsure, *FAILURES):
                return None

        asked = self._machine.around.asked
        if asked.formulas is not None:
            asked.elsewhere().ask(question, *map(unnoted, turns))  # it finds its symbolic numbers
        found = asked.answer(question, *turns, *of.symbols)
        if found is not None:
            what, numbers, rates = found
            words = (what, how, *(f"{rate:.3g}" for rate in rates))
            yield Told(Fact.RATE, stack, words=words, numbers=numbers)


def _turns(courses: list[Loop]) -> list[Any] | None:
    """The number of turns of each of these loops; None if one is not known."""
    found = [each.turns for each in courses]
    if any(each is None or not 0 < unnoted(each) < when.FOREVER for each in found):
        return None
    return found


def _period(seen: Sequence[tuple[int, int, float]]) -> int | None:
    """The turns of a step."""
    first: dict[int, int] = {}
    for turn, done, _ in seen:
        first.setdefault(done, turn)
    pairs = sorted(first.items())[:2]
    if len(pairs) < 2:
        return None
    (done, turn), (after, later) = pairs
    period, rest = divmod(later - turn, after - done)
    return period if period > 0 and not rest else None


def _steps_within(calls: list[Stepped]) -> bool:
    """Whether the innermost loop around a schedule's step is one that steps."""
    first: dict[tuple[int, ...], int] = {}
    return any(first.setdefault(each.turns[:-1], each.done) != each.done for each in calls)


def _per_step(calls: list[tuple[int, int]]) -> int | None:
    """How often a schedule steps in each step of the run."""
    done = [each for _, each in calls]
    inner = [each for each in dict.fromkeys(done) if min(done) < each < max(done)]
    counts = {done.count(each) for each in inner}
    return counts.pop() if len(counts) == 1 else None


def _tried(work_out: Callable[[], Any]) -> Any:
    try:
        return work_out()
    except (Unsure, *FAILURES):
        return None


def _is_close(found: Any, rate: float) -> bool:
    return isinstance(found, (int, float)) and abs(found - rate) <= CLOSE * abs(rate)


@of_node
def _sets_rate(node: ast.Assign) -> bool:
    target = node.targets[0]
    if len(node.targets) != 1 or not isinstance(target, ast.Subscript):
        return False
    return isinstance(target.slice, ast.Constant) and target.slice.value == RATE


def _sliced(body: list[ast.stmt], node: ast.Assign) -> tuple[list[ast.stmt], frozenset[str]]:
    """The statements above ``node`` that the rate is made by, and all names in them."""
    wanted = {each for each in flows.asked(node.value) if each[0] not in ".["}
    while True:
        part = _part(body, node, wanted)
        names = {
            each
            for one in part
            for each in flows.asked(one) | flows.tested(one)
            if each[0] not in ".[("
        }
        if names <= wanted:
            return part, frozenset(wanted)
        wanted |= names


def _part(body: list[ast.stmt], node: ast.Assign, wanted: set[str]) -> list[ast.stmt]:
    above = (each for each in body if each.lineno < node.lineno)
    return [
        each for each in above if _only_assigns(each) and not wanted.isdisjoint(flows.written(each))
    ]


@of_node
def _only_assigns(node: ast.stmt) -> bool:
    """Whether a statement only assigns to names, perhaps on conditions."""
    if isinstance(node, ast.Assign):
        return len(node.targets) == 1 and isinstance(node.targets[0], ast.Name)
    return isinstance(node, ast.If) and all(map(_only_assigns, (*node.body, *node.orelse)))
