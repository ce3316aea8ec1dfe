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

from collections import Counter
from itertools import pairwise
from math import lcm
from typing import TYPE_CHECKING, Any

from nanolint.interpreter.counted import Noted, Question, Turn
from nanolint.script import when
from nanolint.script.carried import Carried, Handed
from nanolint.script.counters import Counters
from nanolint.script.keeping import REPEATED, Keeping, bytes_of
from nanolint.script.kinds import Kinds, Left, is_same
from nanolint.script.left import is_bounded, learning
from nanolint.script.within import Inner
from nanolint.tape.symbolic import answer
from nanolint.tape.symbolic import plain as unnoted

if TYPE_CHECKING:
    import ast
    from collections.abc import Iterable, Iterator

    from nanolint.interpreter.scopes import Frame
    from nanolint.script.kinds import Asked
    from nanolint.script.machine import Script

KINDS = 32  # of turns, that are read
GROWING = 40  # turns that each leave another state, that are read
EPOCHS = 12  # the same, of a loop around one that trains
AGAIN = 8  # turns that replace what lay there, that are read without another reason
ROUND = 4  # turns, after which flags and memory may be as they were

NOTHING: Handed = frozenset()

State = tuple[Any, ...]  # what is handed on comes first


class Course:
    """One run of a loop, of ``count`` turns, or as many as nobody knows."""

    def __init__(
        self, machine: Script, node: ast.For | ast.While, frame: Frame, count: Any = None
    ) -> None:
        self._machine, self.node, self._frame = machine, node, frame
        self._count = count
        self.turn = Turn(machine.asked, lambda: machine.place, len(machine.turns.courses))
        self.is_direct = True  # an optimizer steps in its own turns, not in a loop in them
        self.is_over = False  # the last turn that is read has come
        self.skips = False  # the first steps are done: turns are left out
        self._kinds: dict[State, Kinds] = {}
        self._carried = Carried(machine, node, frame, self.turn)
        self._inert: set[tuple[Any, bool, Handed]] = set()
        self._state: State = ()
        self._start = 0  # of what this turn asked
        self._before = machine.phases.done  # steps before the loop
        self._done = self._flops = 0
        self._per_turn = 1
        self._read = self._new = 0
        self._planned: list[int] = []
        self._recent: list[State] = []  # in which the last turns began
        self._period = 1  # turns of a step
        self._cycle = 2  # turns after which a step is where it was
        self._early: set[State] = set()  # before the first step of the loop
        self._times: dict[Any, list[tuple[int, Counter[int]]]] = {}
        self._reads_last = False
        self._stays: set[State] = set()  # in which a turn, or those of a step, leave it as it was
        self._went: dict[State, list[tuple[list[Noted], State]]] = {}  # what followed which
        self._dropped: list[list[Noted]] = []  # what turns asked that let go of blocks
        self._leaving: dict[State, list[Left]] = {}
        self._away: tuple[list[State], Left, int] | None = None  # the states before, and the turn
        self._path: list[Noted] = []  # what the latest turn asked
        self._settled = when.FOREVER  # the turn after the first steps
        # Such a turn left other blocks: others may come to lie elsewhere.
        self._has_kept = any(each._has_kept for each in machine.turns.courses)
        self._was_sought = False  # the latest turn was read for what it does otherwise
        self._times_again = 0
        self._inner: dict[ast.stmt, Inner] = {}  # loops within this one
        self._differs_within = False  # one of these may not do the same in all its turns
        self._turns: Any = None  # how many the loop had
        self._counters = Counters(machine, node, frame, self.turn, self._carried)
        self.keeping = Keeping(machine, node, frame)

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

    def ends(self, turns: int) -> None:
        """The loop has ended after so many turns."""
        self._turns = turns

    def is_cut(self) -> None:
        """The turn is not read to its end, and those after it are not read."""
        stop = self._stop(self.turn.number + 1)
        if unnoted(stop) < when.FOREVER:
            self._counters.goes_to(stop)
            self._turns = stop
        elif self.is_over:
            self._counters.goes_to(self.turn.number + 1)

    def leaves(self) -> None:
        """The loop is left."""
        self._of_state.add(self._take())
        self._carried.leaves()
        self._machine.growing.clear()
        around = self._machine.turns.courses[-1] if self._machine.turns.courses else None
        is_known = self._turns is not None and unnoted(self._turns) < when.FOREVER
        # Only the loop around asks for the count: its number would decide what else is alike.
        count = int(self._turns) if is_known and around is not None else None
        self._counters.leaves(count, None if around is None else around._counters)
        if around is not None and count is not None:
            around._contains(self, count)
        self.turn.is_over = True

    def _contains(self, loop: Course, count: int) -> None:
        """A loop in this turn is left, which had so many turns: ask what it has left open."""
        known = Kinds()
        for state in loop._kinds.values():
            known.join(state)
        opened = [each for each in known.open(loop._decides) if loop._is_asked(each[0])]
        self.keeping.leaves(loop.keeping)
        self._has_kept |= loop._has_kept
        asks = any(loop._decides(each) for path in known.paths for each in path)
        self._differs_within |= asks or loop._differs_within or loop.keeping.has_kept
        inner = self._inner.setdefault(loop.node, Inner(loop.node))
        for how, of, comes in inner.take(self.turn.number, loop.turn, known, opened, count):
            question = Question(how, ("turn", 1, 0, False), ("is", None))
            asked = Noted(self.turn, question, comes, of.place, is_size=False)
            asked.sets, asked.evaluates = of.sets, of.evaluates
            if of.exits:
                asked.ends, asked.exits, asked.acts = 2, True, True
            self._machine.asked.append(asked)

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
    def turns(self) -> Any:
        """How many it has, once it is left; None if that is not known."""
        return self._turns

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
        stop = self._stop(after)
        if self.is_over or not after < stop:
            self.ends(stop)
            return None
        phases = self._machine.phases
        if not phases.have_settled or self.node not in self._machine.turns.stepping:
            return after
        is_settled = not self.skips
        if is_settled:
            self.skips, self._settled = True, after
            # What a step makes lies in one of two places in turn.
            self._period = max(1, after // max(1, phases.done - self._before))
            self._cycle = lcm(2, self._period)
            self._machine.seen.has_settled = True
        self._state = self._now()
        if is_settled:
            self.keeping.settles()
        self._moves()
        if not self._planned:
            self._planned = self._others(after)
        if not self._planned:
            return self._last(after)
        found = self._planned.pop(0)
        self.keeping.grow(found - after, self._period)
        phases.go_on(self._per_turn)
        return found

    def begins(self, number: Any) -> None:
        """A turn begins, after the assignment of the loop's names."""
        machine = self._machine
        if not self.skips:
            self._state = self._now()
            self._moves()
            if machine.phases.done == self._before:
                self._early.add(self._state)
        before, self.turn.number = self.turn.number, number
        self._start, self._done = len(machine.asked), machine.phases.done
        self.keeping.begins()
        self._flops = sum(machine.card.tape.flops.values())
        self._counters.begins(number, before)

    def _ends(self) -> None:
        machine = self._machine
        self._path = self._take()
        self._per_turn = max(self._per_turn, machine.phases.done - self._done)
        self._of_state.add(self._path)
        self.keeping.ends(self.turn.number)
        self._recent = [self._state, *self._recent[: max(self._cycle, 2 * ROUND) - 1]]

    def _others(self, after: int) -> list[int]:
        """Later turns to read next: one that may do what no turn did, or the one before it, too."""
        is_new = self._state not in self._kinds
        is_handed_on = bool(self._recent) and self._handed != self._recent[0][0]
        was_sought, self._was_sought = self._was_sought, False
        is_later = was_sought or (not self.is_direct and self.turn.number > 0)
        self._has_kept |= is_later and self._state[1:] != self._recent[0][1:]
        if self._counters.are_asked:
            return [after]
        is_watched = self.is_direct or self._differs_within or self.keeping.has_kept_behind
        if is_new and (is_watched or is_handed_on or was_sought):
            self._new += 1
            if self._new == 2 and self.keeping.lets_cycles_go(max(1, self.turn.number)):
                self._state = self._now()
                return self._others(after)
            if self._new <= self._most_growing and (is_handed_on or not self._repeats(after)):
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
        is_close = self._has_kept
        if found is None or asked is None:
            left = unnoted(self._stop(after)) - after
            # The last turn is read anyway, and of an epoch only what follows its steps.
            if is_close and self.is_direct < left <= self._most_growing:
                return [after]
            return self._again(after, was_sought=was_sought)
        self._read += 1
        if found == when.NOT_DECIDED or self._read > KINDS:
            self._doubt("when" if found == when.NOT_DECIDED else "what else", str(asked.place))
            return []
        if self._comes_again(found, asked):
            return self._others(after)
        if found > after and not self._counters.are_known:
            return [after]
        self._was_sought = True
        has_grown = (
            bool(self.keeping.growth()) and found - 1 > after
        )  # the most that is kept until then
        turns = [found - 1, found] if has_grown else [found]
        if asked.evaluates is not None:  # it keeps nothing
            return turns
        away = (turns[0] - after) % self._cycle  # it comes after a turn of its own kind
        if is_close and turns[0] - after <= self._most_growing:
            away = turns[0] - after
        return [*range(after, after + away), *turns]

    def _again(self, after: int, *, was_sought: bool) -> list[int]:
        """Turns to read that are like the latest, which replaced what lay there: what takes its
        place may come to lie elsewhere, so that more is reserved. A plain step is repeated by the
        verdict (``replay.py``)."""
        is_plain = self.is_direct and not was_sought
        if is_plain or not self.keeping.replaces or self._state != self._recent[0]:
            return []
        if self._times_again == AGAIN:
            return []
        found: int | None = after
        if was_sought:
            path = [*filter(self._decides, self._path)]
            told = [(each.question, each.answer) for each in path]
            found, _ = self._first([(each, told) for each in path[-1:]], after)
        if found is None or found == when.NOT_DECIDED:
            return []
        self._times_again += 1
        self._was_sought = was_sought
        away = min(found - after, self._cycle + (found - after) % self._cycle)
        return [*range(after, after + away), found]

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
        now = self.keeping.states[-1][1]
        times = self._times.setdefault(asked.key, [])
        times.append((found, now))
        if len(times) < REPEATED + 1 or self.keeping.is_filled:
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
            self.keeping.put(size, count * left)
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
        return (not asked.ends or asked.acts) and inert not in self._inert

    def _stop(self, after: int) -> Any:
        """The turn before which the loop ends."""
        symbols = [unnoted(each) for each in self.turn.symbols]
        count = when.FOREVER if self._count is None else self._count
        found = unnoted(count)
        for each, more in self._ends_of_loop():
            found = _before(found, when.first(each, after, found, symbols), more)
        return count if found == unnoted(count) else found

    @property
    def _most_growing(self) -> int:
        """How many turns are read that each leave another state."""
        return GROWING if self.is_direct else EPOCHS

    def _repeats(self, after: int) -> bool:
        """Whether each turn keeps the same, for as long as the loop goes on."""
        is_long = unnoted(self._stop(after)) - after > self._most_growing
        return is_long and bool(self.keeping.growth()) and not is_bounded(self.node)

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
        kept, most = self.keeping, self._most_growing
        grows = (not is_endless and kept.grow(left, self._period)) or self._reads_last
        is_left_out = kept.growth() and is_bounded(self.node) and self._new > most
        if self._counters.are_asked:
            return [after]
        is_watched = self.is_direct or self._new > most
        if left > 0 and (
            is_left_out or (is_watched and not grows and self._state not in self._kinds)
        ):
            kept.doubt()
        self._machine.phases.go_on(self._per_turn if grows else 0)
        return after if is_endless else stop - 1

    def _now(self) -> State:
        """The state: what lies on the card, what learns, what steps, and what is set."""
        large = self.keeping.now(self.turn.number)
        handed = self._carried.now()
        return handed, frozenset(large.items()), self.keeping.held(), *learning(self._machine)


def _before(stop: int, found: int | None, more: int) -> int:
    return stop if found is None or found == when.NOT_DECIDED else min(stop, found + more)


def _bytes_of(state: State) -> int:
    return bytes_of(Counter(dict(state[1])))
