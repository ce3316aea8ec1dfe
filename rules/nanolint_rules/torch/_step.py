"""What rules about the size of a step share: the script's equation, a better micro-batch."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.rule import Safety, as_written
from nanolint_rules._given import shared_with, write

if TYPE_CHECKING:
    from nanolint.rule import Context, Equation, Fix


def equations(context: Context) -> list[Equation]:
    """The equation of each case, where a script says one; those of cards that differ in nothing
    are one."""
    found = (case.settled.described for case in context.cases)
    return list(dict.fromkeys(each.equation for each in found if each and each.equation))


def nearest(context: Context, equation: Equation, safety: Safety) -> tuple[str, Fix | None]:
    """What to write so that the script runs, or that no micro-batch will do."""
    factor = equation.factor
    if factor is None:
        return "the micro-batch is computed, so no single value fixes it", None
    found = equation.nearest()
    if found is None:
        both = equation.nearest_pair()
        if both is not None:
            written = write(context, both, Safety.UNSAFE)
            but = f" ({written.reason})" if written.fix is None else ""
            return f"{as_written(both)} divides it, with the step of one process{but}", written.fix
        each = f" with {equation.world} processes" if equation.world > 1 else ""
        return f"no {factor.key} up to {factor.value} divides it{each}", None
    shared = shared_with(context, {factor: found})
    written = write(context, {factor: found}, safety if shared is None else Safety.UNSAFE)
    why = written.reason if written.fix is None else shared
    reason = f" ({why})" if why else ""
    return f"{as_written({factor: found})} is the nearest that divides it{reason}", written.fix
