"""Classes of records, as Python's ``dataclasses``, attrs and pydantic make them.

Their fields, the ``__init__`` that they have, and what ``@dataclass`` refuses.
"""

from __future__ import annotations

from dataclasses import FrozenInstanceError
from functools import partial
from typing import TYPE_CHECKING

from nanolint.interpreter import validated
from nanolint.interpreter.calls import misfit
from nanolint.interpreter.certain import certain
from nanolint.interpreter.copies import shallow
from nanolint.interpreter.scopes import MISSING
from nanolint.interpreter.validated import converted, tell_validators
from nanolint.interpreter.values import Class, Instance, Method, Namespace, Native, Property

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from nanolint.interpreter.machine import Machine
    from nanolint.interpreter.values import Value

MARK = "__dataclass__"  # the name in a class under which its decorator's options are kept
VALIDATES = "__validates__"  # that of pydantic's BaseModel, of which every heir is a record


class Field:
    """``dataclasses.field``."""

    def __init__(
        self,
        default: Value = MISSING,
        default_factory: Value = MISSING,
        init: bool = True,
        kw_only: bool = False,
    ) -> None:
        self.default = default
        self.factory = default_factory
        self.init = init
        self.kw_only = kw_only


def made_by(cls: Class) -> Class | None:
    """The class whose generated ``__init__`` makes an object of ``cls``: the nearest one that is
    decorated; None if one before it is written out."""
    for each in cls.mro:
        if "__init__" in each.names:
            return None
        if MARK in each.names:
            return each
    return None


def fields_of(cls: Class) -> dict[str, Value]:
    """The fields of a dataclass with their defaults, ``MISSING`` if there is none.

    An annotation of a class that is not decorated is not a field.
    """
    found: dict[str, Value] = {}
    for each in reversed(cls.mro):
        if MARK in each.names:
            for name in each.names.get("__annotations__", {}):
                found[name] = each.names.get(name, MISSING)
    return found


def decorate(
    machine: Machine, cls: Class, options: dict[str, Value], any_default: bool = False
) -> None:
    """``@dataclass``. Raises what it raises of fields that cannot be; attrs takes any default."""
    cls.names[MARK] = options
    for name in () if any_default else cls.names.get("__annotations__", {}):
        _refuse(machine, name, cls.names.get(name, MISSING))
    seen = ""
    for name, default in _in_order(cls):
        has_none = default is MISSING
        if isinstance(default, Field):
            if not default.init or default.kw_only:
                continue
            has_none = default.default is MISSING and default.factory is MISSING
        if not has_none:
            seen = name
        elif seen:
            raise certain(TypeError(f"non-default argument '{name}' follows default argument"))


def _refuse(machine: Machine, name: str, default: Value) -> None:
    value = default.default if isinstance(default, Field) else default
    kind = ""
    if isinstance(value, (list, dict, set)):
        kind = type(value).__name__
    elif isinstance(value, Instance) and isinstance(value.native, (list, dict, set)):
        kind = value.cls.name
    if kind:
        refused = f"mutable default <class '{kind}'> for field {name} is not allowed"
        raise certain(ValueError(f"{refused}: use default_factory"))
    if isinstance(value, Instance) and _is_unhashable(value.cls):
        machine.card.tape.assume(
            f"Python is older than 3.11, which refuses a {value.cls.name} as the default of a "
            f"dataclass's field {name}"
        )


def _is_unhashable(cls: Class) -> bool:
    for each in cls.mro:
        if "__hash__" in each.names:
            return False
        if "__eq__" in each.names:
            return True
        if MARK in each.names:
            options = each.names[MARK]
            if options.get("eq", True) is True:
                return not (options.get("frozen") is True or options.get("unsafe_hash") is True)
    return False


def _in_order(cls: Class) -> Iterator[tuple[str, Value]]:
    """The fields that can be given by their place; none where some are given by name alone."""
    for each in cls.mro:
        options = each.names.get(MARK, {})
        shown = each.names.get("__annotations__", {}).values()
        if options.get("kw_only", False) is not False or options.get("init", True) is not True:
            return
        if any(isinstance(text, str) and "KW_ONLY" in text for text in shown):
            return
    yield from fields_of(cls).items()


def check_frozen(owner: Instance, name: str) -> None:
    """Raise what an assignment to a field of a frozen dataclass raises."""
    for each in owner.cls.mro:
        if each.names.get(MARK, {}).get("frozen") is True and (
            owner.cls is each or name in fields_of(each)
        ):
            raise certain(FrozenInstanceError(f"cannot assign to field '{name}'"))


