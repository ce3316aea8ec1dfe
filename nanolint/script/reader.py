"""Reads a script: its statements as ``__main__``, three optimizer steps and what evaluates then."""

from __future__ import annotations

import ast
import posixpath
import re
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from itertools import repeat
from typing import TYPE_CHECKING

from nanolint.interpreter import attention_packages, statements
from nanolint.interpreter.binding import forget
from nanolint.interpreter.certain import certain
from nanolint.interpreter.exceptions import CATCHABLE, let_go
from nanolint.interpreter.interpreter import parsed
from nanolint.interpreter.scopes import Frame, Kind
from nanolint.interpreter.values import Event, Manager, Namespace, Place, Unknown, Unread
from nanolint.run.program import SETTINGS
from nanolint.run.stop import Cause
from nanolint.script import (
    checked,
    deciding,
    files,
    growing,
    jumping,
    later,
    outside,
    passing,
    resumed,
    settings,
    training,
)
from nanolint.script.arrays import OF_DATA
from nanolint.script.compiling import compiler
from nanolint.script.corpora import Answer
from nanolint.script.environment import is_demanded
from nanolint.script.lacking import are_constants, never_set
from nanolint.script.lengths import Lengths
from nanolint.script.objects import Values
from nanolint.script.phases import Ended, Finished, Phases, TrainsAgain
from nanolint.script.reaching import rebind
from nanolint.script.seen import Printed, Seen
from nanolint.script.story import Teller
from nanolint.script.surroundings import Cards, Group
from nanolint.script.turns import Turns
from nanolint.script.weights import Checkpoint, Flags
from nanolint.tape.tape import Tape
from nanolint.tensors.device import Device
from nanolint.tensors.tensor import Tensor

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from nanolint.inductor.inductor import Inductor
    from nanolint.interpreter.values import Value
    from nanolint.run.program import DataFile, SourceText
    from nanolint.script.surroundings import Surroundings
    from nanolint.script.weights import Weights
    from nanolint.tape.numbers import Spot

MAIN = "__main__"
OF_SIZES = {"len", "isinstance", "int", "tuple"}
NO_PARENT = "relative import with no known parent package, which `python -m` would give it"
NONE_WATCHED: Mapping[Spot, Value] = {}


