"""A script with the values of a run in their places: what its tape follows from, and no more.

Texts that come to the same are one: a fix that was written into a script and the same value tried
in its place, and a script that calls the allocator's variable by its other name, which decides
nothing about what is allocated.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from nanolint.run.program import SETTINGS, FromRun
from nanolint.run.variables import NEW, by_name
from nanolint.tape.numbers import spots
from nanolint.tape.symbolic import NotSymbolic, is_symbolic, plain

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from nanolint.run.program import NotKnown, Placed, ReadScript, SourceText
    from nanolint.run.run import Run
    from nanolint.source.values import Plain
    from nanolint.tape.numbers import Spot
    from nanolint.tape.symbolic import Formulas

# What a search and a fix change, and whole numbers that are typed and seldom decide anything.
SYMBOLIC = ("batch_size", "gradient_accumulation_steps", "eval_iters", "max_iters", "eval_interval")
MICRO_BATCH = frozenset({0})  # the place of what sizes follow from
BATCH = frozenset({0, 1})  # with that of how often it passes
COUNTED = frozenset({2, 3, 4})  # and of the others


def settled(program: ReadScript, run: Run) -> ReadScript:
    """The program of ``run``, with nothing left to fill in."""
    modules = [_written(each, program.values, run)[0] for each in program.modules]
    texts = by_name([each.text for each in modules], NEW)
    modules = [replace(each, text=text) for each, text in zip(modules, texts, strict=True)]
    return replace(
        program,
        modules=tuple(modules),
        values=(),
        words=values_of(program.words, run),
        assigned=values_of(program.assigned, run),
        variables=values_of(program.variables, run),
        put=values_of(program.put, run),
    )


def numbers_of(run: Run) -> tuple[int, ...]:
    """The values of the fields of ``SYMBOLIC``."""
    return tuple(getattr(run, field) for field in SYMBOLIC)


def with_numbers(run: Run, numbers: Sequence[Any]) -> Run:
    """The run with other ones."""
    return replace(run, **dict(zip(SYMBOLIC, numbers, strict=True)))


def without_numbers(run: Run) -> Run:
    """The run with none of them, as all have it that differ in nothing else."""
    return with_numbers(run, [0] * len(SYMBOLIC))


def symbolic(run: Run, formulas: Formulas) -> Run:
    """Returns the run with symbolic numbers in the places of ``SYMBOLIC``."""
    return with_numbers(run, [formulas.given(1 + at) for at in range(len(SYMBOLIC))])


def symbols_of(program: ReadScript, run: Run, formulas: Formulas) -> dict[Spot, Any]:
    """Returns the symbolic numbers among the constants of the settled program, by their places.

    Raises NotSymbolic.
    """
    modules = settled(program, run).modules
    fields = {
        spot: getattr(run, field) for spot, field in _fields_in(modules, program, run).items()
    }
    written = spots(modules, (int,))
    named = {spot: formulas.given(1 + len(SYMBOLIC) + at) for spot, at in written.items()}
    found = {**named, **fields}
    return {spot: each for spot, each in found.items() if is_symbolic(each)}


def _fields_in(modules: tuple[SourceText, ...], program: ReadScript, run: Run) -> dict[Spot, str]:
    """Where the settled modules have values of the fields of ``SYMBOLIC``, which field each.

    Raises NotSymbolic where one stands anywhere but in Python or on the launch line.
    """
    found: dict[Spot, str] = {}
    elsewhere = [each for _, each in (*program.variables, *program.assigned)]
    if program.saved or any(isinstance(each, FromRun) for each in elsewhere):
        raise NotSymbolic("values of the run stand in a checkpoint, or in its environment")
    for source, after in zip(program.modules, modules, strict=True):
        written, starts = _written(source, program.values, run)
        ours = [(start, field) for start, field in starts if field in SYMBOLIC]
        if ours and (written.text != after.text or source.module.startswith(SETTINGS)):
            raise NotSymbolic("values of the run stand in a file of settings")
        for start, field in ours:
            before, _, line = written.text[:start].rpartition("\n")
            number = before.count("\n") + 2 if "\n" in written.text[:start] else 1
            found[source.path, number, len(line.encode("utf-8", "surrogatepass"))] = field
    return found


def _written(
    source: SourceText, values: tuple[Placed, ...], run: Run
) -> tuple[SourceText, list[tuple[int, str]]]:
    """A text with the values of ``run``; and where those begin, each with its field."""
    text, start = "", 0
    starts: list[tuple[int, str]] = []
    for each in sorted(values, key=lambda each: each.start):
        if each.module == source.module:
            text += source.text[start : each.start]
            if isinstance(each.value, FromRun):
                starts.append((len(text), each.value.field))
            text += repr(plain(value_of(each.value, run)))
            start = each.end
            rest = source.text[start:].lstrip(" ")
            if rest.startswith("#") and not source.module.startswith(SETTINGS):
                start = len(source.text) - len(rest)  # a fix keeps the comment's column
    return (replace(source, text=text + source.text[start:]) if starts or start else source), starts


def values_of(
    named: Sequence[tuple[str, Plain | FromRun | NotKnown]], run: Run
) -> tuple[tuple[str, Plain | NotKnown], ...]:
    """Returns the values with those of the run filled in."""
    return tuple((name, value_of(each, run)) for name, each in named)


def value_of(value: Plain | FromRun | NotKnown, run: Run) -> Plain | NotKnown:
    """A value, or the run's."""
    found: Plain | NotKnown = run.value(value.field) if isinstance(value, FromRun) else value
    return found
