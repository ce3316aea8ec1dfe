"""The tape of a run that was recorded once, at any micro-batch that the profile covers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.tape.tape import Component, Phase, Tape

if TYPE_CHECKING:
    from nanolint.run.profile import Kind, Profile, Regime


class NotCovered(LookupError):
    """A tape was asked for that the profile does not have; see ``Run.is_known``."""


def profiled(profile: Profile, batch_size: int, micro_steps: int) -> Tape:
    """The tape of a run with this micro-batch and so many to a step; raises NotCovered."""
    regime = profile.regime(batch_size, micro_steps)
    if regime is None:
        raise NotCovered(f"micro-batch {batch_size}, {micro_steps} to a step")
    return tape_of(regime, profile.kinds, batch_size)


def tape_of(regime: Regime, kinds: tuple[Kind, ...], batch_size: int) -> Tape:
    """The events of ``regime`` with the sizes that a micro-batch of ``batch_size`` has."""
    sizes = [kind.size(batch_size) for kind in kinds]
    components = [Component(kind.component) for kind in kinds]
    tape, alive = Tape(), list[int]()
    starts = list(regime.phases)
    for number, event in enumerate(regime.events):
        while starts and starts[0][0] <= number:
            tape.phase(Phase(starts.pop(0)[1]))
        if event >= 0:
            alive.append(tape.alloc(sizes[event], kinds[event].name, components[event]))
        else:
            tape.free(alive.pop(event))
    return tape
