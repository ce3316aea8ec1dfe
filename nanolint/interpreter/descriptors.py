"""Hooks of a class that is made (``__set_name__``, ``__init_subclass__``), and descriptors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.interpreter.values import Class, Instance, Method, Static, Value

if TYPE_CHECKING:
    import ast

    from nanolint.interpreter.machine import Machine
    from nanolint.interpreter.scopes import Frame


def tell(machine: Machine, cls: Class, node: ast.ClassDef, frame: Frame) -> None:
    """``__set_name__`` of its attributes, and ``__init_subclass__`` of its bases, in this order.

    Raises Unread if a class of the program makes it.
    """
    given = {each.arg or "": machine.evaluate(each.value, frame) for each in node.keywords}
    if isinstance(given.pop("metaclass", None), Class) or "" in given:
        raise machine.unread(f"the metaclass of {cls.name} is not known")
    for name, value in list(cls.names.items()):
        if isinstance(value, Instance) and value.cls.has("__set_name__"):
            machine.call(machine.attribute(value, "__set_name__"), [cls, name])
    for base in cls.mro[1:]:
        if "__init_subclass__" in base.names:
            told = base.names["__init_subclass__"]
            function = told.function if isinstance(told, Static) else told
            machine.call(Method(function, cls), [], given)
            return


def stands_in(value: Value, method: str) -> bool:
    """Whether an attribute of a class has ``__get__``, or ``__set__``."""
    return isinstance(value, Instance) and value.cls.has(method)


def get(machine: Machine, value: Value, owner: Value) -> Value:
    """``owner.name``, if ``value`` stands under that name in its class."""
    of_class = isinstance(owner, Class)
    given = [None, owner] if of_class else [owner, owner.cls]
    return machine.call(machine.attribute(value, "__get__"), given)


def put(machine: Machine, descriptor: Value, owner: Instance, value: Value) -> None:
    """``owner.name = value``, likewise."""
    machine.call(machine.attribute(descriptor, "__set__"), [owner, value])
