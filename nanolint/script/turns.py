"""Loops: turns that do what the one before did are not read again.

A loop over ``range(n)`` whose last two turns wrote the same to the tape goes on with its last
turns, as many as keep its number odd or even: batches alternate between two places; if each
turn keeps what it made, or puts tensors into a list, all are read. One that
cannot be read, has nothing to do with the card, and left behind what the turn before left, is over.
Of a loop that trains ``course.py`` says which turns are read after the first steps.
"""

from __future__ import annotations

import ast
from itertools import islice
from typing import TYPE_CHECKING, Any

from nanolint.interpreter.scopes import MISSING
from nanolint.interpreter.statements import BREAK, RETURN, for_each, while_true
from nanolint.interpreter.values import (
    Class,
    Event,
    Function,
    Generated,
    Instance,
    Method,
    Partial,
    Unknown,
)
from nanolint.run.stop import AFTER
from nanolint.script import alike, checked, corpora, growing, jumping
from nanolint.script.alike import turns_that_reserve
from nanolint.script.changes import called, changed, loaded
from nanolint.script.course import Course
from nanolint.script.deciding import Deciding
from nanolint.script.loaders import turns_over
from nanolint.script.phases import TrainsAgain
from nanolint.script.reaching import steps, trains
from nanolint.source.python import of_node
from nanolint.tape.symbolic import Span
from nanolint.tensors.tensor import Tensor

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nanolint.interpreter.counted import Noted
    from nanolint.interpreter.scopes import Frame
    from nanolint.interpreter.values import Value
    from nanolint.script.machine import Script
    from nanolint.tape.tape import Mark

LITTLE = 1 << 20  # bytes that all turns together keep, such as their losses, and are left out
REMADE = "the lifetime of optimizers that later steps create again"
ANOTHER = "nanolint does not know what is trained after the steps"
NONE_LEFT = (
    "assuming that an epoch's last passes leave no gradients, if they are too few for a step"
)
AGAIN = 3  # steps that are read of another loop that trains
OTHERS = 4  # such loops that are read
FEW = 4  # turns of a loop that are always read
BAR, PACKAGES = "Progress", "packages"  # tqdm's, by the text that stands in for it
MANY = 64  # of one that fills an array element by element, or goes through what is generated
MOST = (
    2000  # turns of a ``while``: one over all of a file's tokens, which are not counted, has more
)


