"""The turns of a loop that trains: which of them are read, so that what others do is known.

The first are read until three steps are done. Each asks its questions of the turn (``counted.py``),
and so it is known which later turn is the first to get another answer (``when.py``): that one is
read next, on what the turns before have left. What lies on the card where a turn begins, what
learns, and how many optimizers and groups there are is its state. Questions are answered once for
each state; a turn that leaves another state is followed by the very next one, as long as each
leaves another. What the turns that are left out would add is put on the tape before the last.
"""

from __future__ import annotations

import ast
import gc
import operator
from collections import Counter
from itertools import pairwise
from math import lcm
from typing import TYPE_CHECKING, Any, TypeAlias

from nanolint.interpreter.counted import COUNTED, Length, Turn, plain
from nanolint.interpreter.queues import Queue
from nanolint.interpreter.torch import modules
from nanolint.interpreter.values import Instance
from nanolint.script import when
from nanolint.script.changes import stored
from nanolint.script.reaching import holds_card
from nanolint.source.python import of_node
from nanolint.tape.symbolic import Symbolic, answer
from nanolint.tape.symbolic import plain as unnoted
from nanolint.tape.tape import Component, rounded
from nanolint.tensors.tensor import Tensor

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nanolint.interpreter.counted import Noted, Question
    from nanolint.interpreter.scopes import Frame
    from nanolint.interpreter.values import Value
    from nanolint.script.machine import Script
    from nanolint.tape.tape import Handle

KINDS = 32  # of turns, that are read
GROWING = 40  # turns that each leave another state, that are read
LITTLE = 1 << 20  # bytes that all turns together keep, such as their losses
FEW_BYTES = 4096  # that a turn keeps, such as its loss
REPEATED = 3  # turns that kept the same: so do the others
BOUNDS = frozenset({"pop", "popleft", "popitem", "clear", "remove"})
MOST_BLOCKS = 2000  # that are put on the tape one by one

WHOLE = frozenset({int, Symbolic, *COUNTED})

State = tuple[Any, ...]
Slot = tuple[dict[str, Any], str]


Asked: TypeAlias = "list[tuple[Question, Any]]"


class Kinds:
    """The questions that turns asked which began in one state."""

    def __init__(self) -> None:
        self.paths: list[list[Noted]] = []
        self._seen: set[tuple[Any, bool]] = set()
        self._sizes: dict[Any, list[Question]] = {}

    def add(self, path: list[Noted]) -> None:
        """A turn was read."""
        for each in path:
            self.see(each, answer=each.answer)
            questions = self._sizes.setdefault(each.key, [])
            if each.is_size and each.question not in questions:
                questions.append(each.question)
        if not any(_is_same(path, other) for other in self.paths):
            self.paths.append(path)

    def see(self, asked: Noted, *, answer: Any) -> None:
        """Notes that the branch of an answer was read."""
        if not asked.is_size:
            self._seen.add((asked.key, bool(answer)))

    def join(self, other: Kinds) -> None:
        """Take what was asked in another state, too."""
        for path in other.paths:
            self.add(path)
        self._seen |= other._seen

    def open(self) -> Iterator[tuple[Noted, Asked]]:
        """Questions that have had one answer alone, and what leads to the other one."""
        for path in self.paths:
            before: Asked = []
            for each in path:
                if each.is_size:  # of these each turn asks one alone
                    yield each, [*before, *((one, False) for one in self._sizes[each.key])]
                elif (each.key, not each.answer) not in self._seen:
                    yield each, [*before, (each.question, not each.answer)]
                before.append((each.question, each.answer))


def _is_same(one: list[Noted], other: list[Noted]) -> bool:
    return [(each.question, each.answer) for each in one] == [
        (each.question, each.answer) for each in other
    ]


