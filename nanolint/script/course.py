"""The turns of a loop that trains: which of them are read, so that what others do is known.

The first are read until three steps are done. Each asks its questions of the turn (``counted.py``),
and so it is known which later turn is the first to get another answer (``when.py``): that one is
read next, on what the turns before have left. The state of a turn is what lies on the card when it
begins, what learns, how many optimizers and groups there are, and what is handed on
(``carried.py``). Questions are answered once for each state; a turn that leaves another state is
followed by the very next one, as long as each leaves another. Turns are left out as long as they
stay in a state: one that is known to leave it is read if some state has a question open. What the
turns that are left out would add is put on the tape before the last.
"""

from __future__ import annotations

import operator
from collections import Counter
from itertools import pairwise
from math import lcm
from typing import TYPE_CHECKING, Any

from nanolint.interpreter.counted import COUNTED, Length, Turn, plain
from nanolint.interpreter.libraries import Queue
from nanolint.interpreter.torch import modules
from nanolint.interpreter.values import Instance
from nanolint.script import when
from nanolint.script.carried import Carried, Handed, around
from nanolint.script.kinds import Kinds, Left, is_same
from nanolint.script.left import collected, counted_in, is_bounded, learning, line_of
from nanolint.script.reaching import holds_card
from nanolint.tape.symbolic import Symbolic, answer
from nanolint.tape.symbolic import plain as unnoted
from nanolint.tape.tape import Component, rounded
from nanolint.tensors.tensor import Tensor

if TYPE_CHECKING:
    import ast
    from collections.abc import Iterable, Iterator

    from nanolint.interpreter.counted import Noted
    from nanolint.interpreter.scopes import Frame
    from nanolint.interpreter.values import Value
    from nanolint.script.kinds import Asked
    from nanolint.script.machine import Script
    from nanolint.tape.tape import Handle

KINDS = 32  # of turns, that are read
GROWING = 40  # turns that each leave another state, that are read
LITTLE = 1 << 20  # bytes that all turns together keep, such as their losses
FEW_BYTES = 4096  # that a turn keeps, such as its loss
ROUND = 4  # turns, after which flags and memory may be as they were
REPEATED = 3  # turns that kept the same: so do the others
MOST_BLOCKS = 2000  # that are put on the tape one by one

WHOLE = frozenset({int, Symbolic, *COUNTED})

NOTHING: Handed = frozenset()

State = tuple[Any, ...]  # what is handed on comes first
Slot = tuple[dict[str, Any], str]


