"""Frozen data classes that are made in a fifth of the time.

``dataclass`` is that of the standard library, and ``fields``, ``replace`` and ``asdict`` work on
what it makes. The standard library looks at each field of each class, and writes and compiles six
methods: for the classes of one command a quarter of its time. Here it looks at those that somebody
asks about, and ``__init__`` alone is compiled.
"""

from __future__ import annotations

import dataclasses
import operator
from dataclasses import MISSING, Field, FrozenInstanceError, field, fields
from functools import partial
from itertools import count
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NoReturn

__all__ = ["dataclass"]

FIELDS, PARAMETERS = "__dataclass_fields__", "__dataclass_params__"
OF_ITS_OWN = "__dict__", "__weakref__"  # which a class without slots has
FEW = 12  # objects: compiling takes as long as filling twenty

if TYPE_CHECKING:
    from collections.abc import Callable
    from dataclasses import dataclass

    Fields = tuple[Field[Any], ...]
    Methods = dict[str, Callable[..., Any]]
else:

    def dataclass(cls=None, /, **options):
        """``dataclasses.dataclass``, made quickly where it is frozen."""
        others = {name: value for name, value in options.items() if name != "frozen"}
        if cls is None and options.get("frozen") and others.keys() <= {"slots", "order"}:
            return partial(_frozen, **others)
        return dataclasses.dataclass(cls, **options)


def _frozen(cls: type[Any], *, slots: bool = False, order: bool = False) -> type[Any]:
    fields = _fields(cls)
    own = [name for name in cls.__annotations__ if name in fields]
    for name in own:
        if name in cls.__dict__:
            delattr(cls, name)
        if not slots and fields[name].default is not MISSING:
            setattr(cls, name, fields[name].default)
    cls = _slotted(cls, own) if slots else cls
    parts = tuple(fields.values())
    methods = {
        "__init__": _init_later(cls, parts, slots=slots),
        "__repr__": _repr,
        "__reduce__": _reduce,
        "__setattr__": _refuse,
        "__delattr__": _refuse,
        "__match_args__": tuple(fields),
        FIELDS: _Later(cls, fields),
        **_comparisons([part.name for part in parts if part.compare], order=order),
    }
    for name, method in methods.items():
        if name not in cls.__dict__:
            setattr(cls, name, method)
    return cls


def _fields(cls: type[Any]) -> dict[str, Field[Any]]:
    """The fields by their names, those of its bases first."""
    found: dict[str, Field[Any]] = {}
    for base in cls.__mro__[:0:-1]:
        known = base.__dict__.get(FIELDS, {})
        found |= known.fields if isinstance(known, _Later) else known
    for name, kind in cls.__annotations__.items():
        if "ClassVar[" in str(kind):
            continue
        given = cls.__dict__.get(name, MISSING)
        part = found[name] = given if isinstance(given, Field) else field(default=given)
        part.name, part.type = name, kind
    return found


def _slotted(cls: Any, own: list[str]) -> type[Any]:
    """The class with a slot for each field of its own."""
    names = {name: each for name, each in cls.__dict__.items() if name not in OF_ITS_OWN}
    known = [name for base in cls.__mro__[1:] for name in base.__dict__.get("__slots__", ())]
    names["__slots__"] = tuple(name for name in own if name not in known)
    made: type[Any] = type(cls)(cls.__name__, cls.__bases__, names)
    made.__qualname__ = cls.__qualname__
    return made


class _Later:
    """``__dataclass_fields__``, which the standard library makes once it asks for them."""

    def __init__(self, owner: type[Any], fields: dict[str, Field[Any]]) -> None:
        self._owner, self.fields = owner, fields

    def __get__(self, _: object, _cls: type[Any]) -> dict[str, Field[Any]]:
        kinds = {name: each.type for name, each in self.fields.items()}
        names = {
            "__annotations__": kinds,
            "__module__": self._owner.__module__,
            "__doc__": self._owner.__doc__ or self._owner.__name__,
            **self.fields,
        }
        twin: type[Any] = type(self._owner.__name__, (), names)
        made = dataclasses.dataclass(init=False, repr=False, eq=False)(twin)
        found: dict[str, Field[Any]] = getattr(made, FIELDS)
        setattr(self._owner, FIELDS, found)
        setattr(self._owner, PARAMETERS, getattr(made, PARAMETERS))
        return found