def fill(
    machine: Machine,
    cls: Class,
    made: Instance,
    arguments: list[Value],
    keywords: dict[str, Value],
) -> None:
    """The ``__init__`` that ``cls`` has, for an object of it or of a class that extends it."""
    fields = fields_of(cls)
    is_checked = cls.has(VALIDATES)
    if is_checked:
        tell_validators(machine, cls)
    if len(arguments) > len(fields):
        raise misfit(cls, f"takes {len(fields)} arguments")
    passed = dict(zip(fields, arguments, strict=False)) | keywords
    for name in passed:
        if name not in fields and not is_checked:
            raise misfit(cls, f"got an unexpected keyword argument '{name}'")
    for name, default in fields.items():
        value = passed.get(name, MISSING)
        if value is MISSING:
            value = default
            if isinstance(default, Field):
                value = default.default
                if default.factory is not MISSING:
                    value = machine.call(default.factory, [])
                if value is MISSING and not default.init:
                    continue  # __post_init__ sets it
        if value is MISSING:
            raise TypeError(f"{cls.name}() missing 1 required positional argument: '{name}'")
        made.attributes[name] = converted(machine, cls, name, value) if is_checked else value
    if made.cls.has("__post_init__"):
        machine.call(Method(made.cls.find("__post_init__"), made), [])


def dataclasses(machine: Machine) -> Namespace:
    """``dataclasses``."""

    def listed(value: Value) -> tuple[Value, ...]:
        cls = value.cls if isinstance(value, Instance) else value
        return tuple(_told(machine, name, each) for name, each in fields_of(cls).items())

    return Namespace(
        "dataclasses",
        {
            "dataclass": Native("dataclass", _decorator(machine), plain=False),
            "field": Native(
                "field",
                lambda default=MISSING, default_factory=MISSING, init=True, kw_only=False, **_: (
                    Field(default, default_factory, init, kw_only)
                ),
                plain=False,
            ),
            "asdict": Native("asdict", _asdict),
            "replace": Native("replace", partial(_replace, machine), plain=False),
            "fields": Native("fields", listed),
            "is_dataclass": Native(
                "is_dataclass",
                lambda value: (
                    (isinstance(value, Instance) and value.cls.has("__dataclass__"))
                    or (isinstance(value, Class) and value.has("__dataclass__"))
                ),
            ),
        },
    )


def _told(machine: Machine, name: str, default: Value) -> Namespace:
    """A field, as the program sees it; of one without a default that is not known."""
    if isinstance(default, Field):
        has_factory = default.factory is not MISSING
        default = machine.call(default.factory, []) if has_factory else default.default
    if default is MISSING:
        default = machine.unknown(f"the default of {name}")
    return Namespace("field", {"name": name, "default": default})


def attrs(machine: Machine) -> Namespace:
    """Returns the names of ``attr`` and ``attrs`` that take a class's annotations for its fields.

    ``attr.dataclass`` is what an editor offers first if ``dataclass`` is not imported.
    """
    decorator = _decorator(machine, any_default=True)
    made = Native("define", decorator, plain=False)
    return Namespace(
        "attrs",
        {
            **dict.fromkeys(("dataclass", "define", "mutable"), made),
            "frozen": Native("frozen", partial(decorator, frozen=True), plain=False),
            "field": Native(
                "field",
                lambda default=MISSING, factory=MISSING, init=True, kw_only=False, **_: Field(
                    default, factory, init, kw_only
                ),
                plain=False,
            ),
            "asdict": Native("asdict", _asdict),
            "evolve": Native("evolve", partial(_replace, machine), plain=False),
        },
    )


def pydantic() -> Namespace:
    """``pydantic``: what extends its BaseModel has the fields that it annotates."""

    def field(default: Value = MISSING, default_factory: Value = MISSING, **_: Value) -> Field:
        return Field(MISSING if default is ... else default, default_factory)

    dump = Property(Native("model_dump", validated.dumps))
    copy = Property(Native("model_copy", _copies, plain=False))
    names: dict[str, Value] = {VALIDATES: True, "model_dump": dump, "dict": dump}
    base = Class("BaseModel", (), {**names, "model_copy": copy}, Namespace("pydantic", {}))
    return validated.pydantic(base, Native("Field", field, plain=False))


def _copies(value: Instance) -> Native:
    """``model_copy``."""

    def copy(update: Value = None, **_: Value) -> Instance:
        made: Instance = shallow(value)
        made.attributes |= update or {}
        return made

    return Native("model_copy", copy, plain=False)


def _decorator(machine: Machine, any_default: bool = False) -> Callable[..., Value]:
    def dataclass(cls: Value = None, **options: Value) -> Value:
        if cls is None:
            return Native("dataclass", partial(dataclass, **options), plain=False)
        decorate(machine, cls, options, any_default)
        return cls

    return dataclass


def _asdict(value: Instance) -> dict[str, Value]:
    return {name: _as_plain(value.attributes[name]) for name in fields_of(value.cls)}


def _as_plain(value: Value) -> Value:
    if isinstance(value, Instance) and value.cls.has("__dataclass__"):
        return _asdict(value)
    return value


def _replace(machine: Machine, value: Instance, **changes: Value) -> Instance:
    passed = {name: value.attributes[name] for name in fields_of(value.cls)} | changes
    made: Instance = machine.instantiate(value.cls, [], passed)
    return made
