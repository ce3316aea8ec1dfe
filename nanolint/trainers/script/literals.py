"""What a script writes down, as given by the name that it goes by."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.run.equation import NotKnown
from nanolint.run.flags import literal
from nanolint.run.terms import Given, Number, Surface
from nanolint.trainers.script.modules import is_literal

if TYPE_CHECKING:
    import ast

    from nanolint.run.terms import Place
    from nanolint.source.values import Scalar
    from nanolint.trainers.script.core import Core
    from nanolint.trainers.script.things import Scope, Thing


def given_literal(
    core: Core, node: ast.expr, value: Thing, key: str, surface: Surface, scope: Scope
) -> Thing:
    """``value`` as something given under the name ``key``, where ``node`` writes it down."""
    if not isinstance(value, Number) or value.value is None or not is_literal(node):
        return value
    return given_value(core, key, value.value, surface, scope.source.place(node))


def given_value(core: Core, key: str, value: Scalar, surface: Surface, place: Place) -> Thing:
    """A value that stands at ``place``, or the one that is put on top of it."""
    change = core.state.around.change(key)
    if change is None:
        found = Given(key, value, surface, place)
    elif isinstance(change.value, NotKnown):
        return change.value
    else:
        found = Given(key, literal(change.value), Surface.FLAG, core.state.around.launched, place)
    core.state.given[found] = None
    return found
