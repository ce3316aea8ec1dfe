"""Python's own library: the parts of it that models use."""

from __future__ import annotations

import itertools
import math
import string
import struct
from collections import Counter
from functools import partial
from typing import TYPE_CHECKING

from nanolint.interpreter.contexts import contextlib
from nanolint.interpreter.copies import copied, shallow
from nanolint.interpreter.functional import functools, iteration
from nanolint.interpreter.patterns import regular_expressions
from nanolint.interpreter.queues import queue
from nanolint.interpreter.record_libraries import attrs, dataclasses, pydantic
from nanolint.interpreter.scopes import MISSING
from nanolint.interpreter.values import (
    ANNOTATION,
    Class,
    Function,
    Instance,
    Method,
    Namespace,
    Native,
    Unknown,
)
from nanolint.interpreter.watched import Index
from nanolint.tape.symbolic import as_key, worked_out

if TYPE_CHECKING:
    from collections.abc import Callable

    from nanolint.interpreter.machine import Machine
    from nanolint.interpreter.values import Value

OF_SEQUENCES = frozenset(("dist", "frexp", "fsum", "modf", "prod", "sumprod"))
WITHOUT_BOUND = frozenset(("comb", "factorial", "perm"))  # their results may have any length
OF_NUMBERS = sorted(  # the functions of ``math`` that take numbers and give one
    {name for name, each in vars(math).items() if callable(each) and name[0] != "_"}
    - OF_SEQUENCES
    - WITHOUT_BOUND
)
OF_CHARACTERS = (
    *("ascii_letters", "ascii_lowercase", "ascii_uppercase", "digits", "hexdigits", "octdigits"),
    *("printable", "punctuation", "whitespace"),
)
ONLY_TYPES = ("typing", "typing_extensions", "collections.abc", "types", "jaxtyping", "__future__")
# Whether they are there, and what they do, has nothing to do with memory.
SILENT = ("logging", "warnings", "time", "datetime")


def table(machine: Machine) -> dict[str, Value]:
    """The modules by their names."""
    known: dict[str, Value] = {
        "math": _math(),
        "string": Namespace("string", {name: getattr(string, name) for name in OF_CHARACTERS}),
        "dataclasses": dataclasses(machine),
        **dict.fromkeys(("attr", "attrs"), attrs(machine)),
        "pydantic": pydantic(),
        "enum": Namespace(
            "enum",
            {
                **dict.fromkeys(("Enum", "IntEnum", "StrEnum", "Flag"), machine.enumeration),
                "auto": Native("auto", _counter()),
            },
        ),
        "functools": functools(machine),
        "re": regular_expressions(machine),
        "itertools": iteration(machine),
        "collections": _collections(machine),
        "contextlib": contextlib(machine),
        "struct": _structs(machine),
        "copy": Namespace(
            "copy",
            {
                "deepcopy": Native("deepcopy", lambda value, *_: copied(value, {})),
                "copy": Native("copy", shallow),
            },
        ),
        "inspect": Namespace(
            "inspect", {"signature": Native("signature", lambda f: _signature(machine, f))}
        ),
        "abc": Namespace(
            "abc",
            {
                "ABC": ANNOTATION,
                "ABCMeta": ANNOTATION,
                "abstractmethod": Native("abstractmethod", lambda function: function),
            },
        ),
    }
    for name in ONLY_TYPES:
        known[name] = _Annotations(name)
    known["typing"].names["NamedTuple"] = machine.named_tuple
    known["typing"].names["TYPE_CHECKING"] = False
    known["typing"].names["cast"] = Native("cast", lambda _kind, value: value, plain=False)
    for name in SILENT:
        known[name] = Namespace(name, {})
    known["types"].names["SimpleNamespace"] = Native(
        "SimpleNamespace", partial(_record, machine), plain=False
    )
    return known


def _record(machine: Machine, **attributes: Value) -> Instance:
    made = machine.created(Instance(Class("SimpleNamespace", (), {}, Namespace("types", {}))))
    made.attributes |= attributes
    return made


class _Everything(dict[str, "Value"]):
    def __contains__(self, name: object) -> bool:
        return True

    def __missing__(self, name: str) -> Value:
        return ANNOTATION

    def get(self, name: str, *_: Value) -> Value:
        return self[name]


def _Annotations(name: str) -> Namespace:  # noqa: N802
    return Namespace(name, _Everything())


