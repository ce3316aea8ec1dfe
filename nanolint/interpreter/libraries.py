"""Python's own library: the parts of it that models use.

Of ``re`` these are plain patterns on texts that are known; of all others nothing is known.
"""

from __future__ import annotations

import itertools
import math
import re
import string
import struct
from collections import Counter
from functools import partial
from typing import TYPE_CHECKING

from nanolint.interpreter.contexts import contextlib
from nanolint.interpreter.copies import copied, shallow
from nanolint.interpreter.records import attrs, dataclasses, pydantic
from nanolint.interpreter.scopes import MISSING
from nanolint.interpreter.values import (
    ANNOTATION,
    Class,
    Function,
    Instance,
    Method,
    Namespace,
    Native,
    Partial,
    Property,
    Unknown,
)
from nanolint.interpreter.watched import Index, plain
from nanolint.regex import lazily
from nanolint.tape.symbolic import as_key, worked_out

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

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


def functools(machine: Machine) -> Namespace:
    def cached(function: Value = None, **_options: Value) -> Value:
        if function is None or isinstance(function, int):
            return Native("lru_cache", cached)
        kept: dict[Value, Value] = {}

        def run(*arguments: Value, **keywords: Value) -> Value:
            key = (*map(_key, arguments), *((name, _key(each)) for name, each in keywords.items()))
            if key not in kept:
                kept[key] = machine.call(function, list(arguments), keywords)
            return kept[key]

        return Native("cached", run, plain=False)

    def reduce(function: Value, values: Value, *start: Value) -> Value:
        iterator = machine.iterate(values)
        found = start[0] if start else next(iterator)
        for each in iterator:
            found = machine.call(function, [found, each])
        return found

    return Namespace(
        "functools",
        {
            "partial": Native(
                "partial", lambda f, *given, **named: Partial(f, given, named), plain=False
            ),
            "reduce": Native("reduce", reduce, plain=False),
            "wraps": Native("wraps", lambda _f: Native("wraps", lambda g: g), plain=False),
            "cached_property": Native(
                "cached_property", lambda getter: Property(getter, cached=True)
            ),
            **dict.fromkeys(("lru_cache", "cache"), Native("lru_cache", cached)),
        },
    )


def _key(value: Value) -> Value:
    value = plain(value)
    try:
        hash(value)
    except TypeError:
        return id(value)
    return type(value), value


def iteration(machine: Machine) -> Namespace:
    def chain(*values: Value) -> Iterator[Value]:
        for each in values:
            yield from machine.iterate(each)

    known: dict[str, Callable[..., Value]] = {
        "chain": chain,
        "product": lambda *values, repeat=1: itertools.product(
            *map(machine.iterate, values), repeat=repeat
        ),
        "zip_longest": lambda *values, fillvalue=None: itertools.zip_longest(
            *map(machine.iterate, values), fillvalue=fillvalue
        ),
        "repeat": lambda value, times: itertools.repeat(value, times),
        "count": lambda start=0, step=1: itertools.count(start, step),
        "islice": lambda values, *ends: itertools.islice(machine.iterate(values), *ends),
        "accumulate": lambda values: itertools.accumulate(machine.iterate(values)),
        "pairwise": lambda values: itertools.pairwise(machine.iterate(values)),
        "cycle": lambda values: itertools.cycle(machine.iterate(values)),
    }
    return Namespace(
        "itertools", {name: Native(name, each, plain=False) for name, each in known.items()}
    )


CHARACTERS = lazily(r"\\.|\[\^?]?(?:\\.|[^\]])*\]", re.DOTALL)  # one of them, as in a pattern
QUANTIFIERS = lazily(r"[*+?{]")
LONGEST = 1 << 12  # characters: with one quantifier a search is at most quadratic
FLAGS = (
    "A",
    "ASCII",
    "I",
    "IGNORECASE",
    "M",
    "MULTILINE",
    "S",
    "DOTALL",
    "U",
    "UNICODE",
    "VERBOSE",
)
# What gives texts, and how many texts it is given.
GIVING_TEXTS: dict[str, tuple[Callable[..., object], int]] = {
    "split": (re.split, 2),
    "findall": (re.findall, 2),
    "sub": (re.sub, 3),
    "escape": (re.escape, 1),
}
OTHER = ("compile", "match", "search", "fullmatch", "finditer", "subn")


def regular_expressions(machine: Machine) -> Namespace:
    """The module."""

    def known(name: str) -> Native:
        function, texts = GIVING_TEXTS[name]

        def applied(*given: Value, **options: Value) -> Value:
            plain = len(given) == texts and not options and all(map(_is_short, given))
            if not plain or len(QUANTIFIERS.findall(CHARACTERS.sub("", given[0]))) > 1:
                return machine.unknown(f"the result of re.{name}")
            return function(*given)

        return Native(f"re.{name}", applied, plain=False)

    def unknown(name: str) -> Native:
        return Native(
            f"re.{name}", lambda *_, **__: machine.unknown(f"the result of re.{name}"), plain=False
        )

    names: dict[str, Value] = {name: known(name) for name in GIVING_TEXTS}
    names |= {name: unknown(name) for name in OTHER}
    return Namespace("re", names | {name: getattr(re, name) for name in FLAGS})


def _is_short(value: Value) -> bool:
    return isinstance(value, str) and len(value) <= LONGEST


class Queue(list["Value"]):
    """A ``deque``, which holds ``most`` values if that is set."""

    def __init__(self, most: int | None) -> None:
        super().__init__()
        self.most = most


def queue(machine: Machine, values: Value = (), maxlen: Value = None) -> Value:
    """``deque(values, maxlen)``."""
    if maxlen is not None and not isinstance(maxlen, int):
        return machine.unknown("a queue of a length that is not known")
    found = Queue(maxlen)
    _extend(machine, found, values)
    return found


def _extend(machine: Machine, owner: Queue, more: Value) -> None:
    found = list(machine.iterate(more))
    machine.bounded(len(owner) + len(found))
    owner += found
    _drop_first(owner)


def _append(_machine: Machine, owner: Queue, value: Value) -> None:
    owner += [value]
    _drop_first(owner)


def _append_left(_machine: Machine, owner: Queue, value: Value) -> None:
    owner[:0] = [value]
    _drop_last(owner)


def _extend_left(machine: Machine, owner: Queue, more: Value) -> None:
    found = list(machine.iterate(more))
    machine.bounded(len(owner) + len(found))
    owner[:0] = found[::-1]
    _drop_last(owner)


def _pop_left(_machine: Machine, owner: Queue) -> Value:
    if not owner:
        raise IndexError("pop from an empty deque")
    return owner.pop(0)


def _rotate(_machine: Machine, owner: Queue, by: int = 1) -> None:
    by = by % len(owner) if owner else 0
    owner[:] = owner[len(owner) - by :] + owner[: len(owner) - by]


def _drop_first(owner: Queue) -> None:
    if owner.most is not None and len(owner) > owner.most:
        del owner[: len(owner) - owner.most]


def _drop_last(owner: Queue) -> None:
    if owner.most is not None:
        del owner[owner.most :]


METHODS: dict[str, Callable[..., Value]] = {
    "append": _append,
    "appendleft": _append_left,
    "extend": _extend,
    "extendleft": _extend_left,
    "popleft": _pop_left,
    "rotate": _rotate,
}
