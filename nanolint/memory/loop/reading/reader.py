"""Reads a script: its statements as ``__main__``, three optimizer steps and what evaluates then."""

from __future__ import annotations

import ast
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from itertools import repeat
from typing import TYPE_CHECKING

from nanolint.memory.loop.group import Group
from nanolint.memory.loop.reading import arrays, corpora, files, later, outside, passing, training
from nanolint.memory.loop.reading.compiling import compile_in_place, compiler
from nanolint.memory.loop.reading.machine import Script
from nanolint.memory.loop.reading.phases import Finished, Phases, TrainsAgain
from nanolint.memory.loop.reading.seen import Seen
from nanolint.memory.loop.reading.turns import Turns
from nanolint.memory.model.reading import statements
from nanolint.memory.model.reading.interpreter import Interpreter, parsed
from nanolint.memory.model.reading.naming import count_tokens, name_parameters
from nanolint.memory.model.reading.offsets import Index, Window
from nanolint.memory.model.reading.scopes import Frame, Kind
from nanolint.memory.model.reading.torch import modules
from nanolint.memory.model.reading.values import (
    Class,
    Event,
    Instance,
    Manager,
    Namespace,
    Native,
    Place,
    Unknown,
    Unread,
)
from nanolint.memory.tape import Tape
from nanolint.memory.tensors.device import Device
from nanolint.memory.tensors.tensor import Tensor

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from nanolint.memory.compiled.inductor import Inductor
    from nanolint.memory.loop.reading.surroundings import Surroundings
    from nanolint.memory.model.reading.values import Value
    from nanolint.run.program import DataFile, SourceText

MAIN = "__main__"


