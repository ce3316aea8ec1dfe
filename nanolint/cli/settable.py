"""Which values of a run's settings mean another micro-batch, or so many of them to a step."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from nanolint.cached import cached_property
from nanolint.run.equation import NotKnown
from nanolint.run.flags import plain_name
from nanolint.run.profile import MOST_STEPS, represented
from nanolint.run.roles import Role
from nanolint.run.terms import Given, Surface, leaves
from nanolint.source.bounds import Unevaluable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from nanolint.run.equation import Equation
    from nanolint.run.run import Run
    from nanolint.run.settled import Resolution
    from nanolint.run.terms import World


FLAGS = (Surface.FLAG, Surface.ARGUMENT)


class Step(NamedTuple):
    """What a run makes of a step: its micro-batch, and how many of them."""

    batch_size: int
    micro_steps: int


class Settable:
    """Looks for values; ``resolve`` reads the run with some, which takes seconds for large scripts.

    A script's equation says the same in no time, as long as the values do not send the script
    another way; where they do, it is read once, and that way has an equation, too.
    """

    def __init__(
        self,
        resolution: Resolution,
        run: Run,
        micro_batch: str,
        resolve: Callable[[Mapping[str, int]], Resolution],
    ) -> None:
        self._resolution, self._run, self._micro_batch = resolution, run, micro_batch
        self._resolve = resolve
        equation = _equation(resolution)
        self._ways = [_Way(equation)] if equation is not None else []

    @cached_property
    def accumulation(self) -> str | None:
        """The key that another number of micro-steps is had by; None where there is none.

        That of the accumulation, or of the total that a script works it out from.
        """
        own = "gradient_accumulation_steps"
        equation = _equation(self._resolution)
        if equation is None:
            return self._resolution.deciding.get(own, own)
        taken = {*_of_other_roles(self._resolution), *leaves(equation.context)}
        givens = [*_givens(equation), *_left_to_the_script(self._resolution)]
        free = (given for given in dict.fromkeys(givens) if given not in taken)
        # A flag before a constant: that is what people turn.
        ordered = sorted(free, key=lambda given: given.surface not in FLAGS)
        steps = represented(self._run.micro_steps) % MOST_STEPS + 1
        keys = (plain_name(given.key) for given in ordered)
        found = (key for key in keys if self._values(self._run.batch_size, steps, key) is not None)
        return next(found, None)

    def values(self, batch_size: int, micro_steps: int) -> dict[str, int] | None:
        """What to set, so that nanolint reads the run as one of this micro-batch and so many steps;
        None where nothing does that."""
        return self._values(batch_size, micro_steps, self.accumulation)

    def _values(
        self, batch_size: int, micro_steps: int, accumulation: str | None
    ) -> dict[str, int] | None:
        """The same by one key.

        Scripts count the accumulation in passes, in sequences or in tokens, of one process or all.
        The largest number that means so many steps is the one: a smaller one may be rounded to it,
        as 1 token to 1 pass, which the script then refuses.
        """
        run = self._run
        counts = {
            steps * unit * world
            for steps in (*range(1, MOST_STEPS + 1), micro_steps)
            for unit in (1, batch_size, batch_size * run.block_size)
            for world in (1, run.world_size)
        }
        similar = None  # more steps that are represented by so many
        for count in sorted(counts, reverse=True) if accumulation is not None else (None,):
            values = {self._micro_batch: batch_size}
            if accumulation is not None and count is not None:
                values[accumulation] = count
            found = self._read(values)
            if found is not None and found.batch_size == batch_size:
                if found.micro_steps == micro_steps:
                    return values
                if represented(found.micro_steps) == micro_steps:
                    similar = values
        return similar

    def _read(self, values: Mapping[str, int]) -> Step | None:
        """The step of the run with these values."""
        for way in self._ways:
            if values.keys() <= way.keys and way.is_taken(values):
                return way.step(values)
        found = self._resolve(values)
        equation = _equation(found)
        if equation is not None:
            self._ways.append(_Way(equation, values))
        run = found.outline
        return None if run is None else Step(run.batch_size, run.micro_steps)


class _Way:
    """A way through the script, as it is read with some values; ``keys`` are those that are known
    to send it another way or not, and to have an effect or none."""

    def __init__(self, equation: Equation, values: Mapping[str, int] = {}) -> None:
        self._equation = equation
        self.givens = tuple(_givens(equation))
        self.keys = {plain_name(given.key) for given in self.givens} | values.keys()
        self._turns = [(turn, frozenset(leaves(turn.condition))) for turn in equation.turns]
        self._checks = [(check, frozenset(leaves(check.condition))) for check in equation.checks]

    def is_taken(self, values: Mapping[str, int]) -> bool:
        changes = self._changes(values)
        turns = tuple(turn for turn, given in self._turns if given & changes.keys())
        return replace(self._equation, turns=turns).goes_the_same_way(changes)

    def step(self, values: Mapping[str, int]) -> Step | None:
        """What the script makes of the values; None where it would end."""
        changes = self._changes(values)
        checks = tuple(check for check, given in self._checks if given & changes.keys())
        equation = replace(self._equation, checks=checks)
        try:
            if any(True for _ in equation.broken(changes)):
                return None
            passes = equation.number(equation.passes, changes)
            return Step(equation.number(equation.micro_batch, changes), max(1, passes))
        except Unevaluable:
            return None

    def _changes(self, values: Mapping[str, int]) -> dict[Given, int]:
        named = ((given, plain_name(given.key)) for given in self.givens)
        return {given: values[key] for given, key in named if key in values}


def _equation(resolution: Resolution) -> Equation | None:
    return resolution.described.equation if resolution.described is not None else None


def _givens(equation: Equation) -> Iterator[Given]:
    """What the equation depends on, each once: what it is made of, then what decided its way."""
    terms = [
        *(equation.passes, equation.micro_batch, equation.context),
        *(turn.condition for turn in equation.turns),
    ]
    found = (given for term in terms for given in leaves(term) if isinstance(given, Given))
    yield from dict.fromkeys(found)


def _of_other_roles(resolution: Resolution) -> Iterator[Given | World]:
    """What more than the accumulation depends on: a depth is no way to another total."""
    described = resolution.described
    roles = described.roles.items() if described is not None else ()
    for role, term in roles:
        if role is not Role.ACCUMULATION and not isinstance(term, NotKnown):
            yield from leaves(term)


def _left_to_the_script(resolution: Resolution) -> Iterator[Given]:
    """The flags whose value says that the script is to choose, as -1: with another the script may
    have another equation."""
    described = resolution.described
    for given in described.given if described is not None else ():
        if given.surface in FLAGS and type(given.value) is int and given.value < 0:
            yield given
