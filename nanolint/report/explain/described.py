"""The run of a script of any kind: what each value does in it, and how it came about."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.report.printer import printable
from nanolint.run.described import Role
from nanolint.run.equation import NotKnown
from nanolint.run.program import ReadScript
from nanolint.run.terms import Given, Number, Surface, describe
from nanolint.source.bounds import Unevaluable
from nanolint.trainers.nanogpt.keys import ROLES
from nanolint.units import listed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from nanolint.report.printer import Printer
    from nanolint.run.described import Described
    from nanolint.run.equation import Equation
    from nanolint.run.run import Run
    from nanolint.run.terms import Term

LONGEST = 72  # characters of what a value came from
MOST_SHOWN = 10  # micro-batches
MOST_ABOVE = 3  # of them that are larger than the script's own
_ON_THE_LINE = (Surface.FLAG, Surface.VARIABLE)


def render(described: Described, printer: Printer, run: Run | None = None) -> None:
    """Write each role with its value, what a step takes, and what the micro-batch can be; what the
    reading of ``run`` tells alone is of no value of the script."""
    told = dict(_told(run))
    table = [
        (role.value, *told.get(role, _cells(role, term, described)))
        for role, term in described.roles.items()
    ]
    if described.equation is not None:
        table += list(_step(described.equation))
    names = max((len(name) for name, _, _ in table), default=0)
    values = max((len(value) for _, value, _ in table), default=0)
    printer.line(("The run", "bold"))
    for name, value, origin in table:
        printer.line(f"  {name:<{names}}  {value:<{values}}  ", (printable(origin), "dim"))
    if described.equation is not None:
        _alternatives(described.equation, printer)


def _told(run: Run | None) -> Iterator[tuple[Role, tuple[str, str]]]:
    """What was seen while the script was read."""
    if run is None or not isinstance(run.program, ReadScript):
        return
    seen = {
        Role.MICRO_BATCH: run.batch_size,
        Role.CONTEXT: run.block_size,
        Role.ACCUMULATION: run.micro_steps,
    }
    for role, value in seen.items():
        if ROLES[role] in run.program.told and value:
            yield role, (f"{value:,}", "as the script is read")


def _cells(role: Role, term: Term | NotKnown, described: Described) -> tuple[str, str]:
    if isinstance(term, NotKnown):
        return "?", _shortened(str(term))
    value = f"{term.value:,}" if isinstance(term.value, int) and role not in _WORDS else ""
    value = value or ("yes" if term.value is True else "no" if term.value is False else "")
    return value or printable(str(term.value)), _origin(term, described)


_WORDS = (Role.COMPILE, Role.DTYPE)


def _origin(term: Term, described: Described) -> str:
    if isinstance(term, Given):
        if term.surface in _ON_THE_LINE:
            return f"{term.key}, on the launch line"
        if term.surface is Surface.SAVED:
            return f"{term.key}, of the checkpoint ({term.place})"
        if term.surface is Surface.ARGUMENT and term.default is not None:
            return f"{term.key}, of the checkpoint ({term.default})"
        here = term.place.path == described.script
        return f"{term.key}, {f'line {term.place.line}' if here else term.place}"
    return "" if isinstance(term, Number) else _shortened(describe(term))


def _step(equation: Equation) -> list[tuple[str, str, str]]:
    try:
        sequences, tokens = equation.sequences_per_step(), equation.tokens_per_step()
    except Unevaluable:
        return []
    return [
        ("world size", str(equation.world), "processes, one GPU each"),
        ("a step", f"{sequences:,}", f"sequences, {tokens:,} tokens"),
    ]


def _alternatives(equation: Equation, printer: Printer) -> None:
    broken = list(equation.broken())
    for check in broken:
        printer.paragraph(
            ("not met: ", "yellow"), text=f"{check.text} ({check.place})", indent="  "
        )
    factor = equation.factor
    if factor is None:
        term = _shortened(describe(equation.micro_batch))
        text = f"no value is the micro-batch by itself: it is {term}"
        printer.paragraph("", text=text, indent="  ")
        return
    if broken:
        nearest = equation.nearest()
        if nearest is not None:
            printer.line(f"{factor.key} = {nearest} is the nearest that meets it")
        return
    possible = what_it_can_be(equation, factor)
    if possible is not None:
        printer.paragraph("", text=f"{factor.key} {possible}", indent="  ")


def what_it_can_be(equation: Equation, factor: Given) -> str | None:
    """``can be 4, 8 and 16 with as many tokens a step``; None where it is refused as it is."""
    whole_step = equation.sequences_per_step() // equation.world
    found, own = equation.legal(whole_step), equation.number(factor)
    if found == (own,):
        often = ", as the script goes backward once" if equation.passes == Number(1) else ""
        return f"can be nothing else with as many tokens a step{often}"
    return f"can be {listed(_around(found, own))} with as many tokens a step" if found else None


def _around(found: Sequence[int], own: int) -> list[str]:
    """The sizes that are nearest to the script's own, where there are many."""
    below = [each for each in found if each <= own]
    above = [each for each in found if each > own][: max(MOST_SHOWN - len(below), MOST_ABOVE)]
    below = below[len(above) - MOST_SHOWN :]
    shown = [str(each) for each in (*below, *above)]
    if shown and int(shown[0]) != found[0]:
        shown.insert(0, "...")
    if shown and int(shown[-1]) != found[-1]:
        shown.append("more")
    return shown


def _shortened(text: str) -> str:
    return text if len(text) <= LONGEST else text[: LONGEST - 3] + "..."