class Course:
    """One run of a loop, of ``count`` turns, or as many as nobody knows."""

    def __init__(
        self, machine: Script, node: ast.For | ast.While, frame: Frame, count: Any = None
    ) -> None:
        self._machine, self._node, self._frame = machine, node, frame
        self._count = count
        self.turn = Turn(machine.asked, lambda: machine.place)
        self.is_direct = True  # an optimizer steps in its own turns, not in a loop in them
        self.is_over = False  # the last turn that is read has come
        self.skips = False  # the first steps are done: turns are left out
        self._kinds: dict[State, Kinds] = {}
        self._inert: set[tuple[Any, bool]] = set()
        self._state: State = ()
        self._states: list[tuple[int, Counter[int], int]] = []  # by turn, with the bytes of small
        self._live: dict[int, int] = {}
        self._events = 0
        self._start = 0  # of what this turn asked
        self._done = self._flops = 0
        self._per_turn = 1
        self._read = self._new = 0
        self._planned: list[int] = []
        self._recent: list[State] = []  # in which the last turns began
        self._period = 1  # turns of a step
        self._cycle = 2  # turns after which a step is where it was
        self._blocks: list[Handle] = []  # what turns keep that are not read, and its sizes
        self._added = Counter[int]()
        self._early: set[State] = set()  # before the first step
        self._times: dict[Any, list[tuple[int, Counter[int]]]] = {}
        self._reads_last = False
        self._flags: dict[tuple[str, Any], Any] = {}
        self._paths: set[tuple[str, Any]] = set()  # of numbers that count on
        self._has_cycles = False
        self._oldest = len(machine.card.tape.sizes)  # what is older, the model holds anyway
        self._least = 0  # bytes: if no more is left, that was let go of
        self._settled = when.FOREVER  # the turn after the first steps
        self._slots: dict[tuple[int, str], list[tuple[int, Any]]] = {}
        self._sizes: dict[int, list[tuple[int, Any]]] = {}
        self._grows: dict[int, tuple[int, int]] = {}
        self._linear: dict[tuple[int, str], tuple[Slot, Any, Any]] = {}

    # What the statements of a turn tell.

    def forces(self, asked: Noted) -> None:
        """A branch is read that another answer leads to."""
        if asked.by is self.turn:
            self._of_state.see(asked, answer=not asked.answer)

    def comes(self, asked: list[Noted]) -> bool:
        """Whether one of these has another answer in a later turn."""
        own = [each for each in asked if each.by is self.turn]
        if not own:
            return False
        of_test = Kinds()
        of_test.add(own)
        leads = [each for each in of_test.open() if each[0] is own[-1] or not each[0].answer]
        first, _ = self._first(leads, min(self._settled, self.turn.number + 1))
        return first is not None

    def do_nothing(self, asked: list[Noted]) -> None:
        """A branch that these answers led to left everything as it was."""
        own = (each for each in asked if each.by is self.turn)
        self._inert.update((each.key, bool(each.answer)) for each in own)

    @property
    def _of_state(self) -> Kinds:
        return self._kinds.setdefault(self._state, Kinds())

    def leaves(self) -> None:
        """The loop is left."""
        del self._machine.asked[self._start :]
        self._machine.growing.clear()

    @property
    def step(self) -> int | None:
        """The number of the step that is being read, from 1; None if its turns are no steps."""
        number = unnoted(self.turn.number)
        is_one = self.is_direct and self._period == 1
        return number + 1 if is_one and type(number) is int else None

    @property
    def has_computed(self) -> bool:
        """Whether this turn has multiplied anything yet."""
        return self._flops != sum(self._machine.card.tape.flops.values())

    # From turn to turn.

    def next(self) -> Any:
        """Returns the turn to read next; None after the last."""
        if self.turn.number >= 0:
            self._ends()
        after = self.turn.number + 1
        if self.is_over or not after < self._stop(after):
            return None
        phases = self._machine.phases
        if not phases.have_settled or self._node not in self._machine.turns.stepping:
            return after
        if not self.skips:
            self.skips, self._settled = True, after
            # What a step makes lies in one of two places in turn.
            self._period = max(1, after // phases.done)
            self._cycle = lcm(2, self._period)
            self._machine.seen.has_settled = True
        self._state = self._now()
        if not self._planned:
            self._planned = self._others(after)
        if not self._planned:
            return self._last(after)
        found = self._planned.pop(0)
        self._grow(found - after)
        phases.go_on(self._per_turn)
        return found

    def begins(self, number: Any) -> None:
        """A turn begins, after the assignment of the loop's names."""
        machine = self._machine
        if not self.skips:
            self._state = self._now()
            if not machine.phases.done:
                self._early.add(self._state)
        before, self.turn.number = self.turn.number, number
        self._start, self._done = len(machine.asked), machine.phases.done
        self._flops = sum(machine.card.tape.flops.values())
        self._count_on(number, before)

    def _ends(self) -> None:
        machine = self._machine
        path = [each for each in machine.asked[self._start :] if each.by is self.turn]
        del machine.asked[self._start :]
        self._per_turn = max(self._per_turn, machine.phases.done - self._done)
        self._of_state.add(path)
        self._recent = [self._state, *self._recent[: self._cycle]]

    def _others(self, after: int) -> list[int]:
        """Later turns to read next: one that may do what no turn did, or the one before it, too."""
        recent = [self._state, *self._recent[: self._period - 1]]  # of the passes of a step
        is_new = self._state not in self._kinds
        if is_new and self.is_direct:
            self._new += 1
            if self._new == 2 and self._lets_cycles_go():
                self._state = self._now()
                return self._others(after)
            if self._new <= GROWING and not self._repeats(after):
                return [after]
        known = Kinds()
        for state, each in self._kinds.items():
            if state not in self._early if is_new else state in recent:
                known.join(each)
        found, asked = self._first(
            [each for each in known.open() if self._is_asked(each[0])], after
        )
        if found is None or asked is None:
            return []
        self._read += 1
        if found == when.NOT_DECIDED or self._read > KINDS:
            what = "when" if found == when.NOT_DECIDED else "what else"
            doubt = f"nanolint does not know {what} a condition on the step changes"
            self._machine.doubts.append(f"{doubt} ({asked.place})")
            self._reads_last = True
            return []
        if self._comes_again(found, asked):
            return self._others(after)
        has_grown = bool(self._growth()) and found - 1 > after  # the most that is kept until then
        turns = [found - 1, found] if has_grown else [found]
        if asked.evaluates is not None:  # it keeps nothing
            return turns
        away = (turns[0] - after) % self._cycle  # it comes after a turn of its own kind
        return [*range(after, after + away), *turns]

    def _comes_again(self, found: int, asked: Noted) -> bool:
        """Whether a condition was true for the third time after as many turns, and each time left
        as much: so do all the others, which are put on the tape."""
        now = self._states[-1][1]
        times = self._times.setdefault(asked.key, [])
        times.append((found, now))
        if len(times) < REPEATED + 1 or self._blocks:
            return False
        gaps = {other[0] - one[0] for one, other in pairwise(times[-REPEATED - 1 :])}
        kept = [other[1] - one[1] for one, other in pairwise(times[-REPEATED - 1 :])]
        if len(gaps) > 1 or not kept[-1] or any(each != kept[-1] for each in kept):
            return False
        if any(one[1] - other[1] for one, other in pairwise(times[-REPEATED - 1 :])):
            return False
        # The last turn, which is read, may be one of them.
        left = (unnoted(self._stop(found)) - 2 - found) // gaps.pop() + 1
        if left <= REPEATED or _is_bounded(self._node):
            return False
        for size, count in kept[-1].items():
            self._put(size, count * left)
        self._inert.add((asked.key, not asked.answer))
        self._reads_last = True
        return True

    def _first(
        self, opened: list[tuple[Noted, Asked]], after: int
    ) -> tuple[int | None, Noted | None]:
        """The first turn that answers one of these otherwise, and which."""
        if not opened:
            return None, None
        ends = self._ends_of_loop()

        def found(values: list[Any]) -> tuple[int, int] | None:
            stop, symbols = values[0], values[1:]
            for each, more in ends:
                stop = _before(stop, when.first(each, after, stop, symbols), more)
            turns = []
            for at, (_, asked) in enumerate(opened):
                turn = when.first(asked, after, stop, symbols)
                if turn is not None:
                    turns.append((turn, at))
            decided = [each for each in turns if each[0] != when.NOT_DECIDED]
            return min(decided or turns, default=None)

        best = answer(found, [self._most(), *self.turn.symbols])
        return (None, None) if best is None else (best[0], opened[best[1]][0])

    def _is_asked(self, asked: Noted) -> bool:
        """Whether another answer may lead to what was not read."""
        return not asked.ends and (asked.key, not asked.answer) not in self._inert

    def _stop(self, after: int) -> Any:
        """The turn before which the loop ends."""
        if self._count is not None:
            return self._count
        symbols = [unnoted(each) for each in self.turn.symbols]
        found = when.FOREVER
        for each, more in self._ends_of_loop():
            found = _before(found, when.first(each, after, found, symbols), more)
        return found

    def _most(self) -> Any:
        """How many turns the loop has at most."""
        last = self._machine.around.last_step
        if self._count is None:
            return last + 1 if unnoted(last) > 0 else when.FOREVER
        return self._count

    def _ends_of_loop(self) -> list[tuple[Asked, int]]:
        """Returns the questions whose other answer ends the loop; 1 if that turn still begins."""
        if self._count is not None:
            return []
        opened = (each for kinds in self._kinds.values() for each in kinds.open())
        return [(asked[-1:], noted.ends - 1) for noted, asked in opened if noted.ends]

    def _last(self, after: int) -> Any:
        """The last turn; what those before it keep is there by then."""
        stop = self._stop(after)
        self.is_over = True
        left = unnoted(stop) - 1 - after
        is_endless = unnoted(stop) >= when.FOREVER
        grows = (not is_endless and self._grow(left)) or self._reads_last
        is_left_out = self._growth() and _is_bounded(self._node) and self._new > GROWING
        is_new = self._state not in self._kinds and self.is_direct and not grows
        if left > 0 and (is_new or is_left_out):
            place = f"{self._frame.module.path}:{self._node.lineno}"
            self._machine.doubts.append(f"the memory that unread steps keep is not known ({place})")
        self._machine.phases.go_on(self._per_turn if grows else 0)
        return after if is_endless else stop - 1

    # What is kept.

    def _now(self) -> State:
        """The state: what lies on the card, what learns, what steps, and what is set."""
        tape, live = self._machine.card.tape, self._live
        if self._has_cycles:
            collected()
        for event in tape.events[self._events :]:
            if event >= 0:
                live[event] = unnoted(tape.sizes[event])
            else:
                live.pop(~event, None)
        self._events = len(tape.events)
        large = Counter(size for size in live.values() if size > FEW_BYTES) - self._added
        small = sum(size for size in live.values() if size <= FEW_BYTES)
        if self._blocks and _bytes(large) <= self._least:
            # What was kept was let go of, that of the turns that were not read, too.
            tape.free(*self._blocks)
            self._blocks.clear()
            self._added.clear()
            return self._now()
        self._states.append((self.turn.number, large, small))
        del self._states[:-GROWING]
        return frozenset(large.items()), self._set(), self.held(), *learning(self._machine)

    def held(self) -> frozenset[Any]:
        """How many tensors each name holds: a view of what lies there anyway keeps it there."""
        found = Counter[tuple[str, Any]]()
        for path, names in self._holders():
            for name, value in list(names.items()):
                held = value.values() if isinstance(value, dict) else value
                for each in held if isinstance(value, (list, tuple, dict)) else (value,):
                    if isinstance(each, Tensor) and self._is_large(each):
                        found[path, name] += 1
        return frozenset(found.items())

    def _is_large(self, tensor: Tensor) -> bool:
        card, storage = self._machine.card, tensor.storage
        if storage is None or tensor.device is not card or storage.handle < self._oldest:
            return False
        return bool(unnoted(card.tape.sizes[storage.handle]) > FEW_BYTES)

    def _lets_cycles_go(self) -> bool:
        """Let go of what objects hold that hold each other, as Python's collector does at a time of
        its own; returns whether that was anything on the card."""
        tape = self._machine.card.tape
        before = len(tape.events)
        name = collected()
        freed = [unnoted(tape.sizes[~event]) for event in tape.events[before:] if event < 0]
        if sum(freed) <= LITTLE:
            return False
        self._has_cycles = True
        turns = max(1, self.turn.number)
        place = f"{self._frame.module.path}:{_line_of(name, self._node)}"
        self._machine.doubts.append(
            f"a reference cycle keeps {sum(freed) // turns:,} bytes of each step until Python"
            f" collects garbage ({place})"
        )
        return True

    def _set(self) -> frozenset[Any]:
        """Returns names that only some turns set, and that stay: ``if step == 10: warm = True``."""
        names = set_in_branches(self._node)
        before, self._flags = self._flags, {}
        for path, holder in self._holders():
            for name, value in holder.items():
                if isinstance(value, int) and ("." in path or name in names):
                    self._flags[path, name] = unnoted(plain(value))
                    if type(value) in COUNTED:  # a checkpoint's step, another one each time
                        self._paths.add((path, name))
        same = {key: value for key, value in self._flags.items() if before.get(key) == value}
        return frozenset((*key, value) for key, value in same.items() if key not in self._paths)

    def _growth(self) -> Counter[int]:
        """Returns the blocks that each of the latest turns kept, if they are the same."""
        kept = list[Counter[int]]()
        for one, other in pairwise(self._states[-REPEATED - 1 :]):
            if other[0] != one[0] + 1 or one[1] - other[1]:
                return Counter()
            kept.append(other[1] - one[1])
        is_same = len(kept) == REPEATED and all(each == kept[0] for each in kept)
        return kept[0] if is_same else Counter()

    def _repeats(self, after: int) -> bool:
        """Whether each turn keeps the same, for as long as the loop goes on."""
        is_long = unnoted(self._stop(after)) - after > GROWING
        return is_long and bool(self._growth()) and not _is_bounded(self._node)

    def _grow(self, turns: int) -> bool:
        """Put on the tape what so many turns keep that are not read."""
        blocks = self._growth()
        small = self._small()
        is_much = small * turns > LITTLE and not _is_bounded(self._node)
        if is_much:
            self._put(small, turns)
        turns = min([turns, *self._fills()])
        for size, count in blocks.items():
            self._put(size, count * turns)
        self._least = _bytes(self._states[-1][1]) - 2 * _bytes(blocks)
        return is_much or bool(blocks)

    def _small(self) -> int:
        """The bytes that a turn keeps in small blocks."""
        turns = self._period
        if len(self._states) <= turns:
            return 0
        one, other = self._states[-1 - turns], self._states[-1]
        return (other[2] - one[2]) // turns if other[0] == one[0] + turns else 0

    def _fills(self) -> Iterator[int]:
        """In how many turns each queue is full that holds something on the card."""
        for _, names in self._holders():
            for value in list(names.values()):
                most = value.most if isinstance(value, Queue) else None
                if most is not None and holds_card(self._machine, value):
                    yield max(0, most - len(value) - 1)

    def _put(self, size: int, count: int) -> None:
        tape = self._machine.card.tape
        each = min(count, MOST_BLOCKS)
        sizes = [size] * each + [size * (count - each)] * (count > each)
        for nbytes in sizes:
            self._blocks.append(tape.alloc(nbytes, "what each step keeps", Component.ACTIVATIONS))
            self._added[rounded(nbytes)] += 1

    # Numbers that count on from turn to turn.

    def _count_on(self, number: int, before: int) -> None:
        """Numbers that grew by the same in turns that followed each other go on so."""
        for key, (slot, slope, start) in list(self._linear.items()):
            names, name = slot
            expected = slope * (before + 1) + start  # untouched except by the turn that was read
            if unnoted(plain(names.get(name))) != unnoted(expected):
                del self._linear[key]
                continue
            names[name] = self._counted(slope, start, slope * number + start)
        if not number:
            for name, slope in counted_in(self._node):
                value = self._frame.names.get(name)
                if type(unnoted(value)) is int:
                    self._linear[id(self._frame.names), name] = (
                        (self._frame.names, name),
                        slope,
                        value,
                    )
                    self._frame.names[name] = self._counted(slope, value, value)
        for path, names, name in self._found():
            key = id(names), name
            if key in self._linear:
                continue
            counted = names[name]
            if type(counted) in COUNTED and counted.turn is self.turn:
                if counted.number == number:
                    continue  # the loop's own
                names[name] = plain(counted)
            value = plain(counted)
            if type(unnoted(value)) is not int:
                continue
            self._slots[key] = history = [*self._slots.get(key, [])[-2:], (number, value)]
            if _is_line(history):
                slope = value - history[1][1]
                start = value - slope * number
                self._linear[key] = (names, name), slope, start
                self._paths.add((path, name))
                names[name] = self._counted(slope, start, value)
        self._measure(number)

    def _measure(self, number: int) -> None:
        """Lists that grow by the same in turns that follow each other."""
        self._machine.growing.clear()
        for _, names in self._holders():
            for value in list(names.values()):
                if isinstance(value, list):
                    history = [*self._sizes.get(id(value), [])[-2:], (number, len(value))]
                    self._sizes[id(value)] = history
                    if _is_line(history):
                        slope = history[2][1] - history[1][1]
                        self._grows[id(value)] = slope, len(value) - slope * number
                    if id(value) in self._grows:
                        slope, start = self._grows[id(value)]
                        length = Length(self.turn, slope, start, len(value))
                        self._machine.growing[id(value)] = length

    def _counted(self, slope: Any, start: Any, value: Any) -> Any:
        """A number that grows by ``slope`` a turn."""
        if type(slope) is int and type(start) is int:
            return self.turn.made(value, ("turn", slope, start, True))
        by = self.turn.formula(slope), self.turn.formula(start)
        multiple = "of", operator.mul, ("turn", 1, 0, True), by[0]
        return self.turn.made(value, ("of", operator.add, multiple, by[1]))

    def _found(self) -> Iterator[tuple[str, dict[Any, Value], Any]]:
        """Where the program may count: names, attributes of its objects, entries."""
        for path, names in self._holders():
            for name, value in list(names.items()):
                if type(value) in WHOLE:
                    yield path, names, name

    def _holders(self) -> Iterator[tuple[str, dict[Any, Value]]]:
        """The names of calls and modules, and what has attributes and entries among their values,
        each with what it is called by."""
        frame: Frame | None = self._frame
        around = [self._frame.module.names]
        while frame is not None:
            around += [frame.names] if frame.names is not around[0] else []
            frame = frame.closure
        for depth, names in enumerate(around):
            yield f"{depth}", names
            for name, value in list(names.items()):
                if type(value) is Instance and not modules.is_module(value):
                    yield f"{depth}.{name}", value.attributes
                elif type(value) is dict and len(value) < KINDS:
                    yield f"{depth}.{name}", value


def _before(stop: int, found: int | None, more: int) -> int:
    return stop if found is None or found == when.NOT_DECIDED else min(stop, found + more)


def _is_line(history: list[tuple[int, Any]]) -> bool:
    """Whether a number grew by the same in the last three turns, which followed each other."""
    if len(history) < 3 or history[2][0] - history[0][0] != 2:
        return False
    first, second, third = (unnoted(each) for _, each in history)
    return bool(third - second == second - first != 0)


def _bytes(blocks: Counter[int]) -> int:
    return sum(size * count for size, count in blocks.items())


def learning(machine: Script) -> State:
    """How many optimizers and groups there are, and how many elements learn."""
    groups = [
        group["params"]
        for each in machine.phases.optimizers
        for group in each.attributes.get("param_groups") or ()
        if isinstance(group, dict) and isinstance(group.get("params"), list)
    ]
    learn = sum(1 for group in groups for each in group if getattr(each, "requires_grad", False))
    return len(machine.phases.optimizers), len(groups), learn


@of_node
def counted_in(node: ast.For | ast.While) -> tuple[tuple[str, int], ...]:
    """The names that each turn of a loop adds a whole number to, once."""
    found = []
    for each in node.body:
        if isinstance(each, ast.AugAssign) and isinstance(each.op, ast.Add):
            target, by = each.target, each.value
            number = by.value if isinstance(by, ast.Constant) else None
            if isinstance(target, ast.Name) and type(number) is int and number:
                found.append((target.id, number))
    return tuple(each for each in found if [name for name, _ in found].count(each[0]) == 1)


@of_node
def set_in_branches(node: ast.AST) -> frozenset[str]:
    """The names that a loop sets under a condition."""
    branches = (each for each in ast.walk(node) if isinstance(each, ast.If))
    return frozenset(name for each in branches for name in stored(each))


def collected() -> str:
    """Let Python look for garbage; returns the class of an object of the program's among it."""
    debug = gc.get_debug()
    gc.set_debug(gc.DEBUG_SAVEALL)
    gc.collect()
    gc.set_debug(debug)
    name = next((each.cls.name for each in gc.garbage if type(each) is Instance), "")
    gc.garbage.clear()
    gc.collect()
    return name


def _line_of(name: str, node: ast.For | ast.While) -> int:
    """The line of a loop that makes an object of a class; that of the loop if none does so."""
    calls = (each for each in ast.walk(node) if isinstance(each, ast.Call))
    made = (
        each.lineno for each in calls if isinstance(each.func, ast.Name) and each.func.id == name
    )
    return next(made, node.lineno)


def _is_bounded(node: ast.AST) -> bool:
    """Whether a loop says itself that something is let go of again."""
    for each in ast.walk(node):
        if isinstance(each, ast.Delete):
            return True
        if isinstance(each, ast.Attribute) and each.attr in BOUNDS:
            return True
    return False