class Course:
    """One run of a loop, of ``count`` turns, or as many as nobody knows."""

    def __init__(
        self, machine: Script, node: ast.For | ast.While, frame: Frame, count: Any = None
    ) -> None:
        self._machine, self.node, self._frame = machine, node, frame
        self._count = count
        self.turn = Turn(machine.asked, lambda: machine.place)
        self.is_direct = True  # an optimizer steps in its own turns, not in a loop in them
        self.is_over = False  # the last turn that is read has come
        self.skips = False  # the first steps are done: turns are left out
        self._kinds: dict[State, Kinds] = {}
        self._carried = Carried(machine, node, frame, self.turn)
        self._inert: set[tuple[Any, bool, Handed]] = set()
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
        self._stays: set[State] = set()  # in which a turn, or those of a step, leave it as it was
        self._went: dict[State, list[tuple[list[Noted], State]]] = {}  # what followed which
        self._dropped: list[list[Noted]] = []  # what turns asked that let go of blocks
        self._leaving: dict[State, list[Left]] = {}
        self._away: tuple[list[State], Left, int] | None = None  # the states before, and the turn
        self._path: list[Noted] = []  # what the latest turn asked
        self._has_cycles = False
        self._oldest = len(machine.card.tape.sizes)  # what is older, the model holds anyway
        self._least = 0  # bytes: if no more is left, that was let go of
        self._settled = when.FOREVER  # the turn after the first steps
        self._slots: dict[tuple[int, str], list[tuple[int, Any]]] = {}
        self._sizes: dict[int, list[tuple[int, Any]]] = {}
        self._grows: dict[int, tuple[int, int]] = {}
        self._has_kept = False  # such a turn left other blocks: others may come to lie elsewhere
        self._was_sought = False  # the latest turn was read for what it does otherwise
        self._linear: dict[tuple[int, str], tuple[Slot, Any, Any]] = {}

    # What the statements of a turn tell.

    def forces(self, asked: Noted) -> None:
        """A branch is read that another answer leads to, as if that were given."""
        if asked.by is self.turn:
            self._of_state.see(asked, answer=asked.answer)
            asked.answer = not asked.answer

    def comes(self, asked: list[Noted]) -> bool:
        """Whether one of these has another answer in a later turn."""
        own = [each for each in asked if each.by is self.turn and self._decides(each)]
        if not own:
            return False
        of_test = Kinds()
        of_test.add(own)
        leads = [
            each for each in of_test.open(self._decides) if each[0] is own[-1] or not each[0].answer
        ]
        first, _ = self._first(leads, min(self._settled, self.turn.number + 1))
        return first is not None

    def do_nothing(self, asked: list[Noted]) -> None:
        """A branch that these answers led to left everything as it was."""
        own = (each for each in asked if each.by is self.turn)
        self._inert.update((each.key, bool(each.answer), self._handed) for each in own)

    def _decides(self, asked: Noted) -> bool:
        """Whether anything hangs on a question."""
        decides: bool = self._machine.turns.deciding.asks_for(asked)
        return decides

    @property
    def _handed(self) -> Handed:
        """The values that were handed on to this turn."""
        handed: Handed = self._state[0] if self._state else NOTHING
        return handed

    @property
    def _of_state(self) -> Kinds:
        return self._kinds.setdefault(self._state, Kinds())

    def leaves(self) -> None:
        """The loop is left."""
        self._take()
        self._carried.leaves()
        self._machine.growing.clear()

    def _take(self) -> list[Noted]:
        """Returns what this turn asked about itself; the rest is kept once, for other loops."""
        asked = self._machine.asked
        found = asked[self._start :]
        del asked[self._start :]
        known = {(each.question, each.answer) for each in asked}
        for each in found:
            if each.by is not self.turn and (each.question, each.answer) not in known:
                known.add((each.question, each.answer))
                asked.append(each)
        return [each for each in found if each.by is self.turn]

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
        if not phases.have_settled or self.node not in self._machine.turns.stepping:
            return after
        if not self.skips:
            self.skips, self._settled = True, after
            # What a step makes lies in one of two places in turn.
            self._period = max(1, after // phases.done)
            self._cycle = lcm(2, self._period)
            self._machine.seen.has_settled = True
        self._state = self._now()
        self._moves()
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
            self._moves()
            if not machine.phases.done:
                self._early.add(self._state)
        before, self.turn.number = self.turn.number, number
        self._start, self._done = len(machine.asked), machine.phases.done
        self._flops = sum(machine.card.tape.flops.values())
        self._count_on(number, before)

    def _ends(self) -> None:
        machine = self._machine
        self._path = self._take()
        self._per_turn = max(self._per_turn, machine.phases.done - self._done)
        self._of_state.add(self._path)
        self._recent = [self._state, *self._recent[: max(self._cycle, 2 * ROUND) - 1]]

    def _others(self, after: int) -> list[int]:
        """Later turns to read next: one that may do what no turn did, or the one before it, too."""
        is_new = self._state not in self._kinds
        is_handed_on = bool(self._recent) and self._handed != self._recent[0][0]
        was_sought, self._was_sought = self._was_sought, False
        self._has_kept |= was_sought and self._state[1:] != self._recent[0][1:]
        if is_new and (self.is_direct or is_handed_on or was_sought):
            self._new += 1
            if self._new == 2 and self._lets_cycles_go():
                self._state = self._now()
                return self._others(after)
            if self._new <= GROWING and (is_handed_on or not self._repeats(after)):
                return [after]
            if is_handed_on:
                self._doubt("what else", self._carried.changed(self._handed, self._recent[0][0]))
        elif not (is_new or self._is_settled()):
            grows = any(
                _bytes_of(to) > _bytes_of(self._state) for _, to in self._went.get(self._state, ())
            )
            if is_bounded(self.node) or not grows:
                return self._follow(after)
            if not self._repeats(after):
                return [after]
            is_new = True
        recent = [self._state, *self._recent[: self._period - 1]]  # of the passes of a step
        known = recent
        if is_new:  # by what lies on the card alone
            known = [each for each in self._kinds if each[0] == self._handed]
            if self.is_direct:
                known = [each for each in known if each not in self._early]
        found, asked = self._first([*self._open(known), *(self._drops() if is_new else ())], after)
        if not is_new:
            found, asked = self._leaves(recent, after, found, asked)
        is_close = self._has_kept and self.is_direct
        if found is None or asked is None:
            left = unnoted(self._stop(after)) - after
            return [after] if is_close and 1 < left <= GROWING else []
        self._read += 1
        if found == when.NOT_DECIDED or self._read > KINDS:
            self._doubt("when" if found == when.NOT_DECIDED else "what else", str(asked.place))
            return []
        if self._comes_again(found, asked):
            return self._others(after)
        self._was_sought = True
        has_grown = bool(self._growth()) and found - 1 > after  # the most that is kept until then
        turns = [found - 1, found] if has_grown else [found]
        if asked.evaluates is not None:  # it keeps nothing
            return turns
        away = (turns[0] - after) % self._cycle  # it comes after a turn of its own kind
        if is_close and turns[0] - after <= GROWING:
            away = turns[0] - after
        return [*range(after, after + away), *turns]

    def _doubt(self, what: str, place: str) -> None:
        """Later turns may do something else."""
        doubt = f"nanolint does not know {what} a condition on the step changes ({place})"
        self._machine.doubts += [] if doubt in self._machine.doubts else [doubt]
        self._reads_last = True

    def _open(self, states: Iterable[State]) -> list[tuple[Noted, Asked]]:
        """The questions of some states whose other answer may lead to what was not read."""
        known = Kinds()
        for each in states:
            known.join(self._kinds.get(each, Kinds()))
        return [each for each in known.open(self._decides) if self._is_asked(each[0])]

    def _is_settled(self) -> bool:
        """Whether turns leave the state as it is, or have come back to it twice after a few."""
        if self._state in self._stays:
            return True
        states = [self._state, *self._recent]
        for turns in range(self._period, len(states) // 2 + 1, self._period):
            if states[:turns] == states[turns : 2 * turns]:
                self._period, self._cycle = turns, lcm(2, turns)
                self._stays.update(states[:turns])
                return True
        return False

    def _follow(self, after: int) -> list[int]:
        """The turns to read from a known state in which none stays: up to one that is followed by
        another than those that are known, or by a state in which turns stay."""

        def found(values: list[Any]) -> tuple[int, int] | None:
            stop, symbols = values[0], values[1:]
            state, last = self._state, after
            for turn in range(after, min(stop, after + when.MOST)):
                last = turn if state == self._state else last
                if state in self._stays:
                    return last, turn
                told = (
                    other
                    for path, other in self._went.get(state, ())
                    if all(
                        when.agrees(each.question, each.answer, turn, symbols)
                        for each in filter(self._decides, path)
                    )
                )
                following = next(told, None)
                if following is None:
                    return last, turn + 1
                state = following
            return None if stop <= after + when.MOST else (after, after)

        turns = answer(found, [self._stop(after), *self.turn.symbols])
        if turns is None:
            return []
        self._read += 1
        if self._read > KINDS or not 0 < turns[1] - turns[0] <= 2 * GROWING:
            _, asked = self._first(self._open(self._kinds), after)
            if asked is not None:
                self._doubt("what else", str(asked.place))
            return []
        return list(range(*turns))

    def _moves(self) -> None:
        """Note whether the turn that was just read left the state that it began in."""
        recent = self._recent[: self._period]
        if not recent:
            return
        went = self._went.setdefault(recent[0], [])
        went[:] = [(path, state) for path, state in went if not is_same(path, self._path)]
        went.append((self._path, self._state))
        if _bytes_of(self._state) < _bytes_of(recent[0]):
            self._dropped.append(self._path)
        if self._state == recent[-1]:
            self._stays.add(self._state)
        if self._state not in recent:
            left = Left(self._path)
            self._leaving.setdefault(recent[0], []).append(left)
            self._away = self._away or (recent, left, self.turn.number)
        elif self._away is not None:
            self._away = None  # for good
        if self._away is not None and self._state in self._away[0]:
            _, left, turn = self._away
            left.absence, self._away = self.turn.number + 1 - turn, None

    def _leaves(
        self, recent: list[State], after: int, found: int | None, asked: Noted | None
    ) -> tuple[int | None, Noted | None]:
        """``found``, the turn that answers ``asked`` otherwise; or one before it, which is known to
        leave the state in which that is so."""
        lefts = [(state, each) for state in recent for each in self._leaving.get(state, ())]
        for_good = [each for each in lefts if not each[1].absence]
        if for_good and found is None:
            others = (state for state in self._kinds if state not in self._early)
            found_there, asked = self._first(
                self._open(each for each in others if each not in recent), after
            )
            if found_there is None:
                return None, None
        if asked is None or found == when.NOT_DECIDED:
            return found, asked
        turns = [found]
        for state, left in lefts:
            if left.absence and found is None:
                continue
            start = max(after, (found or 0) - left.absence + 1) if left.absence else after
            turns.append(self._first([(asked, self._causes(state, left))], start)[0])
        if when.NOT_DECIDED in turns:
            return when.NOT_DECIDED, asked
        return min((each for each in turns if each is not None), default=None), asked

    def _drops(self) -> Iterator[tuple[Noted, Asked]]:
        """The answers that led turns to let go of blocks."""
        latest = {(each.key, bool(each.answer)) for each in self._path}
        for path in self._dropped:
            told = list(filter(self._decides, path))
            led = [each for each in told if (each.key, bool(each.answer)) not in latest] or told
            if led:
                yield led[-1], [(each.question, each.answer) for each in led]

    def _causes(self, state: State, left: Left) -> Asked:
        """The answers of a turn that left a state which no turn gave that stayed in it."""
        gone = [each.path for each in self._leaving[state]]
        stayed = {
            (each.key, bool(each.answer))
            for path in self._kinds[state].paths
            if not any(is_same(path, other) for other in gone)
            for each in path
        }
        return [
            (each.question, each.answer)
            for each in filter(self._decides, left.path)
            if (each.key, bool(each.answer)) not in stayed
        ]

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
        if left <= REPEATED or is_bounded(self.node):
            return False
        for size, count in kept[-1].items():
            self._put(size, count * left)
        self._inert.add((asked.key, not asked.answer, self._handed))
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
        inert = asked.key, not asked.answer, self._handed
        return not asked.ends and inert not in self._inert

    def _stop(self, after: int) -> Any:
        """The turn before which the loop ends."""
        symbols = [unnoted(each) for each in self.turn.symbols]
        count = when.FOREVER if self._count is None else self._count
        found = unnoted(count)
        for each, more in self._ends_of_loop():
            found = _before(found, when.first(each, after, found, symbols), more)
        return count if found == unnoted(count) else found

    def _most(self) -> Any:
        """How many turns the loop has at most."""
        last = self._machine.around.last_step
        if self._count is None:
            return last + 1 if unnoted(last) > 0 else when.FOREVER
        return self._count

    def _ends_of_loop(self) -> list[tuple[Asked, int]]:
        """Returns the questions whose other answer ends the loop; 1 if that turn still begins."""
        kinds = (each for state, each in self._kinds.items() if state[0] == self._handed)
        opened = (each for known in kinds for each in known.open(self._decides))
        return [(asked[-1:], noted.ends - 1) for noted, asked in opened if noted.ends]

    def _last(self, after: int) -> Any:
        """The last turn; what those before it keep is there by then."""
        stop = self._stop(after)
        self.is_over = True
        left = unnoted(stop) - 1 - after
        is_endless = unnoted(stop) >= when.FOREVER
        grows = (not is_endless and self._grow(left)) or self._reads_last
        is_left_out = self._growth() and is_bounded(self.node) and self._new > GROWING
        is_new = self._state not in self._kinds and self.is_direct and not grows
        if left > 0 and (is_new or is_left_out):
            place = f"{self._frame.module.path}:{self.node.lineno}"
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
        handed = self._carried.now()
        return handed, frozenset(large.items()), self.held(), *learning(self._machine)

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
        place = f"{self._frame.module.path}:{line_of(name, self.node)}"
        self._machine.doubts.append(
            f"a reference cycle keeps {sum(freed) // turns:,} bytes of each step until Python"
            f" collects garbage ({place})"
        )
        return True

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
        return is_long and bool(self._growth()) and not is_bounded(self.node)

    def _grow(self, turns: int) -> bool:
        """Put on the tape what so many turns keep that are not read."""
        blocks = self._growth()
        small = self._small()
        is_much = small * turns > LITTLE and not is_bounded(self.node)
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
            for name, slope in counted_in(self.node):
                value = self._frame.names.get(name)
                if type(unnoted(value)) is int:
                    self._linear[id(self._frame.names), name] = (
                        (self._frame.names, name),
                        slope,
                        value,
                    )
                    self._frame.names[name] = self._counted(slope, value, value)
        for path, names, name, _ in list(self._carried.slots()):
            key, counted = (id(names), name), names[name]
            if type(counted) not in WHOLE or key in self._linear:
                continue
            if type(counted) in COUNTED and counted.turn is self.turn:
                if counted.number == number:
                    continue  # the loop's own
                names[name] = plain(counted)
                if counted.number == before and self._carried.is_regular(path, name):
                    names[name] = self._of_turn_before(counted)
                    continue
            value = plain(counted)
            if type(unnoted(value)) is not int:
                continue
            self._slots[key] = history = [*self._slots.get(key, [])[-2:], (number, value)]
            if _is_line(history):
                slope = value - history[1][1]
                start = value - slope * number
                self._linear[key] = (names, name), slope, start
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

    def _of_turn_before(self, counted: Any) -> Any:
        """Returns a number that each turn works out of its own alike, as the turn before has it."""
        formula = when.shifted(counted.formula)
        try:
            found = when.value(formula, self.turn.number, self.turn.symbols)
        except when.FAILURES:
            return plain(counted)
        return self.turn.made(found, formula)

    def _counted(self, slope: Any, start: Any, value: Any) -> Any:
        """A number that grows by ``slope`` a turn."""
        if type(slope) is int and type(start) is int:
            return self.turn.made(value, ("turn", slope, start, True))
        by = self.turn.formula(slope), self.turn.formula(start)
        multiple = "of", operator.mul, ("turn", 1, 0, True), by[0]
        return self.turn.made(value, ("of", operator.add, multiple, by[1]))

    def _holders(self) -> Iterator[tuple[str, dict[Any, Value]]]:
        """The names of calls and modules, and what has attributes and entries among their values,
        each with what it is called by."""
        for depth, names in enumerate(around(self._frame)):
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


def _bytes_of(state: State) -> int:
    return _bytes(Counter(dict(state[1])))


def _bytes(blocks: Counter[int]) -> int:
    return sum(size * count for size, count in blocks.items())
