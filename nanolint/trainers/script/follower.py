"""The follower: a script's statements in their order, over what its names can stand for."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nanolint.run.equation import NotKnown
from nanolint.run.terms import Number
from nanolint.source.python import nodes
from nanolint.trainers.script import (
    assignments,
    attributes,
    calls,
    environment,
    expressions,
    hydra,
    iteration,
    library,
    methods,
    starters,
    statements,
)
from nanolint.trainers.script.core import GOES_ON, Core, Exhausted, Flow, State
from nanolint.trainers.script.modules import read_module
from nanolint.trainers.script.operations import merged
from nanolint.trainers.script.things import (
    NONE,
    TERMS,
    Class,
    External,
    Function,
    Imported,
    Instance,
    Partial,
    Scope,
    Super,
    Thing,
    Wrapped,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from nanolint.run.terms import Place
    from nanolint.trainers.script.modules import Source

MOST_MODULES = 40  # of a project that are followed


class Follower(Core):
    """Follows one script."""

    def __init__(self, state: State, source: Source) -> None:
        super().__init__(state)
        self._source = source
        self._script = Scope(source, {"__name__": Number("__main__"), "__package__": NONE})
        if source.path is not None:
            self._script.names["__file__"] = Number(str(source.path))

    def follow(self) -> None:
        """Follow the script to its end, or as far as is allowed."""
        try:
            self.run(self._source.tree.body, self._script)
        except (Exhausted, RecursionError):
            return

    def script_scope(self) -> Scope:
        return self._script

    def value(self, node: ast.expr, scope: Scope) -> Thing:
        return expressions.evaluate(self, node, scope)

    def bind(self, target: ast.expr, value: Thing, scope: Scope) -> None:
        assignments.bind(self, target, value, scope)

    def run(self, body: Sequence[ast.stmt], scope: Scope) -> Flow:
        return statements.run(self, body, scope)

    def next_of(self, thing: Thing, place: Place) -> Thing:
        return iteration.first_item(self, thing, place)

    def default_of(self, call: Place) -> Place | None:
        scopes = (self._script, *(each for each in self.state.modules.values() if each))
        for source in (each.source for each in scopes if each.source.path == call.path):
            made = (e for e in nodes(source.tree) if isinstance(e, ast.Call))
            for keyword in (k for e in made if e.lineno == call.line for k in e.keywords):
                if keyword.arg == "default" and ast.unparse(keyword.value) == "None":
                    return source.place(keyword.value)
        return None

    def has_variable(self, name: Thing) -> bool | None:
        if not isinstance(name, TERMS):
            return None
        if name.value in environment.LAUNCHED and self.state.around.world_size > 1:
            return True
        return self.state.around.variable(str(name.value)) is not None

    def call(
        self,
        function: Thing,
        arguments: Sequence[Thing],
        named: Mapping[str, Thing],
        place: Place,
    ) -> Thing:
        self.state.spend()
        if isinstance(function, Function):
            if not (arguments or named):
                named = starters.options_of(self, function, place)
                named |= hydra.settings_of(self, function, place)
            return calls.follow_function(self, function, arguments, named, place)
        if isinstance(function, Class):
            return calls.instantiate(self, function, arguments, named, place)
        if isinstance(function, External):
            return library.call(self, function, arguments, named, place)
        if isinstance(function, Partial):
            both = {**dict(function.named), **named}
            return self.call(function.function, [*function.arguments, *arguments], both, place)
        if isinstance(function, Wrapped) or (
            isinstance(function, Instance) and isinstance(function.of, Class)
        ):
            return calls.call_model(self, function, arguments, named, place)
        if isinstance(function, Instance):
            if calls.is_library_model(function):
                return calls.call_model(self, function, arguments, named, place)
            is_module = isinstance(function.of, External) and function.of.name.startswith(
                "torch.nn."
            )
            return self.unknown(calls.GIVEN if is_module else "calls an object of a library", place)
        return function if isinstance(function, NotKnown) else self.unknown("a call", place)

    def method(
        self,
        owner: Thing,
        name: str,
        arguments: Sequence[Thing],
        named: Mapping[str, Thing],
        place: Place,
    ) -> Thing:
        return methods.method(self, owner, name, arguments, named, place)

    def attribute(self, owner: Thing, name: str, place: Place) -> Thing:
        if isinstance(owner, Imported):
            found = owner.scope.names.get(name)
            return found or self.unknown(f"no attribute {name}", place)
        if isinstance(owner, Wrapped):
            return methods.of_wrapper(owner, name) or self.attribute(owner.inner, name, place)
        if isinstance(owner, Instance):
            found = attributes.attribute(self, owner, name, place)
            if found is None and isinstance(owner.of, External):
                found = self.vocabulary(name)
            return found or self.unknown(f"no attribute {name}", place)
        if isinstance(owner, Class):
            found = attributes.from_class(self, owner, owner, name, place)
            return found or methods.of_class(owner, name, place)
        if isinstance(owner, Super):
            return attributes.from_super(owner.owner, owner.instance, name)
        return methods.attribute(self, owner, name, place)

    def module(self, path: Path, name: str) -> Scope | None:
        known = self.state.modules
        if path not in known:
            source = read_module(path, name) if len(known) < MOST_MODULES else None
            known[path] = Scope(source, {"__name__": Number(name)}) if source else None
            scope = known[path]
            if scope is not None and source is not None:
                loops, self.state.loops = self.state.loops, []
                self.run(source.tree.body, scope)
                self.state.loops = loops
        return known[path]

    def either(self, one: Callable[[], Flow], other: Callable[[], Flow], doubt: NotKnown) -> Flow:
        journal = self.state.journal
        mark = journal.mark()
        left = one()
        left_changes = journal.take_back(mark)
        right = other()
        right_changes = journal.take_back(mark)
        flows = (left, right)
        if _goes_on(left) is not _goes_on(right):
            going, changes = (left, left_changes) if _goes_on(left) else (right, right_changes)
            gone = right if _goes_on(left) else left
            journal.apply(changes)
            value = gone.value if gone.how == "return" else going.value
            return Flow("perhaps", value) if value is not None else going
        journal.apply_either(left_changes, right_changes, doubt)
        if left.how == right.how == "stop":
            return left
        if "stop" in (left.how, right.how) and not _goes_on(left):
            return right if left.how == "stop" else left
        if left.how == right.how == "return":
            return Flow("return", merged(left.value or NONE, right.value or NONE, doubt))
        if not _goes_on(left):
            return left
        values = [each.value for each in flows if each.how == "perhaps"]
        if len(values) > 1:
            return Flow("perhaps", merged(values[0] or NONE, values[1] or NONE, doubt))
        return Flow("perhaps", values[0]) if values else GOES_ON


def _goes_on(flow: Flow) -> bool:
    return flow.how in ("end", "perhaps")
