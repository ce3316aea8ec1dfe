"""``pydantic``: classes whose objects are made of settings, as their annotations say."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from nanolint.interpreter.copies import copied
from nanolint.interpreter.scopes import MISSING
from nanolint.interpreter.values import Class, Function, Namespace, Native, Static
from nanolint.tape.symbolic import as_key

if TYPE_CHECKING:
    from nanolint.interpreter.machine import Machine
    from nanolint.interpreter.values import Instance, Value

ANNOTATIONS = "__annotations__"
# What a value is checked or changed by that a class says more of; the mark of such a function.
VALIDATORS = ("field_validator", "model_validator", "validator", "root_validator")
MARK = "__validator__"
PLAIN: dict[str, type] = {"int": int, "float": float, "str": str}
_NAME = re.compile(r"[A-Za-z_]\w*")
_LISTED = re.compile(r"(?:list|List)\[(.+)\]")


def converted(machine: Machine, cls: Class, name: str, value: Value) -> Value:
    """Returns the value of a field that is given ``value``: an object of the class of its
    annotation."""
    return _as_annotated(machine, cls, _annotation(cls, name), value)


def _as_annotated(machine: Machine, cls: Class, shown: str, value: Value) -> Value:
    listed = _LISTED.fullmatch(shown)
    if listed is not None and isinstance(value, (list, tuple)):
        return [_as_annotated(machine, cls, listed[1], each) for each in value]
    if isinstance(value, (list, dict)):
        value = copied(value, {})
    kinds = [cls.module.names.get(each) for each in _NAME.findall(shown)]
    for kind in kinds:
        if isinstance(kind, Class) and isinstance(value, dict) and kind.has(ANNOTATIONS):
            return machine.instantiate(kind, [], dict(value))
        members = kind.names.get("__members__", {}) if isinstance(kind, Class) else {}
        for member in members.values():
            if type(value) is str and as_key(member.attributes["value"]) == value:
                return member
    if shown in PLAIN and type(value) in (int, float, str, bool):
        return machine.convert(PLAIN[shown], [value], {})
    return value


def _annotation(cls: Class, name: str) -> str:
    for each in cls.mro:
        shown = each.names.get(ANNOTATIONS, {}).get(name)
        if isinstance(shown, str):
            return shown.strip("\"'")
    return ""


def tell_validators(machine: Machine, cls: Class) -> None:
    """Notes an assumption if a class has functions of its own that check or change its values."""
    for each in cls.mro:
        for name, value in each.names.items():
            function = value.function if isinstance(value, Static) else value
            if isinstance(function, Function) and MARK in function.attributes:
                machine.card.tape.assume(
                    f"assuming that {cls.name}.{name} does not change the value that it checks"
                )


def pydantic(base: Class, field: Native) -> Namespace:
    """The module; ``base`` is its BaseModel, ``field`` makes fields."""

    def marks(*_: Value, **__: Value) -> Native:
        return Native("validator", _marked, plain=False)

    names: dict[str, Value] = {
        "BaseModel": base,
        "Field": field,
        "ConfigDict": Native("ConfigDict", lambda **given: given),
        **{each: Native(each, marks, plain=False) for each in VALIDATORS},
    }
    return Namespace("pydantic", names)


def _marked(function: Value) -> Value:
    inner = function.function if isinstance(function, Static) else function
    if isinstance(inner, Function):
        inner.attributes[MARK] = True
    return function


def dumps(value: Instance) -> Native:
    """``model_dump``."""
    return Native("model_dump", lambda *_, **__: plain(value), plain=False)


def plain(value: Instance) -> dict[str, Value]:
    """The fields of an object, and of those in it."""
    return {name: _plain(each) for name, each in value.attributes.items()}


def _plain(value: Value) -> Value:
    attributes = getattr(value, "attributes", MISSING)
    is_record = attributes is not MISSING and getattr(value, "cls", MISSING) is not MISSING
    return plain(value) if is_record and value.cls.has(ANNOTATIONS) else value
