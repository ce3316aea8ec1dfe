"""Protocols of Python: the elements of a value, its truth, its kind, what an index sets."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING

from nanolint.interpreter.certain import refusal
from nanolint.interpreter.exceptions import let_go
from nanolint.interpreter.torch import methods
from nanolint.interpreter.values import (
    ANNOTATION,
    Absent,
    Class,
    Generated,
    Instance,
    Manager,
    Method,
    Namespace,
    Partial,
    Property,
    Static,
    Super,
    Unknown,
)
from nanolint.tape.symbolic import Span, as_key
from nanolint.tensors.refusing import AMBIGUOUS
from nanolint.tensors.tensor import Tensor
from nanolint.tensors.unknown import Refused

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nanolint.interpreter.machine import Machine
    from nanolint.interpreter.values import Value


def set_item(machine: Machine, owner: Value, index: Value, value: Value) -> None:
    """``owner[index] = value``."""
    if isinstance(owner, Unknown):
        return
    if isinstance(owner, Tensor):
        methods.set_item(machine, owner, index, value)
    elif isinstance(owner, Instance) and owner.cls.has("__setitem__"):
        machine.call(machine.attribute(owner, "__setitem__"), [index, value])
    elif isinstance(index, Unknown):
        raise index.unread()
    elif isinstance(owner, Instance) and owner.native is not None:
        owner.native[as_key(index)] = value
    elif isinstance(owner, (list, dict)):
        owner[as_key(index)] = value
    elif isinstance(owner, Namespace):  # what nanolint lacks is no exception of the program's
        put = owner.names.get("__setitem__")
        if put is None:
            raise machine.unread(f"{owner.name} is written into")
        machine.call(put, [index, value])
    else:
        raise TypeError(f"{owner!r} does not support item assignment")


def delete_item(machine: Machine, owner: Value, index: Value) -> None:
    """``del owner[index]``."""
    if isinstance(owner, (list, dict)) and not isinstance(index, Unknown):
        del owner[as_key(index)]
    elif isinstance(owner, Instance) and owner.cls.has("__delitem__"):
        machine.call(machine.attribute(owner, "__delitem__"), [index])
    else:
        raise machine.unread(f"del of an element of {owner!r} is not known")


def iterate(machine: Machine, value: Value) -> Iterator[Value]:
    """Yields the elements of ``value``. Raises Unread if they are not known."""
    if isinstance(value, Generated):  # a tuple of one, but not to the program
        return value.values
    if isinstance(value, (list, tuple, dict, str, set, frozenset, range)):
        return iter(value)
    if isinstance(value, Span):
        return iter(value.known())
    if isinstance(value, Unknown):
        raise value.unread()
    if isinstance(value, Tensor):
        return iter(methods.rows(machine, value))
    if isinstance(value, Class) and value.has("__members__"):
        return iter(value.find("__members__").values())
    if isinstance(value, Instance):
        if value.cls.has("__iter__"):
            made = machine.call(machine.attribute(value, "__iter__"), [])
            is_own = made is value or (isinstance(made, Instance) and made.cls.has("__next__"))
            return _following(machine, made) if is_own else machine.iterate(made)
        if value.cls.has("__getitem__") and (value.native is None or value.cls.has("__len__")):
            return _by_index(machine, value)
        if value.cls.has("__dataclass__") and machine.named_tuple in value.cls.mro:
            return iter(value.attributes.values())
        if value.native is not None:
            return iter(value.native)
        raise TypeError(f"'{value.cls.name}' object is not iterable")
    if hasattr(value, "__next__") or isinstance(
        value, (type({}.items()), type({}.keys()), type({}.values()))
    ):
        return iter(value)
    raise TypeError(f"{value!r} is not iterable")


def _following(machine: Machine, value: Value) -> Iterator[Value]:
    """What an object of the program gives one after the other, which is its own iterator."""
    held: list[Value] = []
    while True:
        try:
            held.append(machine.call(machine.attribute(value, "__next__"), []))
        except StopIteration as error:
            let_go(error)
            return
        yield held.pop()


def _by_index(machine: Machine, value: Instance) -> Iterator[Value]:
    """What an object of the program has at 0, at 1 and so on: Python asks it until it refuses."""
    if value.cls.has("__len__"):
        length = machine.call(machine.attribute(value, "__len__"), [])
        if isinstance(length, Unknown):
            raise length.unread()
        return iter([machine.item(value, place) for place in range(length)])
    return _until_refused(machine, value)


def _until_refused(machine: Machine, value: Instance) -> Iterator[Value]:
    held: list[Value] = []
    for place in count():
        try:
            held.append(machine.item(value, place))
        except IndexError as error:
            let_go(error)
            return
        yield held.pop()


def truth(machine: Machine, value: Value) -> bool:
    """Returns ``bool(value)``. Raises Unread if it is not known."""
    if type(value) is bool:  # as most are
        return value
    if isinstance(value, Unknown):
        raise value.unread()
    if isinstance(value, Tensor):
        if value.numel > 1:
            raise refusal(Refused(AMBIGUOUS))
        raise machine.unread("a branch that depends on the contents of a tensor")
    if isinstance(value, Instance):
        if value.cls.has("__bool__"):
            return machine.truth(machine.call(machine.attribute(value, "__bool__"), []))
        if value.cls.has("__len__"):
            return machine.truth(machine.call(machine.attribute(value, "__len__"), []))
        return bool(value.native) if value.native is not None else True
    if isinstance(value, (Generated, Method, Static, Super, Partial, Manager, Property)):
        return True
    return bool(value)


def instance_of(machine: Machine, value: Value, kind: Value) -> Value:
    """``isinstance(value, kind)``."""
    if isinstance(value, Absent):
        return False
    if isinstance(value, Unknown):
        return value
    if isinstance(kind, tuple):
        found = [machine.instance_of(value, each) for each in kind]
        if any(each is True for each in found):
            return True
        return next((each for each in found if isinstance(each, Unknown)), False)
    if isinstance(kind, Unknown):
        return kind
    if kind is None:  # of ``First | None``
        return value is None
    if isinstance(value, Instance):
        return value.cls.derives(kind)
    if isinstance(value, Tensor):
        return methods.is_a(machine, value, kind)
    if kind is ANNOTATION:
        return machine.unknown("isinstance of an annotation")
    if isinstance(kind, type):
        return isinstance(value, kind)
    return False
