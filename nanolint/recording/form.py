"""A tape with formulas on it, to be filled with numbers.

A keystroke fills some four: what stands at several places of a tape is filled once.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING, Any, NamedTuple

from nanolint.tape.located import Located
from nanolint.tape.symbolic import Symbolic, filled
from nanolint.tape.tape import Step

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from nanolint.tape.tape import Tape


class Filled(NamedTuple):
    """A tape, and what tells it from others of the same form."""

    tape: Tape
    content: bytes


class Form:
    """A tape with formulas on it."""

    def __init__(self, tape: Tape) -> None:
        self._tape = tape
        self._sizes, self._names = _Spread(tape.sizes), _Spread(tape.names)

    def filled(self, values: Sequence[int]) -> Filled:
        """The tape with the values of all formulas, by their places."""

        def value(number: Any) -> Any:
            return values[number.place] if type(number) is Symbolic else number

        written, tape = self._tape, type(self._tape)()
        sizes = [value(each) for each in self._sizes.once]
        names = [filled(each, values) for each in self._names.once]
        tape.sizes, tape.names = self._sizes.spread(sizes), self._names.spread(names)
        tape.events, tape.phases = written.events, written.phases
        tape.components = written.components
        tape.doubts, tape.above, tape.assumed = written.doubts, written.above, written.assumed
        tape.stop = written.stop
        tape.printed = [filled(each, values) for each in written.printed]
        tape.trained = [value(each) for each in written.trained]
        tape.flops = {kind: value(flops) for kind, flops in written.flops.items()}
        tape.steps = [
            Step(
                tuple((kind, value(flops)) for kind, flops in step.flops),
                None if step.tokens is None else value(step.tokens),
            )
            for step in written.steps
        ]
        if isinstance(tape, Located) and isinstance(written, Located):
            tape.wheres = written.wheres
        told = repr((sizes, names, tape.printed, tape.trained, tape.flops, tape.steps))
        return Filled(tape, blake2b(told.encode("utf-8", "surrogatepass")).digest())


class _Spread:
    """Items of a list, each ``once``, and where they stand."""

    def __init__(self, items: Iterable[Any]) -> None:
        places: dict[object, int] = {}
        self.once: list[Any] = []
        self._places: list[int] = []
        for each in items:
            key = (Symbolic, each.place) if type(each) is Symbolic else each
            if key not in places:
                places[key] = len(self.once)
                self.once.append(each)
            self._places.append(places[key])

    def spread(self, others: Sequence[Any]) -> list[Any]:
        """The list with others in their places."""
        return [others[place] for place in self._places]
