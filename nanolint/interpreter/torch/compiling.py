"""``torch.jit.script`` of functions and modules: they are read as they run without it, in doubt."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.interpreter.torch.kinds import is_module
from nanolint.interpreter.values import TELLS, Class, Function, Instance, Namespace, Native

if TYPE_CHECKING:
    from collections.abc import Callable

    from nanolint.interpreter.machine import Machine
    from nanolint.interpreter.values import Value


def jit(machine: Machine) -> Namespace:
    """``torch.jit``: the fuser of what is scripted casts and keeps otherwise."""

    def told(name: str) -> None:
        machine.card.tape.doubt(f"nanolint does not model torch.jit.script of {name}")

    def script(what: Value = None, *_: Value, **__: Value) -> Value:
        if what is None:
            return Native("torch.jit.script", script, plain=False)
        if isinstance(what, Function):
            what.attributes[TELLS] = lambda: told(what.name)
        elif isinstance(what, Instance) and is_module(what):
            _mark_module(machine, what, told)
        return what

    names: dict[str, Value] = {
        "script": Native("torch.jit.script", script, plain=False),
        "is_scripting": Native("is_scripting", lambda: False),
    }
    return Namespace("torch.jit", names)


def _mark_module(machine: Machine, module: Instance, told: Callable[[str], None]) -> None:
    cls = module.cls
    plain = Instance(cls)
    plain.attributes, plain.buffers = module.attributes, module.buffers

    def call(_self: Value, *given: Value, **named: Value) -> Value:
        told(cls.name)
        return machine.call(plain, list(given), named)

    names = {"__call__": Native("__call__", call, plain=False)}
    module.cls = Class(cls.name, (cls,), names, cls.module)
