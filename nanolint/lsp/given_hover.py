"""What a value of a training script does in its run, for the hover on it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.lsp.markdown import code
from nanolint.report.explain.described import what_it_can_be
from nanolint.run.equation import NotKnown
from nanolint.run.terms import Given, describe, leaves

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nanolint.rule.context import Context
    from nanolint.run.described import Described

LONGEST = 80  # characters of an equation


def given_at(context: Context, name: str, row: int) -> Given | None:
    """What is given under ``name`` in line ``row`` (from 1) of the file at hand."""
    described = context.settings.described
    for each in described.given if described is not None else ():
        here = each.place.path == context.path and each.place.line == row
        if here and name in (each.key, each.key.rpartition(".")[2]):
            return each
    return None


def markdown(given: Given, described: Described) -> str:
    """The value, the roles that it has or decides, and what it can be."""
    return "\n\n".join(
        [
            f"**{given.key}** = {code(repr(given.value))}",
            "\n".join(f"- {remark}" for remark in _remarks(given, described)),
        ]
    )


def _remarks(given: Given, described: Described) -> Iterator[str]:
    for role, term in described.roles.items():
        if isinstance(term, NotKnown):
            continue
        if term == given:
            yield f"the {role.value}"
        elif given in leaves(term):
            text = describe(term)
            if len(text) <= LONGEST:
                yield f"decides the {role.value}: {code(text)} = {term.value}"
            else:
                yield f"decides the {role.value}"
    equation = described.equation
    if equation is not None and equation.factor == given:
        possible = what_it_can_be(equation, given)
        if possible is not None:
            yield possible