class Turns:
    """Reads loops; ``whole`` reads every turn of those that have to do with the card."""

    def __init__(self, machine: Script, *, whole: bool = False) -> None:
        self._machine = machine
        self.whole = whole
        self.left = False  # whether a loop is over that would go on: its counters stand too low
        self.outermost: Course | None = None  # of those that train, the one that was begun last
        self.is_over = False  # that loop is done
        self._is_late = False  # it was begun after all steps that are read
        self._others = 0  # such loops so far
        self.courses: list[Course] = []  # of those that train, the innermost last
        self.deciding = Deciding(machine)
        self.restless: set[tuple[int, Any]] = set()  # values that turns of a loop set to and fro
        self.slopes: dict[tuple[ast.stmt, str, Any], int] = {}  # of what turns of loops count
        self._open: list[ast.stmt] = []  # the loops that are being run, the innermost last
        self._depths: list[int] = []  # of calls, at which they stand
        self._counted: list[tuple[ast.stmt, int]] = []  # those over numbers, with their turn
        self._making: set[ast.stmt] = set()  # those with an optimizer made in them
        self.stepping: set[ast.stmt] = set()  # those with an optimizer's step in them
        self._remade = False  # whether an optimizer was made after the first steps
        self._passing: ast.stmt | None = None  # the innermost around the last backward pass
        self._accumulates = False  # whether one is over that steps in some of its turns alone
        self._room = LITTLE  # bytes that may still be left out of what is kept for backward passes
        self._jumping: dict[ast.stmt, Unknown] = {}  # those whose turns may end early, and why

    @property
    def counted(self) -> tuple[ast.stmt, int] | None:
        """The innermost loop over numbers that is being run, and its turn."""
        return self._counted[-1] if self._counted else None

    @property
    def is_in_own_loop(self) -> bool:
        """Whether a loop is being run of the very function that is."""
        return self._machine.depth in self._depths

    def happens(self, what: Event) -> None:
        """Notes an event that divides the run into phases."""
        machine = self._machine
        if what is Event.BACKWARD:
            self._passing = self._open[-1] if self._open else None
        elif what is Event.EVALUATES and self._accumulates:
            machine.card.tape.assume(NONE_LEFT, apart=True)
        elif what is Event.OPTIMIZER_MADE:
            if not machine.phases.have_settled:
                self._making.update(self._open)
            elif self._remade and REMADE not in (each[: len(REMADE)] for each in machine.doubts):
                machine.doubts.append(f"{REMADE} is not known ({machine.place})")
            self._remade = machine.phases.have_settled
            if machine.phases.are_late:
                self.trains_another()

    def trains_another(self) -> None:
        """After the steps that are read something else is trained, perhaps of other sizes."""
        doubt = f"{ANOTHER} that it reads ({self._machine.place})"
        if not any(each.startswith(ANOTHER) for each in self._machine.doubts):
            self._machine.doubts.append(doubt)

    def stepped(self) -> None:
        """An optimizer has stepped."""
        self.stepping.update(self._open)

    def forces(self, asked: Noted) -> None:
        """A branch is read that another answer leads to."""
        for each in self.courses:
            each.forces(asked)

    def come(self, asked: list[Noted]) -> bool:
        """Whether one of these has another answer in a turn that is not read."""
        return any(each.comes(asked) for each in self.courses)

    def do_nothing(self, asked: list[Noted]) -> None:
        """A branch that these answers led to left everything as it was."""
        for each in self.courses:
            each.do_nothing(asked)

    def ends(self, node: ast.If) -> bool:
        """See ``Loops.ends``."""
        return any(node in ending(each.node) for each in self.courses)

    def may_jump(self, why: Unknown) -> None:
        """See ``Script.may_jump``."""
        if self._open:
            self._jumping.setdefault(self._open[-1], why)

    def run(self, node: ast.For | ast.While, frame: Frame) -> object:
        """Reads a loop. If it would train again, the innermost that steps is over, once."""
        self._open.append(node)
        self._depths.append(self._machine.depth)
        try:
            ended = self._run(node, frame)
            if node in self._jumping:
                jumping.forget_counted(self._machine, node, frame, self._jumping[node])
            return ended
        except TrainsAgain:
            if node not in self.stepping:
                raise
            self.stepping.discard(node)
            self.left = True
            self.is_over = not self.courses
            if node is self._passing and isinstance(node, ast.For):
                self._accumulates = self._machine.seen.passes > 1
            is_another = self.is_over or self._is_late
            if node in self._making or (is_another and self._machine.phases.holds_more):
                self.trains_another()  # each turn a model of its own, or more is held
            return None
        finally:
            self._open.pop()
            self._depths.pop()
            self._jumping.pop(node, None)
            if node in self.stepping:
                self._machine.phases.end()

    def _run(self, node: ast.For | ast.While, frame: Frame) -> object:
        if isinstance(node, ast.While):
            return self._while(node, frame)
        machine = self._machine
        found = _without_bar(machine.evaluate(node.iter, frame))
        if isinstance(found, Span) and not found.count > FEW:
            found = found.known()
        is_long = isinstance(found, Span) or (isinstance(found, range) and len(found) > FEW)
        if corpora.is_data(found) and corpora.fill(machine, node, frame, found):
            return None
        if not isinstance(found, (range, Span)):
            values = machine.iterate(found)
            if isinstance(found, Generated):
                values = alike.until_alike(machine, values, least=MANY)
            if self._is_course(node, frame):
                course = Course(machine, node, frame, turns_over(machine, found))
                return self._follow(node, frame, course, values)
            return for_each(machine, node, frame, values)
        self._counted.append((node, -1))
        try:
            if self._is_course(node, frame):
                course = Course(machine, node, frame, _count(found))
                return self._follow(node, frame, course, found)
            if is_long and not _counts(node):
                return self._range(node, frame, found)
            return for_each(machine, node, frame, self._numbers(node, found))
        finally:
            self._counted.pop()

    def _is_course(self, node: ast.For | ast.While, frame: Frame) -> bool:
        """Whether a loop trains, and is not one of the passes of another one's step."""
        return trains(node, frame) and (not self.courses or steps(node, frame))

    def _follow(
        self,
        node: ast.For | ast.While,
        frame: Frame,
        course: Course,
        values: range | Span | Iterator[Value] | None = None,
    ) -> object:
        """Read the turns of a loop that trains which may differ."""
        machine = self._machine
        for each in self.courses:
            each.is_direct = False
        if self.courses:
            self.courses[-1].keeping.enters()
        else:
            self.outermost, self.is_over = course, False
            self._is_late = machine.phases.are_late
            if self._is_late and self._others < OTHERS:
                self._others += 1
                machine.phases.go_on(AGAIN)
        self.courses.append(course)
        before = -1
        try:
            while True:
                number = course.next()
                if number is None:
                    break
                if number != before + 1:
                    machine.seen.skips()
                before = number
                machine.step()
                if course.is_direct and not machine.phases.have_settled:
                    self._making.discard(node)  # only turns that all make one count
                if isinstance(node, ast.While):
                    course.begins(number)
                    if number > MOST and not course.skips:
                        raise machine.unread("how often a loop turns is not known")
                    if not self._goes_on(node, frame):
                        course.ends(number)
                        break
                elif isinstance(values, (range, Span)):
                    self._counted[-1] = node, number
                    course.begins(number)
                    formula = "turn", _stride(values), _first(values), False
                    counted = course.turn.made(values[number], formula)
                    machine.assign(node.target, counted, frame)
                elif values is not None:
                    held = list(islice(values, 1))
                    if not held:
                        course.ends(number)
                        break
                    machine.assign(node.target, held.pop(), frame)
                    course.begins(number)
                ended = machine.execute(node.body, frame)
                if ended is BREAK or ended is RETURN:
                    course.ends(number + 1)
                    return ended if ended is RETURN else None
        except TrainsAgain:
            course.is_cut()
            raise
        finally:
            self.courses.remove(course)
            course.leaves()
        self.is_over = not self.courses
        return machine.execute(node.orelse, frame)

    @property
    def when(self) -> str:
        """When in the run that is, after the first steps: "in step 500", "in a later step"."""
        course = self.outermost
        if self.is_over or course is None:
            return AFTER
        step = course.step
        return "in a later step" if step is None else f"in step {step:,}"

    def _goes_on(self, node: ast.While, frame: Frame) -> bool:
        """Whether a ``while`` has another turn."""
        machine = self._machine
        before = len(machine.asked)
        test = machine.evaluate(node.test, frame)
        machine.at(frame.module, node.lineno)
        holds = machine.truth(test)
        for each in machine.asked[before:]:
            each.ends = int(holds)
        return holds

    def _while(self, node: ast.While, frame: Frame) -> object:
        if self._is_course(node, frame):
            return self._follow(node, frame, Course(self._machine, node, frame))
        return while_true(self._machine, node, frame, most=MOST)

    def _drift(self, start: Mark, rest: int) -> int:
        """How many turns of an evaluation with gradients have to be read that are like the last."""
        card = self._machine.card
        return turns_that_reserve(card.tape, start, rest) if card.grad_enabled else 0

    @property
    def _is_on_host(self) -> bool:
        """Whether nothing learns, and nothing was put on the card so far."""
        card = self._machine.card
        return not (card.grad_enabled or card.tape.events)

    def _numbers(self, node: ast.For, values: range | Span) -> Iterator[Value]:
        place, count = 0, _count(values)
        while place < count:
            self._counted[-1] = node, values[place]
            yield values[place]
            place += 1

    def _range(self, node: ast.For, frame: Frame, values: range | Span) -> object:
        machine, tape = self._machine, self._machine.card.tape
        place, before, left = 0, [object()], list[object]()
        count, drifts = _count(values), 0
        left_out: jumping.LeftOut | None = None
        while place < count:
            machine.step()
            self._counted[-1] = node, place
            machine.assign(node.target, values[place], frame)
            start, passed, backward = tape.mark(), machine.passed, machine.seen.backward
            held = growing.sizes(node, frame)
            ended = machine.execute(node.body, frame)
            if ended is BREAK or ended is RETURN:
                return ended if ended is RETURN else None
            place += 1
            rest = count - place
            if left_out is not None:
                left_out.look_again()
                left_out = None
            if rest and tape.mark() == start and jumping.is_over(machine, node, frame):
                machine.assign(node.target, values[-1], frame)
                break
            if rest > 2:
                wrote: list[object] = list(alike.written(tape, start))
                grows = alike.kept(tape, start) * rest
                room = self._room if machine.card.grad_enabled else LITTLE
                is_alike = wrote and wrote == before and not self.whole and grows <= room
                if machine.seen.backward != backward and not machine.phases.are_late:
                    is_alike = is_alike and not steps(node, frame)  # in turns that it counts
                again = growing.repeated(held, node, frame, machine.host) if is_alike else None
                if again is not None and not drifts and machine.seen.backward == backward:
                    drifts = place + self._drift(start, rest)
                if again is not None and place >= drifts:
                    skipped = (rest - 1) // 2 * 2
                    place += skipped
                    for listed, put in again:
                        machine.bounded(len(listed) + len(put) * skipped)
                        listed += put * skipped
                    tape.compute_again(start.flops, skipped)
                    self._room -= grows if machine.card.grad_enabled else 0
                    left_out = jumping.LeftOut(machine, node, frame)
                    machine.seen.backward += skipped * (machine.seen.backward - backward)
                elif (
                    not wrote
                    and not before
                    and (
                        machine.passed > passed
                        or (place > MANY and _is_plain(node, frame))
                        or self._is_on_host
                    )
                ):
                    leaves = _left(node, frame)
                    if leaves is not None and leaves == left:
                        machine.assign(node.target, values[-1], frame)
                        break
                    left = leaves or []
                before = wrote
        return machine.execute(node.orelse, frame)


