"""``torch.utils.checkpoint``: what a function saves is dropped; a backward pass runs it again."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from nanolint.interpreter.forms import PLAIN
from nanolint.interpreter.torch.kinds import is_module
from nanolint.interpreter.values import READ, Namespace, Native, Unknown
from nanolint.interpreter.watched import plain
from nanolint.tensors.checkpoint import Stop, checkpoint, checkpoint_sequential

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from nanolint.interpreter.machine import Machine
    from nanolint.interpreter.values import Value


def checkpoints(machine: Machine) -> Namespace:
    """The module."""
    return Namespace(
        "torch.utils.checkpoint",
        {
            "checkpoint": Native(
                "checkpoint",
                lambda *given, **named: _checkpoint(machine, given, named),
                plain=False,
            ),
            "checkpoint_sequential": Native(
                "checkpoint_sequential",
                lambda *given, **named: _in_segments(machine, given, named),
                plain=False,
            ),
        },
    )


@contextmanager
def may_stop(machine: Machine) -> Iterator[None]:
    """A call that ends as soon as all is made again: the program then stands where it called."""
    module, line = machine.module, machine.line
    try:
        yield
    except Stop:
        machine.module, machine.line = module, line
        raise


def _checkpoint(machine: Machine, given: tuple[Value, ...], named: dict[str, Value]) -> Value:
    """A function whose saved tensors are dropped, and made again in the backward pass."""
    function, *arguments = given
    for each in (function, *arguments, *named.values()):
        if isinstance(each, Unknown):
            raise each.unread()
    if named.get("use_reentrant", True) is None:
        del named["use_reentrant"]

    def call(*given: Value, **named: Value) -> Value:
        with may_stop(machine):
            return machine.call(function, list(given), named)

    def read() -> Value:
        return checkpoint(call, *arguments, device=machine.card, **named)

    if not is_module(function) or not machine.card.grad_enabled:
        return read()
    values = [(name, plain(each)) for name, each in named.items()]
    options = tuple([(name, each) for name, each in values if type(each) in PLAIN])
    out = READ
    if len(options) == len(named):
        out = machine.copied(function, arguments, {}, read, checkpointed=options)
    return read() if out is READ else out


def _in_segments(machine: Machine, given: tuple[Value, ...], named: dict[str, Value]) -> Value:
    functions, segments, x = given
    if named.get("use_reentrant", True) is None:
        del named["use_reentrant"]

    def called(function: Value) -> Callable[[Value], Value]:
        def call(x: Value) -> Value:
            with may_stop(machine):
                return machine.call(function, [x])

        return call

    listed = [called(each) for each in machine.iterate(functions)]
    return checkpoint_sequential(listed, segments, x, device=machine.card, **named)
