"""Layers that are alike: two of them are read, and the events of all others are copied.

The first call of a layer is read, and says whether it does nothing but compute (``steady.py``).
With the second one a twin is read on a card of its own. From then on a call of any layer of the
same form, with a tensor of the same kind, plays what the twin wrote. What is called through a
checkpoint is so on the twin's card, too: a backward pass there runs it again.
"""

from __future__ import annotations

from collections import defaultdict
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakSet

from nanolint.memory.located import Located
from nanolint.memory.model.module import Module
from nanolint.memory.model.reading import traced
from nanolint.memory.model.reading.forms import PLAIN, Copying, Form, Unlike
from nanolint.memory.model.reading.steady import constants_of
from nanolint.memory.model.reading.torch.checkpointing import may_stop
from nanolint.memory.model.reading.torch.kinds import is_module
from nanolint.memory.model.reading.torch.modules import modules
from nanolint.memory.model.reading.values import READ
from nanolint.memory.model.reading.watched import plain
from nanolint.memory.model.repeated import Forward
from nanolint.memory.model.twin import Kind, Twin
from nanolint.memory.tape import Tape
from nanolint.memory.tensors.autograd import Leaf
from nanolint.memory.tensors.checkpoint import checkpoint
from nanolint.memory.tensors.device import MAIN
from nanolint.memory.tensors.parameter import Buffer
from nanolint.memory.tensors.tensor import Tensor

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from nanolint.memory.model.reading.machine import Machine
    from nanolint.memory.model.reading.steady import Constant
    from nanolint.memory.model.reading.values import Class, Function, Instance, Options, Value
    from nanolint.memory.tensors.device import Device
    from nanolint.memory.tensors.parameter import Parameter

FEW = 3  # layers of a class that are read, each


class _Layer(Module):
    """A copy of a layer, on the card of a twin."""

    def __init__(
        self,
        machine: Machine,
        layer: Instance,
        card: Device,
        more: Sequence[Value],
        checkpointed: Options | None,
    ) -> None:
        copying = Copying(card)
        self._machine = machine
        self._made: Instance = copying.of(layer)
        self._more = more
        self._checkpointed = checkpointed
        self._tensors = copying.tensors
        form = Form(card)
        for each in copying.tensors:
            each.move()
        form.of(self._made)
        self._parameters = tuple(form.parameters)

    def parameters(self) -> tuple[Parameter, ...]:
        return self._parameters

    def state(self) -> tuple[Buffer, ...]:
        return ()

    def train(self, mode: bool = True) -> None:
        """It is as its pattern is."""

    def forward(self, x: Tensor) -> Tensor:
        if self._checkpointed is None:
            return self._read(x, *self._more)
        options: dict[str, Any] = dict(self._checkpointed)
        out: Tensor = checkpoint(self._read, x, *self._more, device=x.device, **options)
        return out

    def _read(self, x: Tensor, *more: Value) -> Tensor:
        machine, card = self._machine, x.device
        before = machine.card, machine.default
        if machine.default is machine.card:
            machine.default = card
        machine.card = card
        try:
            with may_stop(machine):
                out: Tensor = machine.call(machine.attribute(self._made, "forward"), [x, *more])
        finally:
            machine.card, machine.default = before
        return out


class _Known(NamedTuple):
    """What is known of a kind of call: what has to stand, and from the second call on its plan."""

    constants: list[Constant]
    planned: _Planned | None = None


