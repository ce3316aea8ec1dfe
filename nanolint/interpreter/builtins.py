"""Python's built-in functions and types."""

from __future__ import annotations

import ast
from itertools import islice
from typing import TYPE_CHECKING

from nanolint.interpreter.counted import COUNTED, pinned
from nanolint.interpreter.counted import converted as by_turn
from nanolint.interpreter.counted import plain as unnoted
from nanolint.interpreter.exceptions import leave, let_go
from nanolint.interpreter.scopes import MISSING
from nanolint.interpreter.values import (
    CONTENTS,
    Class,
    Function,
    Generated,
    Instance,
    Method,
    Namespace,
    Native,
    Numbered,
    Partial,
    Property,
    Static,
    Unknown,
)
from nanolint.interpreter.watched import Index, Real, look, plain
from nanolint.tape.symbolic import Span, as_key, is_symbolic
from nanolint.tensors.device import Device
from nanolint.tensors.dtypes import Dtype
from nanolint.tensors.tensor import Tensor

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from nanolint.interpreter.machine import Machine
    from nanolint.interpreter.values import Value

TYPES = (
    *(bool, int, float, complex, str, bytes, list, tuple, dict, set, frozenset, slice, range, type),
    *(object, Exception, BaseException, ValueError, TypeError, KeyError, IndexError, RuntimeError),
    *(AttributeError, NotImplementedError, AssertionError, ImportError, ModuleNotFoundError),
    *(StopIteration, OSError, FileNotFoundError, ZeroDivisionError, NameError, LookupError),
    *(ArithmeticError, OverflowError, UserWarning, DeprecationWarning, KeyboardInterrupt),
    *(Warning, RuntimeWarning, FutureWarning, SystemExit, IOError, EnvironmentError),
)
ENCODINGS = ("utf-8", "utf8", "ascii")


def convert(
    machine: Machine, kind: type, arguments: list[Value], keywords: dict[str, Value]
) -> Value:
    """``int(x)``, ``list(x)``, ``ValueError(x)``: a call of one of Python's types."""
    if kind is not bool and any(type(each) in COUNTED for each in arguments):
        if kind in (int, float) and len(arguments) == 1:
            return by_turn(kind, arguments[0])
        arguments = [pinned(each) if kind is range else unnoted(each) for each in arguments]
    if issubclass(kind, BaseException):
        return kind(*[each if isinstance(each, (str, int)) else repr(each) for each in arguments])
    if kind is dict:
        found: dict[Value, Value] = {}
        machine.call(machine.attribute(found, "update"), arguments, keywords)
        return found
    for each in arguments:
        if isinstance(each, Unknown):
            return _number(kind, each) if len(arguments) == 1 else each
    if kind in (list, tuple, set, frozenset):
        if not arguments:
            return kind()
        elements = islice(machine.iterate(arguments[0]), 1_000_000)
        return kind(map(as_key, elements) if kind in (set, frozenset) else elements)
    if kind is type:
        return _type(machine, *arguments)
    if kind is bool and arguments and isinstance(arguments[0], Tensor):
        return machine.unknown(CONTENTS)
    if kind is bool:
        return machine.truth(arguments[0]) if arguments else False
    if kind is object:
        return Instance(Class("object", (), {}, Namespace("builtins", {})))
    if kind is float and len(arguments) == 1 and isinstance(arguments[0], Tensor):
        return machine.call(machine.attribute(arguments[0], "item"), [])
    if kind in (int, complex) and arguments and isinstance(arguments[0], Tensor):
        return machine.unknown(CONTENTS)
    if kind is str:
        return _text(machine, *arguments)
    if kind in (int, float, complex, range, slice):
        if kind is float and len(arguments) == 1 and isinstance(arguments[0], float):
            return arguments[0]
        look(arguments)
        if kind is range and len(arguments) == 1 and is_symbolic(arguments[0]):
            return Span(arguments[0])
        if any(isinstance(each, Instance) for each in arguments):
            return machine.call(machine.attribute(arguments[0], f"__{kind.__name__}__"), [])
        converted: Value = kind(*arguments, **keywords)
        if machine.made_up.numbers:
            machine.made_up.follow(converted, arguments)
        return converted
    return machine.unknown(f"{kind.__name__}(...)")


def _number(kind: type, value: Unknown) -> Unknown:
    """Returns an unknown value that is known to be a number."""
    if type(value) is not Unknown or kind not in (int, float):
        return value
    if kind is float:
        return Real(value.reason, value.place)
    return Index(value.reason, value.place, object())


def _type(machine: Machine, value: Value, *more: Value) -> Value:
    if more:
        return machine.unknown("a class made by type()")
    if isinstance(value, Instance):
        return value.cls
    if isinstance(value, Tensor):
        return machine.tensor_type(value)
    return plain(value).__class__


