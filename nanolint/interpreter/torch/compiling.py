"""``torch.compile`` and ``torch.jit.script`` inside a model that is read, each for itself.

Within a graph that is derived as a whole both are part of it. Outside of one a compiled part is
read as it runs without, which takes more; what a script makes of a function is not known.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.interpreter.torch.kinds import is_module
from nanolint.interpreter.values import TELLS, Class, Function, Instance, Namespace, Native

if TYPE_CHECKING:
    from collections.abc import Callable

    from nanolint.interpreter.machine import Machine
    from nanolint.interpreter.values import Value


def compiler(machine: Machine) -> Native:
    """``torch.compile`` of a function or of a module."""

    def told(name: str) -> None:
        if machine.card.tracer is None:
            machine.card.tape.doubt_above(
                f"{name} is compiled separately; nanolint counts it uncompiled, which takes more"
            )

    return _telling(machine, "torch.compile", told)


def jit(machine: Machine) -> Namespace:
    """``torch.jit``: the fuser of what is scripted casts and keeps otherwise."""

    def told(name: str) -> None:
        machine.card.tape.doubt(f"nanolint does not model torch.jit.script of {name}")

    return Namespace(
        "torch.jit",
        {
            "script": _telling(machine, "torch.jit.script", told),
            "is_scripting": Native("is_scripting", lambda: False),
        },
    )


def _telling(machine: Machine, name: str, told: Callable[[str], None]) -> Native:
    """A decorator, with arguments or without, of what tells of itself where it is called."""

    def mark(what: Value = None, *_: Value, disable: Value = False, **options: Value) -> Value:
        if what is None:
            return Native(name, lambda each: mark(each, disable=disable, **options), plain=False)
        if disable is True or options.get("backend") == "eager":
            return what
        if isinstance(what, Function):
            what.attributes[TELLS] = lambda: told(what.name)
        elif isinstance(what, Instance) and is_module(what):
            _mark_module(machine, what, told)
        return what

    return Native(name, mark, plain=False)


def _mark_module(machine: Machine, module: Instance, told: Callable[[str], None]) -> None:
    cls = module.cls
    plain = Instance(cls)
    plain.attributes, plain.buffers = module.attributes, module.buffers

    def call(_self: Value, *given: Value, **named: Value) -> Value:
        told(cls.name)
        return machine.call(plain, list(given), named)

    module.cls = Class(cls.name, (cls,), {"__call__": Native("__call__", call, plain=False)},
                       cls.module)  # fmt: skip