class Layers:
    """The layers of a program that may be alike, and what is known of their calls."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._stacked: WeakSet[Instance] = WeakSet()  # a model that is replaced is let go
        self._known: dict[object, _Known | None] = {}  # None: is read each time
        self._watching: list[list[Function]] = []

    def look_at(self, model: Instance) -> None:
        """Find the layers of a model: children of one module that are of one class."""
        for _, module in modules(model):
            kinds: dict[Class, list[Instance]] = defaultdict(list)
            for each in module.attributes.values():
                if is_module(each) and each.cls.module.path:
                    kinds[each.cls].append(each)
            for alike in kinds.values():
                if len(alike) >= FEW:
                    self._stacked.update(alike)

    def runs(self, function: Function) -> None:
        """A function of the program is called."""
        if self._watching:
            self._watching[-1].append(function)

    def call(
        self,
        layer: Instance,
        arguments: list[Value],
        keywords: dict[str, Value],
        read: Callable[[], Value],
        checkpointed: Options | None = None,
    ) -> Value:
        """What a call returns: by ``read`` where its events are not known yet, else READ.

        ``checkpointed`` are the options of the checkpoint that it is called through.
        """
        if layer not in self._stacked or keywords or not arguments:
            return READ
        x, *more = arguments
        card = self._machine.card
        if not isinstance(x, Tensor) or x.device is not card or isinstance(x.node, Leaf):
            return READ
        if not card.copies_layers or card.saver is not None or card.thread != MAIN:
            return READ
        if card.tracer is not None:
            return self._in_graph(layer, x, more, read) if checkpointed is None else READ
        if x.storage is None or not {*map(type, map(plain, more))}.issubset(PLAIN):
            return READ
        form = Form(card)
        try:
            own = form.of(layer)
        except Unlike:
            return READ
        parameters = form.parameters
        casts = card.casts
        if card.awaits_workspace or (
            checkpointed is not None and card.awaits_bias_workspace_behind
        ):
            return READ
        attributes = self._machine.parameter_attributes
        for each in parameters:
            if each in attributes or each.node in casts:
                return READ
            if isinstance(each.node, Leaf) and each.node.is_watched:
                return READ  # DDP or a hook takes each gradient as it comes
        given = tuple([form.of(each) for each in more])
        key = (own, Kind.of(x), x.requires_grad, given, checkpointed, *self._around(card))
        if key not in self._known:
            return self._watched(key, x, read)
        known = self._known[key]
        if known is None or not all(each.stands for each in known.constants):
            return READ
        if known.planned is None:
            planned = _Planned(self._machine, layer, x, more, checkpointed)
            known = self._known[key] = known._replace(planned=planned)
        assert known.planned is not None
        return known.planned.play(x, parameters)

    def _in_graph(
        self, layer: Instance, x: Tensor, more: Sequence[Value], read: Callable[[], Value]
    ) -> Value:
        """The same while a graph is traced."""
        machine, tensors = self._machine, list[Tensor]()
        form = Form(machine.card, tensors)
        try:
            own = form.of(layer)
            given = traced.Given.of(x, more, form)
        except Unlike:
            return READ
        if any(each in machine.parameter_attributes for each in form.parameters):
            return READ
        key = own, given.form, *self._around(machine.card)
        return traced.call(machine, key, x, tensors, given.shared, read, self._with_constants)

    def _around(self, card: Device) -> tuple[object, ...]:
        """What else decides the events, and their places."""
        machine = self._machine
        lines: tuple[object, ...] = ()
        if card.tape.locator is not None:
            callers = tuple([(module and module.path, line) for module, line, _ in machine.callers])
            lines = (machine.module and machine.module.path, machine.line, callers)
        default = machine.default is card
        settings = card.half, card.grad_enabled, card.attention_kernels
        return *settings, card.awaits_bias_workspace, default, lines

    def _watched(self, key: object, x: Tensor, read: Callable[[], Value]) -> Value:
        """Read a call, and keep whether another one may be copied."""
        before = x.node
        self._known[key] = None
        out, constants = self._with_constants(read)
        if constants is not None and x.node is before and _is_new(out, x):
            self._known[key] = _Known(constants)
        return out

    def _with_constants(self, read: Callable[[], Value]) -> tuple[Value, list[Constant] | None]:
        """What a call returns, and what it reads that might change."""
        seen: list[Function] = []
        self._watching.append(seen)
        try:
            out = read()
        finally:
            self._watching.pop()
            if self._watching:
                self._watching[-1].extend(seen)
        return out, constants_of(seen)


def _is_new(out: Value, x: Tensor) -> bool:
    """Whether a layer returns one tensor of its own."""
    if not isinstance(out, Tensor) or out.device is not x.device or out.storage is None:
        return False
    return out.storage is not x.storage and not isinstance(out, Buffer) and not out.is_view


class _Planned:
    """The events of one kind of call, by a twin that stands where the program called it."""

    def __init__(
        self,
        machine: Machine,
        layer: Instance,
        x: Tensor,
        more: Sequence[Value],
        checkpointed: Options | None,
    ) -> None:
        self._machine = machine
        card = x.device
        self._around = machine.module, machine.line, machine.call_number, list(machine.callers)
        self._first, self._calls = machine.calls, 0
        self._on = card.tape
        pattern = card.alone(Tape())
        # A copy, as the layer may change before a backward pass asks for another twin.
        kept, like, half = Copying(pattern).of(layer), Kind.of(x), card.half
        requires_grad, grad_enabled = x.requires_grad, card.grad_enabled

        def twin() -> Twin:
            with self._there():
                return Twin(
                    lambda alone: _Layer(machine, kept, alone, more, checkpointed),
                    like, pattern.alone(self._tape()), half,
                    requires_grad=requires_grad, grad_enabled=grad_enabled, training=True,
                )  # fmt: skip

        self._plan = Forward(twin)

    def play(self, x: Tensor, parameters: Sequence[Parameter]) -> Tensor:
        """The call of a layer of these parameters."""
        machine = self._machine
        later = machine.calls - self._first
        machine.calls += self._calls
        return self._plan.play(x, parameters, later)

    @contextmanager
    def _there(self) -> Iterator[None]:
        """Let the machine stand where the call is."""
        machine = self._machine
        before = machine.module, machine.line, machine.call_number
        callers, calls = machine.callers, machine.calls
        machine.module, machine.line, machine.call_number, there = self._around
        machine.callers, machine.calls = list(there), self._first
        try:
            yield
        finally:
            self._calls = machine.calls - self._first
            machine.module, machine.line, machine.call_number = before
            machine.callers, machine.calls = callers, calls

    def _tape(self) -> Tape:
        """A tape for a twin: what is doubted there is doubted of the whole."""
        of = self._on
        tape = Tape()
        if of.locator is not None:
            tape = Located()
            tape.reader = of.locator.reader
        tape.doubts, tape.above, tape.assumed = of.doubts, of.above, of.assumed
        tape.apart = of.apart
        return tape
