"""Classes and their objects: definition, attributes and descriptors, inheritance, enumerations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.interpreter.certain import certain
from nanolint.interpreter.records import VALIDATES, Field, check_frozen, fields_of, fill, made_by
from nanolint.interpreter.scopes import Frame, Kind
from nanolint.interpreter.torch import signatures
from nanolint.interpreter.torch.modules import TABLES, Table
from nanolint.interpreter.values import (
    ANNOTATION,
    MADE_BY,
    Class,
    Function,
    Instance,
    Method,
    Namespace,
    Native,
    Partial,
    Property,
    Static,
    Super,
    Unknown,
    Value,
    silent,
)
from nanolint.run.stop import Cause
from nanolint.tensors.parameter import LeafTensor, Parameter, Registered

if TYPE_CHECKING:
    import ast

    from nanolint.interpreter.machine import Machine

INHERITED = frozenset(dir(object))  # what every object has
WRAPPERS = ("DataParallel", "DistributedDataParallel")
OF_OBJECTS = frozenset({"__class__", "__dict__"})  # what an object is, and not what it has


def define(machine: Machine, node: ast.ClassDef, frame: Frame) -> Class:
    """The class of a ``class`` statement."""
    bases = tuple(
        each
        for each in (machine.evaluate(base, frame) for base in node.bases)
        if each is not object and each is not ANNOTATION
    )
    around = None if frame.kind is Kind.MODULE else frame
    inner = Frame(frame.module, {}, around, kind=Kind.CLASS)
    machine.execute(node.body, inner)
    cls = Class(node.name, bases, inner.names, frame.module)
    for value in inner.names.values():
        _own(cls, value)
    if any(each is machine.enumeration for each in cls.mro[1:]):
        _enumerate(cls)
    if any(each is machine.named_tuple or VALIDATES in each.names for each in cls.mro[1:]):
        cls.names["__dataclass__"] = {}
    tell(machine, cls, node, frame)
    return cls


def _own(cls: Class, value: Value) -> None:
    """Tell a function which class it is written in, for ``super()``."""
    if isinstance(value, Function) and value.owner is None:
        value.owner = cls
    elif isinstance(value, Property):
        _own(cls, value.getter)
        _own(cls, value.setter)
    elif isinstance(value, (Static, Method)):
        _own(cls, value.function)


def _enumerate(cls: Class) -> None:
    for name, value in list(cls.names.items()):
        if not name.startswith("_") and not isinstance(value, (Function, Property, Static)):
            member = Instance(cls)
            member.attributes |= {"name": name, "value": value, "_value_": value}
            if isinstance(value, str) and cls.native_base() is str:
                member.native = value
            cls.names[name] = member
    cls.names["__members__"] = {
        name: value for name, value in cls.names.items() if isinstance(value, Instance)
    }


def instantiate(
    machine: Machine, cls: Class, arguments: list[Value], keywords: dict[str, Value]
) -> Value:
    """A new object of ``cls``."""
    for each in cls.mro:
        if each.tell is not None:
            each.tell()
    if "__members__" in cls.names and arguments:
        for member in cls.names["__members__"].values():
            if member.attributes["value"] == arguments[0]:
                return member
        raise ValueError(f"{arguments[0]!r} is not a valid {cls.name}")
    made = machine.created(Instance(cls))
    base = cls.native_base()
    if base is not None and issubclass(base, dict):
        made.native = {}
    elif base is not None and issubclass(base, list | tuple):
        made.native = base(machine.iterate(arguments[0])) if arguments else base()
    record = made_by(cls)
    if record is not None:
        fill(machine, record, made, arguments, keywords)
    elif cls.has("__init__"):
        machine.call(Method(cls.find("__init__"), made), arguments, keywords)
    elif isinstance(made.native, dict):
        made.native.update(*arguments, **keywords)
    elif base is not None:
        made.attributes["args"] = tuple(arguments)
    elif cls.unknown is not None:
        made.attributes |= keywords
    elif arguments or keywords:
        raise TypeError(f"{cls.name}() takes no arguments")
    return made


def attribute(machine: Machine, owner: Value, name: str) -> Value:
    """``owner.name`` of an object, a class, a module or a function of the program.

    Raises AttributeError if it has none.
    """
    if isinstance(owner, Instance):
        return _of_instance(machine, owner, name)
    if isinstance(owner, Super):
        for cls in owner.behind():
            if name in cls.names:
                return _bind(machine, cls.names[name], owner.instance)
        return _behind_all(machine, owner, name)
    if isinstance(owner, Class):
        return _of_class(machine, owner, name)
    if isinstance(owner, Namespace):
        return machine.member(owner, name)
    if isinstance(owner, Function):
        if name in owner.attributes:
            return owner.attributes[name]
        if name in ("__name__", "__qualname__"):
            return owner.name
        if name in ("__doc__", "__code__"):
            return owner.code() if name == "__code__" else None
        if MADE_BY in owner.attributes:
            return owner.attributes[MADE_BY].bare()
    if isinstance(owner, Method):
        if name == "__self__":
            return owner.owner
        if name == "__func__":
            return owner.function
        return attribute(machine, owner.function, name)
    if isinstance(owner, Partial) and name == "func":
        return owner.function
    if isinstance(owner, Property) and name == "setter":
        return Native("setter", lambda setter: owner._replace(setter=setter))
    if isinstance(owner, Native) and name in ("__name__", "__qualname__"):
        return owner.name.rpartition(".")[2]
    raise AttributeError(f"{owner!r} has no attribute '{name}'")


def _of_instance(machine: Machine, owner: Instance, name: str) -> Value:
    attributes = owner.attributes
    if name in attributes:
        return attributes[name]
    for cls in owner.cls.mro:
        if name in cls.names:
            return _bind(machine, cls.names[name], owner, name)
    if name == "__class__":
        return owner.cls
    if name == "__dict__":
        return attributes
    if owner.cls.is_module and name in TABLES:
        return Table(owner, name)
    if isinstance(owner.native, dict) and hasattr(dict, name):
        return machine.attribute(owner.native, name)
    if owner.cls.has("__getattr__") and name not in INHERITED:
        return machine.call(Method(owner.cls.find("__getattr__"), owner), [name])
    if owner.native is not None:
        return machine.attribute(owner.native, name)
    if owner.cls.unknown is not None:
        return owner.cls.unknown
    if owner.opened is not None:
        return owner.opened
    error = AttributeError(f"'{owner.cls.name}' object has no attribute '{name}'")
    if _is_of_wrapped(owner, name):
        raise certain(error, anywhere=True)
    raise certain(error) if signatures.has_no(owner.cls, name) else error


def _is_of_wrapped(owner: Instance, name: str) -> bool:
    """Whether the module has it that a wrapper of PyTorch's holds: ``ddp.generate``."""
    inner = owner.attributes.get("module") if owner.cls.name in WRAPPERS else None
    return isinstance(inner, Instance) and (name in inner.attributes or inner.cls.has(name))