def _without_bar(values: Value) -> Value:
    """The numbers that ``tqdm(range(n))`` shows a bar of; all else as it is."""
    is_bar = isinstance(values, Instance) and values.cls.name == BAR
    if not is_bar or values.cls.module.name != PACKAGES:
        return values
    shown = values.attributes.get("iterable")
    return shown if isinstance(shown, (range, Span)) else values


def _stride(values: range | Span) -> int:
    return values.step if isinstance(values, range) else 1


def _first(values: range | Span) -> int:
    return values.start if isinstance(values, range) else 0


def _count(values: range | Span) -> int:
    count: int = values.count if isinstance(values, Span) else len(values)
    return count


def _left(node: ast.For, frame: Frame) -> list[object] | None:
    """What a turn bound that the next one could see; None where that is not all it leaves."""
    found: list[object] = []
    targets = {each.id for each in ast.walk(node.target) if isinstance(each, ast.Name)}
    names, plain = _bound(node)
    if not plain:
        return None
    for name in names:
        if name not in targets:
            value = frame.find(name)
            found.append(_sort(value))
    for name in changed(node):
        value = frame.find(name)
        if isinstance(value, (list, dict, set)):
            return None
    for name in called(node):
        function = frame.find(name)
        if isinstance(function, Function):
            for inner in (*changed(function.node), *_bound(function.node)[0]):
                value = MISSING if function.closure is None else function.closure.find(inner)
                if isinstance(value, (list, dict, set)):
                    return None
    return found


