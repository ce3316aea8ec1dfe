"""One kind of call of a layer, planned: what a twin of it writes on a card of its own."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from nanolint.interpreter.forms import Copying, Form
from nanolint.interpreter.repeated import Forward
from nanolint.interpreter.torch.checkpointing import may_stop
from nanolint.interpreter.twin import Kind, Twin
from nanolint.tape.located import Located
from nanolint.tape.tape import Tape
from nanolint.tensors.checkpoint import checkpoint
from nanolint.tensors.parameter import Buffer
from nanolint.tensors.tensor import Tensor

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from nanolint.interpreter.machine import Machine
    from nanolint.interpreter.values import Instance, Options, Value
    from nanolint.tensors.device import Device
    from nanolint.tensors.parameter import Parameter


class Planned:
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
                    lambda alone: Layer(machine, kept, alone, more, checkpointed),
                    like, pattern.alone(self._tape()), half,
                    requires_grad=requires_grad, grad_enabled=grad_enabled,
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


class Layer:
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
        self.parameters = tuple(form.parameters)

    def __call__(self, x: Tensor) -> Tensor:
        """What it returns."""
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


def is_new(out: Value, x: Tensor) -> bool:
    """Whether a layer returns one tensor of its own."""
    if not isinstance(out, Tensor) or out.device is not x.device or out.storage is None:
        return False
    return out.storage is not x.storage and not isinstance(out, Buffer) and not out.is_view