def _bind(machine: Machine, value: Value, owner: Value, name: str = "") -> Value:
    """What a value of a class is as an attribute of its object."""
    if isinstance(value, (Function, Native, Partial)):
        if isinstance(owner, Class):
            return value
        return Method(value, owner) if not isinstance(value, Partial) else value
    if isinstance(value, Property):
        found = machine.call(value.getter, [owner])
        if value.cached and isinstance(owner, Instance):
            owner.attributes[name] = found
        return found
    if isinstance(value, Static):
        if not value.of_class:
            return value.function
        return Method(value.function, owner if isinstance(owner, Class) else owner.cls)
    if isinstance(value, Field):
        return value.default
    if stands_in(value, "__get__"):
        return get(machine, value, owner)
    return value


def _behind_all(machine: Machine, owner: Super, name: str) -> Value:
    """What every class inherits from ``object``."""
    cls = owner.instance if isinstance(owner.instance, Class) else owner.instance.cls
    if cls.unknown is not None:
        return cls.unknown
    if name == "__init__":
        return silent("object.__init__")
    if name == "__init_subclass__":
        return silent("object.__init_subclass__")
    if name == "__setattr__":
        return Native(
            "object.__setattr__",
            lambda key, value: machine.bind(owner.instance.attributes, key, value),
            plain=False,
        )
    if isinstance(owner.instance, Instance) and owner.instance.native is not None:
        return machine.attribute(owner.instance.native, name)
    error = AttributeError(f"'super' object has no attribute '{name}'")
    is_slip = name[:2] == "__" != name[-2:] and signatures.is_alike(name, dir(object))
    raise certain(error) if is_slip else error


def _of_class(machine: Machine, owner: Class, name: str) -> Value:
    for cls in owner.mro:
        if name in cls.names:
            return _bind(machine, cls.names[name], owner)
    if name in ("__name__", "__qualname__"):
        return owner.name
    if name == "__mro__":
        return owner.mro
    if name == "__dict__":
        return {**owner.names}
    if name == "__module__":
        return owner.module.name
    if name == "__doc__":
        return None
    if name == "__dataclass_fields__" and owner.has("__dataclass__"):
        return dict.fromkeys(fields_of(owner))
    if name == "__init__":
        return silent("object.__init__")
    if owner.unknown is not None:
        return owner.unknown
    raise AttributeError(f"type object '{owner.name}' has no attribute '{name}'")


def _is_submodule(value: Value) -> bool:
    return isinstance(value, Instance) and value.cls.is_module


def set_attribute(machine: Machine, owner: Value, name: str, value: Value) -> None:
    """``owner.name = value``."""
    if isinstance(owner, Instance) and name in OF_OBJECTS:
        if name != "__class__" or not isinstance(value, Class):
            raise machine.unread(f"an object with another {name} is not known")
        owner.cls = value
    elif isinstance(owner, Instance):
        for cls in owner.cls.mro:
            found = cls.names.get(name)
            if isinstance(found, Property):
                if not found.cached and found.setter is not None:
                    machine.call(found.setter, [owner, value])
                    return
                if not found.cached:
                    raise AttributeError(f"'{owner.cls.name}' cannot set '{name}'")
            if stands_in(found, "__set__"):
                put(machine, found, owner, value)
                return
        if owner.cls.has("__setattr__"):
            machine.call(Method(owner.cls.find("__setattr__"), owner), [name, value])
            return
        check_frozen(owner, name)
        kind = "parameters" if type(value) is Parameter else "module"
        is_part = type(value) is Parameter or _is_submodule(value)
        if is_part and owner.cls.is_module and "training" not in owner.attributes:
            words = f"cannot assign {kind} before Module.__init__() call"
            raise certain(AttributeError(words), Cause.ARGUMENT)
        if isinstance(value, LeafTensor) and owner.cls.is_module:  # which does not own it
            raise machine.unread(
                "nanolint does not model a module's trainable tensor that is not a parameter"
            )
        if isinstance(value, Registered) and owner.cls.is_module:
            register = machine.attribute(owner, "register_buffer")
            machine.call(register, [name, value, value.persistent])
            return
        machine.bind(owner.attributes, name, value)
    elif isinstance(owner, (Class, Namespace)):
        machine.bind(owner.names, name, value)
    elif isinstance(owner, Function):
        machine.bind(owner.attributes, name, value)
    elif isinstance(owner, Method):
        set_attribute(machine, owner.function, name, value)
    elif isinstance(owner, Unknown):
        return
    else:
        machine.set_native(owner, name, value)


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