class Reader(Values):
    """The interpreter of a script; ``around`` is what it finds around it, ``spots`` are the places
    of the numbers that are watched.

    A statement that needs an unknown value is passed over if it has nothing to do with the
    card, and what it binds is not known. An evaluation that cannot be read is left out, and said
    so by ``doubts``; if training itself cannot be read, Unread is raised.
    """

    turns: Turns

    def __init__(
        self,
        sources: Iterable[SourceText],
        card: Device,
        around: Surroundings,
        *,
        version: tuple[int, int],
        steps: int,
        inductor: Inductor | None = None,
        weights: Weights | None = None,
        spots: Mapping[Spot, Value] = NONE_WATCHED,
    ) -> None:
        host = Device(Tape(), asked=card.asked.elsewhere())
        super().__init__(sources, card, host, version=version)
        self.around = around
        self.meta = Device(Tape())
        self.checkpoint = Checkpoint(card, weights or {}, doubted=not around.loaded)
        self.flags = Flags()
        self.doubts, self.at_most = [], []
        self.passed = 0
        self.taken, self.executed = set(), set()
        self.dumped, self.saved, self.lengths = {}, {}, Lengths(apart=True)
        self._later: list[str] = []
        self.evaluated = set()
        self._spots = spots
        self.stood: set[Spot] = set()
        self.phases = Phases(card.tape, steps)
        self.turns = Turns(self)
        self.seen, self.printed = Seen(), Printed()
        self.listener = self.teller = Teller(self)
        self.group = Group(around.world_size, card.release)
        self.cards = Cards(around.cards)
        training.install(self, self._libraries)
        self._libraries |= outside.table(self)
        self.library("torch").names["compile"] = compiler(self, inductor)
        self._inductor = inductor
        self._builtins |= outside.builtins(self)

    def text_of(self, path: Value) -> SourceText | None:
        if not isinstance(path, str):
            return None
        plain = posixpath.normpath(path)
        inside = plain
        while inside.startswith("../"):  # the files are named from a folder above the script's
            inside = inside[3:]
        found = self._sources.get(f"{SETTINGS}{plain}") or self._sources.get(f"{SETTINGS}{inside}")
        sources = self._sources.values()
        return found or next((each for each in sources if {plain, inside} & each.named), None)

    def program_at(self, path: str) -> SourceText | None:
        return self._sources.get(posixpath.normpath(path).removesuffix(".py").replace("/", "."))

    def unpacked(self, settings: Unknown, function: Value) -> dict[str, Value]:
        return resumed.unpacked(self, settings, function)

    def updated(self, owner: dict[Value, Value], settings: Unknown) -> None:
        resumed.update(self, owner, settings)

    def numbered(self, number: int | None) -> Device:
        doubt = self.cards.use(number)
        if doubt is not None:
            settings.doubt(self, doubt)
        return self.card

    def number(self, node: ast.Constant, frame: Frame) -> Value:
        spot = frame.module.path, node.lineno, node.col_offset
        if spot not in self._spots:
            return node.value
        self.stood.add(spot)
        return self._spots[spot]

    def absolute(self, name: str, level: int, module: Namespace) -> str:
        parentless = module.path and not (self.around.is_module or module.names.get("__package__"))
        if level and parentless:
            raise certain(ImportError(f"attempted {NO_PARENT}"))
        return super().absolute(name, level, module)

    def has_names(self, beginning: str) -> bool:
        named = re.compile(rf"(?<![\w'\"]){re.escape(beginning)}\w")
        return any(named.search(each.text) for each in self._sources.values())

    def read(self) -> None:
        """Reads the script. Raises Finished after the last step, Unread if it cannot."""
        source = self._sources[MAIN]
        names: dict[str, Value] = {"__name__": MAIN, "__file__": source.path}
        tree = parsed(source.text)
        if tree is None:
            raise Unread("no Python that is known", Place(source.path, 1))
        names |= {"__doc__": ast.get_docstring(tree, clean=False), "__package__": None}
        module = self.imported[MAIN] = Namespace(MAIN, names, source.path)
        try:
            self.execute(tree.body, Frame(module, module.names, kind=Kind.MODULE))
        except TrainsAgain:
            if self.phases.has_another_optimizer or self.phases.holds_more:
                self.turns.trains_another()
            self.phases.finish()
        if self.phases.are_late:
            self.phases.finish()

    def forget(self) -> None:
        """Let go of all that was read: modules, functions and the reader hold each other."""
        for each in self.imported.values():
            if isinstance(each, Namespace):  # sys.modules takes anything
                each.names.clear()
        vars(self).clear()

    def comes_later(self, node: ast.If, frame: Frame, asked: int) -> bool:
        if not self.phases.have_settled or node in self.evaluated:
            return False
        if not any(later.evaluates(self, each, frame) for each in node.body):
            return False
        if checked.exits(node):
            return False
        questions = list(filter(self.turns.deciding.asks_for, self.asked[asked:]))
        if not self.turns.come(questions):
            return False
        self.evaluated.add(node)
        self.taken.add(id(node))
        return True

    def another(self, program: SourceText, inputs: tuple[DataFile, ...]) -> Reader:
        around = replace(self.around, words=(), files=inputs)
        return Reader((program,), Device(Tape()), around, version=self.version, steps=1)

    def later(self) -> list[str]:
        """Returns a doubt about what steps after the last that is read do besides, if any."""
        return self._later[:1]

    def trees(self) -> list[ast.Module]:
        sources = (self._sources.get(name) for name in list(self.imported))
        found = (parsed(each.text) for each in sources if each is not None)
        own = (
            [training.schedules()]
            if isinstance(self._libraries[training.SCHEDULES], Namespace)
            else []
        )
        return [*(each for each in found if each is not None), *own]

    @property
    def may_be_started_otherwise(self) -> bool:
        typed = self.around.is_whole or self.around.words or self.around.assigned
        here = [each.text for each in self._sources.values() if each.path == self.place.path]
        asks = not typed and any("sys.argv" in each for each in here)
        return bool(self.presumes or self.made_up.compared or asks)

    def lacks(self, owner: dict[Value, Value], name: str, key: Value) -> bool:
        is_global = self.imported[MAIN].names.get(name) is owner
        texts = (each.text for each in self._sources.values())
        return never_set(texts, name, key, is_global=is_global)

    @property
    def counted(self) -> tuple[ast.stmt, int] | None:
        """The innermost loop over numbers that is being run, and its turn."""
        return self.turns.counted

    def loads_weights(self, state: Unknown, saved: Iterable[tuple[str, Tensor]]) -> None:
        self.checkpoint.take(state, saved)

    @property
    def is_in_own_loop(self) -> bool:
        return self.turns.is_in_own_loop

    def member(self, module: Value, name: str) -> Value:
        optim = self.imported.get(training.OPTIM)
        if module is optim and name in training.OTHERS and name not in optim.names:
            optim.names |= training.other_optimizers(self, optim)
        return super().member(module, name)

    def library(self, name: str) -> Namespace:
        """A module that nanolint itself has."""
        found = self._library(name)
        assert isinstance(found, Namespace)
        return found

    # Statements.

    def execute(self, body: Iterable[ast.stmt], frame: Frame) -> object:
        listed = list(body)
        for node in listed:
            steps, asked = self.phases.done, len(self.asked)
            compared = self.made_up.compared
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
                let_go(error)
                self._pass_over(listed, node, frame, error, trained=self.phases.done > steps)
            except AssertionError as error:
                is_late = self.turns.left and isinstance(node, ast.Assert)
                if not is_late and not is_demanded(self, node, frame):
                    is_known = self.made_up.compared == compared
                    if is_known and self._is_of_model(node, frame):
                        # It follows from the model's sizes and the checkpoint's.
                        certain(error, Cause.CHECK, anywhere=True)
                    raise
                ended = None  # it asks what only holds behind a loop's true end, or of torchrun
            except CATCHABLE as error:
                if not self._left_early(node, frame):
                    raise
                ended = None
                let_go(error)
                self._forget(node, frame, error)
            except Ended:
                raise
            except (Finished, TrainsAgain):  # while the names are still there
                self._doubt_later(listed, node, frame)
                raise
            self.executed.add(id(node))
            if self.turns.courses:
                self.turns.deciding.meets(node, frame)
                self.teller.rates.meets(node, frame)
            if len(self.asked) > asked:
                deciding.sift(self, node, frame, asked)
            if ended is not None:
                return ended
        return None

    def _is_of_model(self, node: ast.stmt, frame: Frame) -> bool:
        """Whether a model checks what divides what or is None, compares what it has with a tensor
        or constants of the script, while it is built or by a module's own names; or compares the
        weights of a published checkpoint. A start may decide what else it checks."""
        owner = frame.function.owner if frame.function is not None else None
        nodes = list(ast.walk(node))
        names = {each.id for each in nodes if isinstance(each, ast.Name)} - frame.names.keys()
        values = list(frame.names.values())
        sizes = [each.shape for each in values if isinstance(each, Tensor)]
        if any(size > OF_DATA for shape in sizes for size in shape):
            return False
        of_tensors = bool(sizes)
        kinds = ast.Compare if of_tensors else (ast.Mod, ast.Is, ast.IsNot)
        is_own = self.builds or (owner is not None and owner.is_module and names <= OF_SIZES)
        asked = {each.attr for each in nodes if isinstance(each, ast.Attribute)}
        is_constant = are_constants(self._sources[MAIN].text, asked) and not names
        is_sure = is_own and (is_constant or any(isinstance(each, kinds) for each in nodes))
        return is_sure or any(isinstance(each, attention_packages.Weights) for each in values)

    def _left_early(self, node: ast.stmt, frame: Frame) -> bool:
        """Whether what fails may not fail in the run, as a loop was left before its end, and
        takes nothing of the card."""
        return (
            self.turns.left
            and self.phases.are_late
            and not self.trying
            and not isinstance(node, (ast.Raise, ast.Return))
            and not later.evaluates(self, node, frame)
        )

    def _forget(self, node: ast.stmt, frame: Frame, error: BaseException) -> None:
        error.__traceback__ = None  # it would hold all that was evaluated
        forget(
            self, node, frame, Unknown(f"it raises {error}", Place(frame.module.path, node.lineno))
        )

    def _pass_over(
        self, body: list[ast.stmt], node: ast.stmt, frame: Frame, error: Unread, *, trained: bool
    ) -> None:
        """After the last step, what cannot be read ends the reading; in a text that stands in for a
        library it always does."""
        if not frame.module.path:
            raise error
        full = jumping.filled(self, node, frame)
        self.teller.passes_over(node, frame.module.path, error.reason)
        try:
            passing.over(self, node, frame, error, trained=trained)
            growing.fill_with_tokens(self, node, frame)
            if full is not None:
                rebind(frame, *full)
        except Unread:
            if not self.phases.are_late or isinstance(node, ast.Raise):
                raise
            if not error.decided and frame.kind is Kind.CALL:
                raise  # the statement that called this may be passed over
            self._doubt_later(body, node, frame)
            self._later = self._later or [later.not_read(frame, node)]
            self.phases.finish()

    def _doubt_later(self, body: list[ast.stmt], node: ast.stmt, frame: Frame) -> None:
        if any(not each.is_over for each in self.turns.courses[:-1]):
            return  # more turns of a loop around this one are read
        doubt = later.unread(self, body, node, frame)
        self._later += [] if doubt is None else [doubt]

    def happens(self, what: Event) -> None:
        self.phases.happens(what)
        if what is Event.BACKWARD:
            self.seen.went_back()
            self.printed.is_over = True
            self.group.settle()
        elif what in (Event.TRAINS, Event.EVALUATES):
            self.seen.evaluates()
        self.turns.happens(what)

    def end(self) -> BaseException:
        return Ended() if self.phases.have_settled and not self.trying else super().end()

    def asserted(self, test: ast.expr, frame: Frame) -> None:
        if not self.trying:
            checked.learn(self, test, frame, holds=True)

    def manager(self, value: Value) -> Value:
        if isinstance(value, Device):
            return Manager(lambda: self._default(value))
        if isinstance(value, (files.File, Answer)):
            return Manager(lambda: nullcontext(value))
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