class Reader(Interpreter, Script):
    """The interpreter of a script; ``around`` is what it finds around it.

    A statement that needs what is not known is passed over where it has nothing to do with the
    card, and what it binds is not known. An evaluation that cannot be read is left out, and said
    so by ``doubts``; where training itself cannot be, Unread is raised.
    """

    def __init__(
        self,
        sources: Iterable[SourceText],
        card: Device,
        around: Surroundings,
        *,
        version: tuple[int, int],
        steps: int,
        inductor: Inductor | None = None,
    ) -> None:
        super().__init__(sources, card, Device(Tape()), version=version)
        self.around = around
        self.meta = Device(Tape())
        self.doubts: list[str] = []
        self.passed = 0
        self.taken, self.executed = set(), set()
        self.dumped = {}
        self._later: list[str] = []
        self._building = False  # whether a module is being made
        self._evaluated: set[ast.If] = set()  # branches that only a later step takes
        self.phases = Phases(card.tape, steps)
        self.turns = Turns(self)
        self.seen = Seen()
        self.group = Group(around.world_size, card.release)
        training.install(self, self._libraries)
        self._libraries |= outside.table(self)
        self.library("torch").names["compile"] = compiler(self, inductor)
        self._inductor = inductor
        self._builtins |= outside.builtins(self)

    def read(self) -> None:
        """Read the script. Raises Finished behind the last step, Unread where it cannot."""
        source = self._sources[MAIN]
        module = self.imported[MAIN] = Namespace(
            MAIN, {"__name__": MAIN, "__file__": source.path, "__doc__": None}, source.path
        )
        tree = parsed(source.text)
        if tree is None:
            raise Unread("no Python that is known", Place(source.path, 1))
        try:
            self.execute(tree.body, Frame(module, module.names, kind=Kind.MODULE))
        except TrainsAgain:
            self.phases.finish()
        if self.phases.are_late:
            self.phases.finish()

    def comes_later(self, node: ast.If, frame: Frame) -> bool:
        if not self.phases.are_late or node in self._evaluated:
            return False
        if not later.comes(self, node, frame):
            return False
        self._evaluated.add(node)
        self.taken.add(id(node))
        return True

    def another(self, program: SourceText, inputs: tuple[DataFile, ...]) -> Reader:
        around = replace(self.around, words=(), files=inputs)
        return Reader((program,), Device(Tape()), around, version=self.version, steps=1)

    def later(self) -> list[str]:
        """A doubt about what steps behind the last that is read do besides, if any."""
        return self._later[:1]

    def _read_module(self, tree: ast.Module, frame: Frame) -> None:
        self.execute(tree.body, frame)

    def library(self, name: str) -> Namespace:
        """A module that nanolint itself has."""
        found = self._libraries[name]
        assert isinstance(found, Namespace)
        return found

    # Statements.

    def execute(self, body: Iterable[ast.stmt], frame: Frame) -> object:
        listed = list(body)
        for node in listed:
            try:
                if type(node) is ast.For or type(node) is ast.While:
                    self.step()
                    self.at(frame.module, node.lineno)
                    ended = self.turns.run(node, frame)
                elif type(node) is ast.If:
                    self.step()
                    self.at(frame.module, node.lineno)
                    ended = passing.branch(self, node, frame)
                else:
                    ended = statements.execute(self, (node,), frame)
            except Unread as error:
                ended = None
                self._pass_over(listed, node, frame, error)
            except (Finished, TrainsAgain):  # while the names are still there
                self._doubt_later(listed, node, frame)
                raise
            self.executed.add(id(node))
            if ended is not None:
                return ended
        return None

    def _pass_over(self, body: list[ast.stmt], node: ast.stmt, frame: Frame, error: Unread) -> None:
        """Behind the last step, what cannot be read ends the reading."""
        try:
            passing.over(self, node, frame, error)
        except Unread:
            if not self.phases.are_late or isinstance(node, ast.Raise):
                raise
            self._doubt_later(body, node, frame)
            self._later = self._later or [later.not_read(frame, node)]
            self.phases.finish()

    def _doubt_later(self, body: list[ast.stmt], node: ast.stmt, frame: Frame) -> None:
        doubt = later.unread(self, body, node, frame)
        self._later += [] if doubt is None else [doubt]

    def happens(self, what: Event) -> None:
        self.phases.happens(what)
        if what is Event.BACKWARD:
            self.seen.went_back()
            self.group.settle()
        elif what in (Event.TRAINS, Event.EVALUATES):
            self.seen.evaluates()
        self.turns.happens(what)

    def manager(self, value: Value) -> Value:
        if isinstance(value, Device):
            return Manager(lambda: self._default(value))
        if isinstance(value, files.File):
            return Manager(lambda: _itself(value))
        return value

    @contextmanager
    def _default(self, device: Device) -> Iterator[Device]:
        before, self.default = self.default, device
        try:
            yield device
        finally:
            self.default = before

    def endless(self, value: Value) -> Iterator[Value]:
        # What yields batches does so for as long as it is asked.
        return repeat(value) if isinstance(value, Unknown) else self.iterate(value)

    def goes_on(self, value: Value) -> bool:
        return isinstance(value, Unknown) or self.truth(value)

    # Values.

    def item(self, owner: Value, index: Value) -> Value:
        if isinstance(owner, files.Pickled) and index == "vocab_size":
            return owner.vocabulary
        if isinstance(owner, corpora.Text):
            return corpora.Text(self.place, None)
        if isinstance(owner, files.Stored) and isinstance(index, Window):
            owner = corpora.tokens(self)
        if isinstance(index, Window) and isinstance(owner, Tensor) and arrays.is_tokens(owner):
            return super().item(owner, slice(0, index.length))
        return super().item(owner, index)

    def iterate(self, value: Value) -> Iterator[Value]:
        if isinstance(value, corpora.Text):
            raise corpora.Endless(value.reason, value.place)
        if isinstance(value, files.Listing):
            return iter([Unknown(value.reason, value.place)])
        if isinstance(value, Tensor) and value.device is self.host and arrays.are_numbers(value):
            why = ("the contents of a tensor", self.place)
            return (Index(*why, origin=object()) for _ in range(value.shape[0]))
        return super().iterate(value)

    def unlisted(self, _node: ast.ListComp, error: Unread) -> Value:
        return corpora.numbered(self, _node, error)

    def convert(self, kind: type, arguments: list[Value], keywords: dict[str, Value]) -> Value:
        first = arguments[0] if arguments else None
        if kind in (set, frozenset) and isinstance(first, corpora.Text) and first.characters:
            return kind(first.characters)
        if kind is int and isinstance(first, Tensor) and arrays.is_number(self, first):
            return arrays.drawn(self, None)
        return super().convert(kind, arguments, keywords)

    def binary(self, op: ast.operator, left: Value, right: Value) -> Value:
        if isinstance(left, Index) and type(right) is int:
            if isinstance(op, ast.Add | ast.Sub):
                return left.shifted(right if isinstance(op, ast.Add) else -right)
            if isinstance(op, ast.Mult):
                return left.scaled(right)
        if isinstance(right, Index) and type(left) is int and isinstance(op, ast.Add | ast.Mult):
            return right.shifted(left) if isinstance(op, ast.Add) else right.scaled(left)
        for each in (left, right):
            if isinstance(each, Index):
                return Unknown(each.reason, each.place)
        return super().binary(op, left, right)

    def unary(self, op: ast.unaryop, operand: Value) -> Value:
        found = super().unary(op, operand)
        return Unknown(found.reason, found.place) if isinstance(found, Index) else found

    def instantiate(self, cls: Class, arguments: list[Value], keywords: dict[str, Value]) -> Value:
        """A new object; a whole model gives its parameters their names."""
        is_part = self._building
        self._building = is_part or modules.is_kind_of_module(cls)
        try:
            made = super().instantiate(cls, arguments, keywords)
        finally:
            self._building = is_part
        if not is_part and isinstance(made, Instance) and modules.is_module(made):
            name_parameters(self, made)
            self.tokens = max(self.tokens, count_tokens(made))
        return made

    def call(
        self, function: Value, arguments: list[Value], keywords: dict[str, Value] | None = None
    ) -> Value:
        if isinstance(function, Unknown) and not function.reason.startswith(passing.LOGGERS):
            passed = (*arguments, *(keywords or {}).values())
            if any(isinstance(each, Instance) and modules.is_module(each) for each in passed):
                error = function.unread()  # whatever is done with a model is done on the card
                error.decided = True
                raise error
        if isinstance(function, Instance):
            given = [*arguments, *(keywords or {}).values()]
            if self.card.grad_enabled and function.attributes.get("training") is True:
                self.phases.trains()
            self.seen.called(given, learns=self.card.grad_enabled)
        return super().call(function, arguments, keywords)

    def compare(self, op: ast.cmpop, left: Value, right: Value) -> Value:
        found = super().compare(op, left, right)
        if isinstance(found, Tensor) and found.device is self.host and not found.shape:
            return self.unknown("the contents of a tensor")
        return found

    def set_item(self, owner: Value, index: Value, value: Value) -> None:
        unknown = isinstance(value, Unknown) or isinstance(index, Unknown)
        if unknown and isinstance(owner, Tensor) and owner.device is self.host:
            return  # what the host's tensors hold is not known anyway
        super().set_item(owner, index, value)

    def attribute(self, owner: Value, name: str) -> Value:
        if isinstance(owner, files.File):
            return files.of_file(self, owner, name)
        if isinstance(owner, corpora.Text):
            return corpora.attribute_of(self, owner, name)
        if isinstance(owner, Unknown) and self.around.vocabulary is not None:
            if name in outside.VOCABULARIES:
                return self.around.vocabulary
            if name == "get_vocab_size":
                return outside.silent(name, self.around.vocabulary)
        if isinstance(owner, Index):
            other = Unknown(owner.reason, owner.place)
            return outside.silent(name, owner) if name == "item" else other
        if name == "item" and isinstance(owner, Tensor) and arrays.is_number(self, owner):
            return outside.silent(name, arrays.drawn(self, None))
        if isinstance(owner, Unknown) and name in corpora.ENCODERS:
            return corpora.encoder(self, owner, name)
        if isinstance(owner, Unknown) and name == "backward":
            error = owner.unread()
            error.decided = True
            raise error
        if name in ("to", "cuda") and corpora.is_much(self, owner):
            to = partial(corpora.moved, self, owner, super().attribute(owner, name), name)
            return Native(name, to, plain=False)
        if isinstance(owner, Tensor) and owner.device is self.host and name in arrays.OF_ARRAYS:
            return arrays.of_array(self, owner, name)
        if name == "compile" and modules.is_module(owner):
            compiles = partial(compile_in_place, self, self._inductor, owner)
            return Native("Module.compile", compiles, plain=False)
        if name == "step" and isinstance(owner, Instance) and training.is_optimizer(owner):
            step = super().attribute(owner, name)
            return Native("step", lambda *a, **k: self._step(owner, step, a, k), plain=False)
        return super().attribute(owner, name)

    def _step(
        self, optimizer: Instance, step: Value, given: tuple[Value, ...], named: dict[str, Value]
    ) -> Value:
        self.phases.before_step()
        self.seen.stepped()
        out = self.call(step, list(given), named)
        self.phases.after_step(optimizer)
        self.turns.stepped()
        return out


@contextmanager
def _itself(value: Value) -> Iterator[Value]:
    yield value
