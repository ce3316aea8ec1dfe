"""Layers that are alike: two of them are read, and the events of all others are copied.

The first call of a layer is read, and says whether it does nothing but compute
(``pure_functions.py``). With the second one a twin is read on a card of its own. From then on a
call of any layer of the same form, with a tensor of the same kind, plays what the twin wrote. What
is called through a checkpoint is so on the twin's card, too: a backward pass there runs it again.

In a graph that is traced, the second layer's operations are copied: the first call of a layer may
hand in what all of them look at.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple
from weakref import WeakSet

from nanolint.interpreter.module_signature import PLAIN, Form, Unlike
from nanolint.interpreter.pure_functions import constants_of
from nanolint.interpreter.repeated_layers import Kind, Planned, is_new
from nanolint.interpreter.torch.modules import is_module, modules
from nanolint.interpreter.values import READ
from nanolint.interpreter.watched import plain
from nanolint.tensors.autograd import Leaf
from nanolint.tensors.device import MAIN
from nanolint.tensors.tensor import Tensor

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Sequence

    from nanolint.interpreter.machine import Machine
    from nanolint.interpreter.pure_functions import Constant
    from nanolint.interpreter.values import Class, Function, Instance, Options, Value
    from nanolint.tensors.device import Device
    from nanolint.tensors.tracing import Layer

FEW = 3  # layers of a class that are read, each


class _Known(NamedTuple):
    """What is known of a kind of call: what has to stand, and from the second call on its plan."""

    constants: list[Constant]
    planned: Planned | None = None


class Layers:
    """The layers of a program that may be alike, and what is known of their calls."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._stacked: WeakSet[Instance] = WeakSet()  # a model that is replaced is let go
        self._known: dict[object, _Known | None] = {}  # None: is read each time
        self._watching: list[list[Function | None]] = []

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
        """A function of the program is called. A closure is not held: it holds what its frame
        returned, which would live too long."""
        if self._watching:
            self._watching[-1].append(None if function.closure is not None else function)

    def call(
        self,
        layer: Instance,
        arguments: list[Value],
        keywords: dict[str, Value],
        read: Callable[[], Value],
        checkpointed: Options | None = None,
    ) -> Value:
        """Returns the result of a call: by ``read`` if its events are not known yet, else READ.

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
        attributes = self._machine.tensor_attributes
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
            planned = Planned(self._machine, layer, x, more, checkpointed)
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
            given = Given.of(x, more, form)
        except Unlike:
            return READ
        if any(each in machine.tensor_attributes for each in form.parameters):
            return READ
        key = own, given.form, *self._around(machine.card)
        return call(machine, key, x, tensors, given.shared, read, self._with_constants)

    def _around(self, card: Device) -> tuple[object, ...]:
        """What else decides the events, and their places."""
        machine = self._machine
        lines: tuple[object, ...] = ()
        if card.tape.locator is not None:
            callers = tuple([(module and module.path, line) for module, line, _ in machine.callers])
            lines = (machine.module and machine.module.path, machine.line, callers)
        default = machine.default is card
        settings = card.half, card.caches_casts, card.grad_enabled, card.attention_kernels
        return *settings, card.awaits_bias_workspace, default, lines

    def _watched(self, key: object, x: Tensor, read: Callable[[], Value]) -> Value:
        """Read a call, and keep whether another one may be copied."""
        before = x.node
        self._known[key] = None
        out, constants = self._with_constants(read)
        if constants is not None and x.node is before and is_new(out, x):
            self._known[key] = _Known(constants)
        return out

    def _with_constants(self, read: Callable[[], Value]) -> tuple[Value, list[Constant] | None]:
        """What a call returns, and what it reads that might change."""
        seen: list[Function | None] = []
        self._watching.append(seen)
        try:
            out = read()
        finally:
            self._watching.pop()
            if self._watching:
                self._watching[-1].extend(seen)
        return out, constants_of(seen)


class _Traced(NamedTuple):
    """What is known of a kind of call: what has to stand, and the one that others are copied from,
    with the number of calls of functions before it, and in it."""

    constants: list[Constant]
    layer: Layer | None = None
    before: int = 0
    calls: int = 0


class Given(NamedTuple):
    """The arguments of a layer: their ``form``, and the tensors that others are called with."""

    form: Hashable
    shared: list[Tensor]

    @classmethod
    def of(cls, x: Tensor, more: Iterable[Value], form: Form) -> Given:
        """Raises Unlike."""
        shared: list[Tensor] = []
        like = x.shape, x.strides, x.dtype, x.role.unplaced, x.is_view, x.requires_grad
        return cls((like, *[_taken_apart(each, shared, form) for each in more]), shared)


def _taken_apart(value: Value, shared: list[Tensor], form: Form) -> Hashable:
    """What of ``value`` is alike; its tensors are ``shared``. No function within another: one that
    calls itself would hold them for good."""
    if isinstance(value, Tensor):
        shared.append(value)
        return id(value)
    if type(value) is tuple:
        return tuple([_taken_apart(each, shared, form) for each in value])
    return form.of(value)


def call(
    machine: Machine,
    key: object,
    x: Tensor,
    tensors: list[Tensor],
    shared: list[Tensor],
    read: Callable[[], Value],
    watched: Callable[[Callable[[], Value]], tuple[Value, list[Constant] | None]],
) -> Value:
    """Returns the result of a layer that holds these ``tensors``: by ``read`` if others cannot
    tell, else READ.

    Others of its ``key`` are called with ``shared``, too. ``watched`` tells what a reading asks of
    its modules that may change.
    """
    tracer = machine.card.tracer
    known: dict[object, _Traced | None] = tracer.layers
    if key not in known:
        known[key] = None
        out, constants = watched(read)
        known[key] = None if constants is None else _Traced(constants)
        return out
    of = known[key]
    if of is None or not all(each.stands for each in of.constants):
        return READ
    if of.layer is None:
        known[key] = None
        layer: Layer = tracer.layer(x, tensors, shared)
        before = machine.calls
        out = read()
        if layer.ends(out):
            known[key] = _Traced(of.constants, layer, before, machine.calls - before)
        return out
    copied = of.layer.copy(x, tensors, machine.calls - of.before)
    if copied is None:
        return READ
    machine.calls += of.calls
    return copied