def _of_numbers(function: Callable[..., Value]) -> Callable[..., Value]:
    def called(*given: Value, **named: Value) -> Value:
        return function(*given, **named) if named else worked_out(function, given)

    return called


def _math() -> Namespace:
    names: dict[str, Value] = {
        name: Native(f"math.{name}", _of_numbers(getattr(math, name))) for name in OF_NUMBERS
    }
    names |= {name: getattr(math, name) for name in ("pi", "e", "tau", "inf", "nan")}
    names |= {
        name: Native(f"math.{name}", getattr(math, name))
        for name in OF_SEQUENCES
        if hasattr(math, name)  # sumprod: Python 3.12
    }
    return Namespace("math", names)


def _structs(machine: Machine) -> Namespace:
    """``struct``: of bytes that are not known it makes as many values as the format says."""
    why = "the contents of a file"

    def unpacked(form: Value, data: Value, offset: Value = 0) -> Value:
        machine.bounded(struct.calcsize(form))
        if isinstance(data, bytes) and not isinstance(offset, Unknown):
            return struct.unpack_from(form, data, offset)
        return tuple(
            Index(why, machine.place, object()) if type(each) is int else machine.unknown(why)
            for each in struct.unpack(form, bytes(struct.calcsize(form)))
        )

    def packed(form: Value, *values: Value) -> Value:
        machine.bounded(struct.calcsize(form))
        if any(isinstance(each, Unknown) for each in values):
            return machine.unknown(why)
        return struct.pack(form, *values)

    def known(function: Callable[..., Value]) -> Callable[..., Value]:
        def called(form: Value, *given: Value) -> Value:
            try:
                return function(form, *given)
            except (struct.error, TypeError):
                return machine.unknown("the result of struct for these")

        return called

    functions: dict[str, Callable[..., Value]] = {"calcsize": struct.calcsize, "pack": packed}
    functions |= {"unpack": unpacked, "unpack_from": unpacked}
    return Namespace(
        "struct",
        {name: Native(name, known(each), plain=False) for name, each in functions.items()},
    )


def _counter() -> Callable[[], int]:
    numbers = itertools.count(1)
    return lambda: next(numbers)


def _collections(machine: Machine) -> Namespace:
    def ordered(*arguments: Value, **keywords: Value) -> dict[Value, Value]:
        found: dict[Value, Value] = {}
        machine.call(machine.attribute(found, "update"), list(arguments), keywords)
        return found

    def tuple_class(name: str, names: Value, **_: Value) -> Class:
        split = names.replace(",", " ").split() if isinstance(names, str) else list(names)
        members: dict[str, Value] = {"__annotations__": dict.fromkeys(split), "__dataclass__": {}}
        return Class(name, (machine.named_tuple,), members, Namespace("collections", {}))

    def counter(values: Value = ()) -> Value:
        if isinstance(values, dict):
            return Counter(values)
        listed = list(machine.iterate(values))
        unknown = next((each for each in listed if isinstance(each, Unknown)), None)
        return Counter(map(as_key, listed)) if unknown is None else unknown.bare()

    return Namespace(
        "collections",
        {
            "Counter": Native("Counter", counter, plain=False),
            "OrderedDict": Native("OrderedDict", ordered, plain=False),
            "namedtuple": Native("namedtuple", tuple_class),
            "deque": Native("deque", partial(queue, machine), plain=False),
            "defaultdict": Native(
                "defaultdict", lambda factory=None: _Defaults(machine, factory), plain=False
            ),
        },
    )


class _Defaults(dict["Value", "Value"]):
    """``defaultdict``, whose factory may be a function of the program."""

    def __init__(self, machine: Machine, factory: Value) -> None:
        super().__init__()
        self._machine = machine
        self._factory = factory

    def get(self, key: Value, default: Value = None) -> Value:
        if key not in self and default is MISSING and self._factory is not None:
            self[key] = self._machine.call(self._factory, [])
        return super().get(key, default)


def _signature(machine: Machine, function: Value) -> Value:
    """``inspect.signature(f).parameters``: the names, for those who look for one."""
    target = function.function if isinstance(function, Method) else function
    if isinstance(target, Class):
        target = target.find("__init__")
    if not isinstance(target, Function):
        return machine.unknown("the signature of a function outside the project")
    spec = target.node.args
    names = [each.arg for each in (*spec.posonlyargs, *spec.args, *spec.kwonlyargs)]
    return Namespace("signature", {"parameters": dict.fromkeys(names)})
