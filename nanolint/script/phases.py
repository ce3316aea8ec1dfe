"""The phase of a run: setting up, evaluating, forward, backward, in the optimizer's step."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NoReturn

from nanolint.interpreter.values import Event
from nanolint.tape.tape import Phase, Step, live_at

if TYPE_CHECKING:
    from nanolint.interpreter.values import Instance
    from nanolint.tape.tape import Handle, Tape

TRAINING = frozenset({Phase.FORWARD, Phase.BACKWARD, Phase.OPTIMIZER})
EVALUATIONS = (Phase.EVAL, Phase.EVAL_LATE)
BEFORE = "before step 1"
LITTLE = 1 << 20  # bytes that may come to be held after a loop


class Finished(BaseException):
    """All that is read of a run is read; no program catches it."""


class Ended(Finished):
    """The program itself has ended, after the first steps."""


class TrainsAgain(BaseException):
    """After the last step that is read, the loop would train again: it is over instead."""


class Phases:
    """Puts the phases on the tape as ``nanolint trace`` does, and counts the steps."""

    def __init__(self, tape: Tape, steps: int) -> None:
        self._tape = tape
        self._first = self._steps = steps
        self._done: dict[int, int] = {}
        self.done = 0  # the steps that every optimizer has made that makes any
        self.optimizers: list[Instance] = []
        tape.phase(Phase.SETUP)
        self._after_backward = False
        self._computed = Counter[str]()  # since the last step, to train
        self._counted: dict[str, int] = {}  # so far, for whatever
        self._held: set[Handle] = set()  # at the end of the loop that trains
        self.doubts = 0  # how many the tape had behind the last step

    @property
    def are_late(self) -> bool:
        """Whether the last step that is read is done: what comes now only evaluates."""
        return self.done >= self._steps

    @property
    def have_settled(self) -> bool:
        """Whether the first steps are done: those between them and the last are like them."""
        return self.done >= self._first

    def go_on(self, steps: int) -> None:
        """So many more steps are read, which may do something else than the first."""
        self._steps = self.done + steps
        self._held = set()

    def end(self) -> None:
        """The loop that trains is over."""
        if self.have_settled:
            self._steps = self.done
            self._held = live_at(self._tape)

    @property
    def holds_more(self) -> bool:
        """Whether something was allocated after the loop that trains, and is held while another
        one trains."""
        come = sorted(live_at(self._tape) - self._held)
        return sum(self._tape.sizes[each] for each in come) > LITTLE

    @property
    def has_another_optimizer(self) -> bool:
        """Whether an optimizer was made that has not stepped."""
        return len(self.optimizers) > len(self._done)

    @property
    def learns(self) -> bool:
        """Whether what comes next is for training: an optimizer is there, and nothing evaluates."""
        return not self.are_late and self._tape.phases[-1][1] is Phase.FORWARD

    @property
    def evaluates(self) -> bool:
        """Whether a model was told to evaluate, and none since to train."""
        return self._tape.phases[-1][1] in EVALUATIONS

    def _enter(self, phase: Phase) -> None:
        self._after_backward = False
        if self._tape.phases[-1][1] is not phase:
            self._count()
            self._tape.phase(phase)

    def _count(self) -> None:
        """What was computed in the phase that ends."""
        before, self._counted = self._counted, self._tape.flops.copy()
        if self._tape.phases[-1][1] in TRAINING:
            self._computed.update(self._counted)
            self._computed.subtract(before)

    def happens(self, what: Event) -> None:
        """Notes an event that divides the run into phases."""
        if what is Event.OPTIMIZER_MADE:
            if not self._done:
                self._enter(Phase.FORWARD)
        elif what is Event.BACKWARD:
            self.trains()
            self._enter(Phase.BACKWARD)
        elif what is Event.AFTER_BACKWARD:
            self._enter(Phase.FORWARD)  # the optimizer's if its step comes next
            self._after_backward = True
        elif self._tape.phases[-1][1] is not Phase.SETUP:
            late = Phase.EVAL_LATE if self._done else Phase.EVAL
            self._enter(Phase.FORWARD if what is Event.TRAINS else late)

    def trains(self) -> None:
        """A model is called to learn from it. Raises TrainsAgain after the last step."""
        if self.are_late:
            self._held = self._held or live_at(self._tape)
            raise TrainsAgain

    @property
    def when(self) -> str:
        """When in the run: "before step 1", "in the backward pass of step 2", "after step 2"."""
        phase, number = self._tape.phases[-1][1], self.done + 1
        if not self.done and not self._tape.flops:
            return BEFORE
        if phase is Phase.BACKWARD:
            return f"in the backward pass of step {number}"
        if phase in (Phase.EVAL, Phase.EVAL_LATE):
            return f"in the evaluation before step {number}"
        if phase is Phase.FORWARD and self.done and self._tape.flops == self._counted:
            return f"after step {self.done}"
        return f"in step {number}"

    def finish(self) -> NoReturn:
        """Nothing more is read."""
        self._tape.close()
        raise Finished

    def before_step(self) -> None:
        """An optimizer's step begins: unscaling and clipping before it are its, too."""
        self.trains()
        if self._after_backward:
            at, _ = self._tape.phases.pop()
            self._tape.phases.append((at, Phase.OPTIMIZER))
            self._after_backward = False
        self._enter(Phase.OPTIMIZER)

    def after_step(self, optimizer: Instance, tokens: int | None = None) -> None:
        """It ends; ``tokens`` are those that the model was given since the last one."""
        before = self.done
        if self.have_settled:  # one that is made later steps with the others, or in their place
            self._done = dict.fromkeys([*self._done, id(optimizer)], before + 1)
        else:
            self._done[id(optimizer)] = self._done.get(id(optimizer), 0) + 1
        self.done = min(self._done.values())
        self._count()
        if self.done > before:
            flops = tuple((kind, flops) for kind, flops in self._computed.items() if flops)
            self._tape.steps.append(Step(flops, tokens))
            self._computed.clear()
        self.doubts = len(self._tape.doubts)
        self._enter(Phase.FORWARD)