def _is_plain(node: ast.For, frame: Frame) -> bool:
    """Whether nothing in a loop has code of the project's own, which may count its turns."""
    own = (Function, Instance, Method, Class, Partial)
    return not any(isinstance(frame.find(name), own) for name in loaded(node))


def _sort(value: Value) -> object:
    if isinstance(value, Unknown):
        return "unknown"
    if isinstance(value, Tensor):
        return value.shape, value.dtype, value.device
    return value if isinstance(value, (int, float, str, bool)) or value is None else id(value)


@of_node
def _bound(node: ast.AST) -> tuple[tuple[str, ...], bool]:
    """The names that statements bind; and whether they bind nothing but names and elements."""
    names, plain = dict[str, None](), True
    for each in ast.walk(node):
        if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store):
            names[each.id] = None
        elif isinstance(each, ast.Attribute) and isinstance(each.ctx, ast.Store):
            plain = False
    return tuple(names), plain


@of_node
def ending(node: ast.For | ast.While) -> frozenset[ast.If]:
    """The statements of a loop that end it if a simple test holds."""
    found, unseen = set[ast.If](), list(node.body)
    while unseen:
        each = unseen.pop()
        if isinstance(each, (ast.With, ast.Try)):
            unseen += each.body
        elif isinstance(each, ast.If):
            ands = (one for one in ast.walk(each.test) if isinstance(one, ast.BoolOp))
            ends = any(isinstance(one, (ast.Break, ast.Return)) for one in each.body)
            ends = ends or checked.exits(each)
            if ends and not any(isinstance(one.op, ast.And) for one in ands):
                found.add(each)
    return frozenset(found)


@of_node
def _counts(node: ast.For) -> bool:
    """Whether what a loop does may depend on the number of the turn: ``if i % 10 == 0``."""
    targets = {each.id for each in ast.walk(node.target) if isinstance(each, ast.Name)}
    return any(
        isinstance(each, ast.BinOp)
        and isinstance(each.op, ast.Mod)
        and any(isinstance(name, ast.Name) and name.id in targets for name in ast.walk(each))
        for each in ast.walk(node)
    )