def _init_later(cls: type[Any], parts: Fields, *, slots: bool) -> Callable[..., None]:
    """``_init``, compiled once there are more than a FEW objects: of most classes a command makes
    none or one, which are filled field by field."""
    names = [part.name for part in parts]
    known, made = frozenset(names), count(1)

    def init(self: object, *values: Any, **named: Any) -> None:
        given = dict(zip(names, values, strict=False)) | named
        is_well = len(given) == len(values) + len(named) and given.keys() <= known
        if next(made) > FEW or not is_well or not _fill(self, parts, given, slots=slots):
            compiled = _init(cls, parts, slots=slots)
            cls.__init__ = compiled
            compiled(self, *values, **named)

    return init


def _fill(self: Any, parts: Fields, given: dict[str, Any], *, slots: bool) -> bool:
    """Put each field in its place; whether all are given, or have defaults."""
    for part in parts:
        value = given.get(part.name, part.default)
        if value is MISSING:
            if not callable(part.default_factory):
                return False
            value = part.default_factory()
        if slots:
            object.__setattr__(self, part.name, value)
        else:
            self.__dict__[part.name] = value
    if hasattr(self, "__post_init__"):
        self.__post_init__()
    return True


def _init(cls: type[Any], parts: Fields, *, slots: bool) -> Callable[..., None]:
    """Takes each field as a parameter and puts it in its place, past ``__setattr__``."""
    names: dict[str, Any] = {"MISSING": MISSING}
    parameters, lines = ["self"], []
    for part in parts:
        name, value = part.name, part.name
        if slots:
            names[f"_set_{name}"] = getattr(cls, name).__set__
        if part.default_factory is not MISSING:
            names[f"_make_{name}"] = part.default_factory
            value = f"_make_{name}() if {name} is MISSING else {name}"
            parameters.append(f"{name}=MISSING")
        elif part.default is not MISSING:
            names[f"_default_{name}"] = part.default
            parameters.append(f"{name}=_default_{name}")
        else:
            parameters.append(name)
        lines.append(
            f" _set_{name}(self, {value})" if slots else f" self.__dict__[{name!r}] = {value}"
        )
    if hasattr(cls, "__post_init__"):
        lines.append(" self.__post_init__()")
    text = f"def __init__({', '.join(parameters)}):\n" + ("\n".join(lines) or " pass")
    made: Methods = {}
    exec(text, names, made)
    made["__init__"].__qualname__ = f"{cls.__qualname__}.__init__"  # for whoever calls it wrongly
    return made["__init__"]


def _comparisons(names: list[str], *, order: bool) -> Methods:
    """Two are equal if they are of one class and their fields are, and ordered as these are."""
    values = attrgetter(*names, "__class__")  # a tuple, also of one field or none

    def equal(self: object, other: object) -> Any:
        if other.__class__ is not self.__class__:
            return NotImplemented
        return values(self) == values(other)

    def hashed(self: object) -> int:
        return hash(values(self))

    methods: Methods = {"__eq__": equal, "__hash__": hashed}
    if order:
        methods |= {f"__{name}__": _ordered(values, name) for name in ("lt", "le", "gt", "ge")}
    return methods


def _ordered(values: Callable[[object], Any], name: str) -> Callable[[object, object], Any]:
    compare = getattr(operator, name)

    def ordered(self: object, other: object) -> Any:
        if other.__class__ is not self.__class__:
            return NotImplemented
        return compare(values(self), values(other))

    return ordered


def _repr(self: Any) -> str:
    shown = (f"{part.name}={getattr(self, part.name)!r}" for part in fields(self) if part.repr)
    return f"{self.__class__.__qualname__}({', '.join(shown)})"


def _reduce(self: Any) -> tuple[Any, ...]:
    return self.__class__, tuple(getattr(self, part.name) for part in fields(self))


def _refuse(self: object, name: str, *_: object) -> NoReturn:
    raise FrozenInstanceError(f"cannot change field {name!r} of a frozen {type(self).__name__}")
