"""Libraries that make records of classes: Python's ``dataclasses``, attrs and pydantic."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from nanolint.interpreter import validated
from nanolint.interpreter.copies import shallow
from nanolint.interpreter.records import VALIDATES, Field, decorate, fields_of
from nanolint.interpreter.scopes import MISSING
from nanolint.interpreter.values import Class, Instance, Namespace, Native, Property

if TYPE_CHECKING:
    from collections.abc import Callable

    from nanolint.interpreter.machine import Machine
    from nanolint.interpreter.values import Value


def dataclasses(machine: Machine) -> Namespace:
    """``dataclasses``."""

    def listed(value: Value) -> tuple[Value, ...]:
        cls = value.cls if isinstance(value, Instance) else value
        return tuple(Namespace("field", {"name": name}) for name in fields_of(cls))

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