def _text(machine: Machine, value: Value = "") -> Value:
    if machine.made_up.writes(value) or value is None:
        return str(value)
    if isinstance(value, Instance) and value.cls.has("__str__"):
        return machine.call(machine.attribute(value, "__str__"), [])
    text = text_of(machine, value)
    return machine.unknown("the text of something that is not plain") if text is None else text


def _numbers_of_bytes(machine: Machine, given: Value = b"", encoding: Value = "utf-8") -> Value:
    """``bytearray(text, "utf-8")``: its bytes as a list of numbers."""
    if isinstance(given, str) and encoding in ENCODINGS:
        return list(given.encode(encoding))
    if isinstance(given, (bytes, list, tuple)):
        return list(given)
    return machine.unknown("a bytearray")


def table(machine: Machine) -> dict[str, Value]:
    """The names that every module sees."""

    def plain(name: str, function: Callable[..., Value]) -> None:
        known[name] = Native(name, function)

    def looks(name: str, function: Callable[..., Value]) -> None:
        known[name] = Native(name, function, plain=False)

    known: dict[str, Value] = {kind.__name__: kind for kind in TYPES}
    known |= {
        "NotImplemented": NotImplemented,
        "Ellipsis": ...,
        "property": Native("property", lambda getter, setter=None: Property(getter, setter)),
        "staticmethod": Native("staticmethod", Static),
        "classmethod": Native("classmethod", lambda function: Static(function, True)),
        "super": machine.zero_super,
        "__name__": "__read__",
        "__file__": machine.unknown("the path of the file"),
        "__spec__": machine.unknown("how a module was found"),
    }
    plain(
        "abs",
        lambda x: (
            machine.call(machine.attribute(x, "abs"), []) if isinstance(x, Tensor) else abs(x)
        ),
    )
    plain("round", lambda x, digits=None: round(x, digits))
    plain("divmod", divmod)
    plain("format", lambda x, style="": _formatted(machine, x, style))
    plain("pow", lambda x, y: machine.binary(ast.Pow(), x, y))
    plain("bytearray", lambda *given: _numbers_of_bytes(machine, *given))
    plain("chr", chr)
    plain("ord", ord)
    for spelt in (bin, oct, hex):
        plain(spelt.__name__, spelt)
    plain("callable", lambda x: isinstance(x, (Function, Method, Native, Class, Partial, type)))
    plain("repr", lambda x: _text(machine, repr(x) if isinstance(x, str) else x))
    plain("id", lambda value: _identity(machine, value))
    plain("hash", lambda _: machine.unknown("a hash"))
    looks("len", lambda x: _length(machine, x))
    plain("sum", lambda values, start=0: _sum(machine, values, start))
    plain("reversed", lambda values: iter(list(machine.iterate(values))[::-1]))
    plain("enumerate", lambda values, start=0: _enumerated(machine, values, start))
    looks("next", lambda values, *default: _next(machine, values, *default))
    looks("zip", lambda *values, strict=False: zip(*map(machine.iterate, values), strict=strict))
    looks("map", lambda function, *values: _map(machine, function, values))
    plain("filter", lambda function, values: _filter(machine, function, values))
    plain("any", lambda values: any(map(machine.truth, machine.iterate(values))))
    plain("all", lambda values: all(map(machine.truth, machine.iterate(values))))
    looks("min", lambda *values, **options: _extreme(machine, min, values, **options))
    looks("max", lambda *values, **options: _extreme(machine, max, values, **options))
    plain("input", lambda *_: machine.unknown("typed input"))
    looks("exit", lambda *given: leave(machine, *given))
    looks("quit", lambda *given: leave(machine, *given))
    looks("isinstance", machine.instance_of)
    looks("issubclass", lambda one, other: _derives(machine, one, other))
    looks("hasattr", lambda owner, name: _has(machine, owner, name))
    looks("getattr", lambda owner, name, *default: _get(machine, owner, name, *default))
    looks("setattr", lambda *given: _set_attribute(machine, *given))
    looks("delattr", lambda owner, name: machine.delete_attribute(owner, name))
    looks("vars", lambda owner: machine.attribute(owner, "__dict__"))
    plain("globals", lambda: machine.module.names if machine.module else {})
    looks("dir", lambda *owner: _names(machine, *owner))
    for name in ("eval", "locals"):
        looks(name, lambda *_, name=name, **__: machine.unknown(f"{name}()"))
    return known


def _formatted(machine: Machine, value: Value, style: Value) -> Value:
    plainly = isinstance(style, str) and len(style) < 8 and machine.made_up.writes(value)
    return format(value, style) if plainly else machine.unknown("a text of what is formatted")


def _enumerated(machine: Machine, values: Value, start: Value) -> Value:
    """Of what is generated nobody knows how much there is, numbered or not."""
    numbered = enumerate(machine.iterate(values), start)
    return Generated(numbered) if isinstance(values, Generated) else Numbered(numbered, values)


# What every module has beside what its text binds.
_OF_MODULES = (
    *("__builtins__", "__cached__", "__doc__", "__file__", "__loader__", "__name__"),
    *("__package__", "__spec__"),
)


def _names(machine: Machine, *owner: Value) -> Value:
    """``dir(owner)``."""
    if len(owner) == 1 and isinstance(owner[0], Instance) and owner[0].native is None:
        cls = owner[0].cls
        if cls.unknown is None:
            found = {name for each in cls.mro for name in each.names}
            return sorted({*found, *owner[0].attributes, *dir(object())})
    if len(owner) == 1 and isinstance(owner[0], Namespace) and owner[0].path:
        module = owner[0]
        return sorted({*module.names, *_OF_MODULES}) if module.starred is None else module.starred
    return machine.unknown("dir()")


def _identity(machine: Machine, value: Value) -> int:
    machine.made_up.add(id(value))
    return id(value)


def _length(machine: Machine, value: Value) -> Value:
    if isinstance(value, Instance):
        if value.cls.has("__len__"):
            return machine.call(machine.attribute(value, "__len__"), [])
        return len(value.native)
    if isinstance(value, Tensor):
        return machine.rows(value)
    if isinstance(value, range) and machine.made_up.numbers:
        machine.made_up.follow(len(value), (value.start, value.stop))
    if id(value) in machine.growing:
        return machine.growing[id(value)].of(value)
    return machine.length(value) if isinstance(value, Unknown) else len(value)


def _sum(machine: Machine, values: Value, start: Value) -> Value:
    found = start
    for each in machine.iterate(values):
        found = machine.binary(ast.Add(), found, each)
        del each  # before the next one is made, as CPython does
    return found


def _next(machine: Machine, values: Value, *default: Value) -> Value:
    if isinstance(values, Unknown):
        return values
    iterator = values.values if isinstance(values, Generated) else values
    if isinstance(iterator, Instance):
        try:
            return machine.call(machine.attribute(iterator, "__next__"), [])
        except StopIteration as error:
            if not default:
                raise
            let_go(error)
            return default[0]
    # What a module lists, such as its parameters, is a list here.
    return next(iter(iterator) if isinstance(iterator, list) else iterator, *default)


def _map(machine: Machine, function: Value, values: tuple[Value, ...]) -> Iterator[Value]:
    for each in zip(*map(machine.iterate, values), strict=False):
        yield machine.call(function, list(each))


def _filter(machine: Machine, function: Value, values: Value) -> Iterator[Value]:
    for each in machine.iterate(values):
        if machine.truth(each if function is None else machine.call(function, [each])):
            yield each


def _extreme(
    machine: Machine,
    choose: Callable[..., Value],
    values: tuple[Value, ...],
    key: Value = None,
    default: Value = MISSING,
) -> Value:
    if len(values) == 1 and isinstance(values[0], Unknown):
        return values[0].bare()
    found = list(machine.iterate(values[0])) if len(values) == 1 else list(values)
    if not found and default is not MISSING:
        return default
    keys = [each if key is None else machine.call(key, [each]) for each in found]
    for each in keys:
        if isinstance(each, Unknown):
            return each.bare()
        if isinstance(each, Tensor):
            return machine.unknown(CONTENTS)
    return found[keys.index(choose(keys))]


def _derives(machine: Machine, one: Value, other: Value) -> Value:
    if isinstance(other, tuple):
        return any(_derives(machine, one, each) for each in other)
    if isinstance(one, Class):
        return one.derives(other)
    if isinstance(one, type) and isinstance(other, type):
        return issubclass(one, other)
    return machine.unknown("issubclass()")


def _has(machine: Machine, owner: Value, name: Value) -> Value:
    found = _get(machine, owner, name, MISSING)
    return found if isinstance(found, Unknown) else found is not MISSING


def _get(machine: Machine, owner: Value, name: Value, *default: Value) -> Value:
    for each in (owner, name):
        if isinstance(each, Unknown):
            return each
    try:
        return machine.attribute(owner, name)
    except AttributeError as error:
        if not default:
            raise
        let_go(error)
        return default[0]


def _set_attribute(machine: Machine, owner: Value, name: Value, value: Value) -> None:
    if isinstance(name, Unknown):
        raise name.unread()
    machine.set_attribute(owner, name, value)


class CardName(str):
    """The card's name, with its number or without."""

    __slots__ = ("machine",)
    machine: Machine

    def __eq__(self, other: object) -> bool:
        if isinstance(other, str) and other.startswith("cuda") and other is not self:
            raise self.machine.unread("whether the card's name has its number")
        return other is self

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(str(self))


def text_of(machine: Machine, value: object) -> str | None:
    """``str(value)`` of a type or a device; None if it is neither."""
    if isinstance(value, Dtype):
        return f"torch.{value}"
    if isinstance(value, Device):
        if value is not machine.card:
            return "cpu" if value is machine.host else "meta"
        found = CardName("cuda")
        found.machine = machine
        return found
    return None
