"""Calls: how arguments reach names, and who holds them until when.

A function of the program takes its arguments over from the caller; what Python calls in C holds
them until it returns, and so does a module, whose ``__call__`` passes them on from a tuple.

If the program calls its own function with arguments that do not fit, Python refuses them. A
library may call it otherwise, and a function under an unknown decorator may take other arguments:
then it is not certain.
"""

from __future__ import annotations

import ast
from functools import partial
from typing import TYPE_CHECKING

from nanolint.interpreter.certain import certain, is_certain, refusal
from nanolint.interpreter.counted import plain as unnoted
from nanolint.interpreter.machine import DEPTH
from nanolint.interpreter.scopes import MISSING, Frame, generates
from nanolint.interpreter.torch import signatures
from nanolint.interpreter.torch.constructors import construct
from nanolint.interpreter.torch.modules import HOOKS, PRE_HOOKS, make_parameter
from nanolint.interpreter.values import (
    ANNOTATION,
    MADE_BY,
    NOT_COMPILED,
    PARAMETER,
    READ,
    TELLS,
    Class,
    Function,
    Generated,
    Instance,
    Manager,
    Method,
    Namespace,
    Native,
    Partial,
    Static,
    TensorClass,
    Unknown,
)
from nanolint.interpreter.watched import LOOKED_INTO, look
from nanolint.run.stop import Cause
from nanolint.tensors.dtypes import OF_PYTHON
from nanolint.tensors.tensor import Tensor
from nanolint.tensors.unknown import Refused

if TYPE_CHECKING:
    from collections.abc import Iterable

    from nanolint.interpreter.machine import Machine
    from nanolint.interpreter.values import Value


_CALLEE = "_nanolint_callee"


def misfit(callee: Function | Class, what: str) -> TypeError:
    """Returns the error of Python for a function or a class that does not take its arguments."""
    error = TypeError(f"{callee.name}() {what}")
    setattr(error, _CALLEE, callee)
    return error


def settle(error: TypeError, called: Value) -> None:
    """Marks the error of a call of the program as certain, if it is about the arguments."""
    callee = getattr(error, _CALLEE, None)
    if callee is not None and callee is _callee(called):
        certain(error)


def _callee(called: Value) -> Function | Class | None:
    """What takes the arguments of a call; None where that may be something else."""
    if isinstance(called, Method):
        called = called.function
    elif isinstance(called, Instance):
        called = _known(called.cls, "__call__" if called.cls.has("__call__") else "forward")
    elif isinstance(called, Class):
        if not called.has("__init__"):
            return called if _is_plain(called) else None
        called = _known(called, "__init__")
    if not isinstance(called, Function) or TELLS in called.attributes:
        return None
    return called if called.module.path else None  # PyTorch's may take more than nanolint's


def _known(cls: Class, name: str) -> Value:
    return cls.find(name) if _is_plain(cls) and cls.has(name) else None


def _is_plain(cls: Class) -> bool:
    """Whether all of its bases are known, no decorator is unknown, and it makes its objects."""
    is_own = cls.unknown is None and not cls.has("__new__")
    return is_own and all(each.tell is None for each in cls.mro)


NEVER_CALLED = frozenset({dict, list, set})  # whatever else is not known
# What goes on with the number of a turn, or decides a size by it.
WORK_OUT = frozenset({"abs", "divmod", "max", "min", "pow", "round", "sum", "dict.get"})
OPERATIONS = ("torch.", "Tensor.", "math.")
MANAGED = "decorated"  # the name of a function that runs inside a context manager


def call(
    machine: Machine,
    function: Value,
    arguments: list[Value],
    keywords: dict[str, Value] | None = None,
) -> Value:
    """Call whatever can be called; ``arguments`` and ``keywords`` are emptied by functions."""
    machine.step()
    kind = type(function)
    if kind is Method:
        arguments.insert(0, function.owner)
        return call(machine, function.function, arguments, keywords)
    if kind is Function:
        if NOT_COMPILED in function.attributes:
            machine.breaks(f"{function.name} is not to be compiled")
        if TELLS in function.attributes:
            function.attributes[TELLS]()
        return _run(machine, function, arguments, {} if keywords is None else keywords)
    if kind is Native:
        return _native(machine, function, arguments, keywords or {})
    if kind is Instance:
        return _object(machine, function, arguments, {} if keywords is None else keywords)
    if kind is Class:
        return machine.instantiate(function, arguments, keywords or {})
    if kind is Partial:
        arguments[:0] = function.arguments
        return call(
            machine, function.function, arguments, {**function.keywords, **(keywords or {})}
        )
    if isinstance(function, Unknown):
        return _unknown(machine, function, [*arguments, *(keywords or {}).values()])
    if isinstance(function, type):
        return machine.convert(function, arguments, keywords or {})
    if kind is Static:
        return call(machine, function.function, arguments, keywords)
    if function is PARAMETER:
        return make_parameter(machine, *arguments, **(keywords or {}))
    if kind is TensorClass:
        return construct(machine, function, arguments, keywords or {})
    if kind is Manager:  # as a decorator
        return _managed(machine, function, arguments[0])
    if isinstance(function, (str, int, float, list, tuple, dict, set)) or function is None:
        error = TypeError(f"'{type(function).__name__}' object is not callable")
        raise certain(error) if kind in NEVER_CALLED else error
    named = function.name if isinstance(function, Namespace) else type(function).__name__.lower()
    raise machine.unread(f"a call of {named} is not known")


def _unknown(machine: Machine, function: Unknown, passed: list[Value]) -> Unknown:
    """What is not known may do anything with tensors on the card, and nothing without them."""
    if _touches_card(machine, passed, 3):
        raise function.unread()
    return function.bare()


def _touches_card(machine: Machine, values: Iterable[Value], depth: int) -> bool:
    for each in values:
        if isinstance(each, Tensor):
            if each.storage is not None and each.device is machine.card:
                return True
        elif isinstance(each, (list, tuple, dict)) and depth:
            inner = each.values() if isinstance(each, dict) else each
            if _touches_card(machine, inner, depth - 1):
                return True
    return False


def _native(
    machine: Machine, function: Native, arguments: list[Value], keywords: dict[str, Value]
) -> Value:
    """A function of nanolint's own; what it cannot take is not known."""
    module, line = machine.module, machine.line
    if function.plain:
        for each in (*arguments, *keywords.values()):
            if isinstance(each, Unknown):
                if _touches_card(machine, (*arguments, *keywords.values()), 3):
                    raise each.unread()
                return each.bare()
            if type(each) in LOOKED_INTO:
                look((each,))
    if function.name not in WORK_OUT and not function.name.startswith(OPERATIONS):
        arguments = [unnoted(each) for each in arguments]
        keywords = {name: unnoted(each) for name, each in keywords.items()}
    if type(keywords.get("dtype")) is type and function.name.startswith("torch."):
        keywords["dtype"] = OF_PYTHON.get(keywords["dtype"], keywords["dtype"])
    if keywords and function.name.startswith("F."):
        for name in keywords:
            if signatures.takes_no(function.name, name):
                words = f"{function.name[2:]}() got an unexpected keyword argument '{name}'"
                raise certain(TypeError(words), Cause.ARGUMENT)
    try:
        found = function.function(*arguments, **keywords)
        if function.plain and machine.made_up.numbers:
            machine.made_up.follow(found, arguments)
        return found
    except Refused as error:
        raise refusal(error) from error
    except (AttributeError, LookupError, TypeError) as error:
        given = (*arguments, *keywords.values())
        unknown = next((each for each in given if isinstance(each, Unknown)), None)
        if unknown is not None and not is_certain(error):
            raise unknown.unread() from error
        if function.plain and isinstance(error, TypeError):
            machine.module, machine.line = module, line
            raise machine.unread(f"{function.name}: {_first_line(error)}") from error
        raise
    except (ValueError, NotImplementedError) as error:
        if is_certain(error):
            raise
        machine.module, machine.line = module, line
        raise machine.unread(f"{function.name}: {_first_line(error)}") from error


def _first_line(error: Exception) -> str:
    return (str(error) or type(error).__name__).partition("\n")[0]


def _object(
    machine: Machine, owner: Instance, arguments: list[Value], keywords: dict[str, Value]
) -> Value:
    """``owner(...)``: of a module its ``forward``, which its ``__call__`` passes arguments to."""
    if owner.cls.has("__call__"):
        return call(machine, machine.attribute(owner, "__call__"), arguments, keywords)
    if owner.cls.is_module and owner.cls.has("forward"):
        read = partial(_forward, machine, owner, arguments, keywords)
        out = machine.copied(owner, arguments, keywords, read)
        return read() if out is READ else out
    if owner.cls.unknown is not None:
        return _unknown(machine, owner.cls.unknown, [*arguments, *keywords.values()])
    raise TypeError(f"'{owner.cls.name}' object is not callable")


def _forward(
    machine: Machine, owner: Instance, arguments: list[Value], keywords: dict[str, Value]
) -> Value:
    held = tuple(arguments), dict(keywords)
    machine.listener.enters(owner)
    try:
        if PRE_HOOKS in owner.attributes or HOOKS in owner.attributes:
            return _hooked(machine, owner, *held)
        out = call(machine, machine.attribute(owner, "forward"), arguments, keywords)
        del held
        return out
    finally:
        machine.listener.leaves()


def _hooked(
    machine: Machine, owner: Instance, arguments: tuple[Value, ...], keywords: dict[str, Value]
) -> Value:
    """``Module._call_impl`` of one with hooks: what they return stands for what they were given."""
    for hook in list(owner.attributes.get(PRE_HOOKS, {}).values()):
        found = call(machine, hook, [owner, arguments])
        if found is not None:
            arguments = tuple(found) if isinstance(found, tuple) else (found,)
    out = call(machine, machine.attribute(owner, "forward"), list(arguments), dict(keywords))
    for hook in list(owner.attributes.get(HOOKS, {}).values()):
        found = call(machine, hook, [owner, arguments, out])
        if found is not None:
            out = found
    return out


def _run(
    machine: Machine, function: Function, arguments: list[Value], keywords: dict[str, Value]
) -> Value:
    """A function of the program."""
    node = function.node
    machine.runs(function)
    try:
        names = _bound(machine, function, arguments, keywords)
    except TypeError:
        if MADE_BY in function.attributes:  # what it is called with is the decorator's affair
            raise function.attributes[MADE_BY].unread() from None
        raise
    frame = Frame(function.module, names, function.closure, function)
    del names
    if machine.depth >= DEPTH:
        raise machine.unread("calls are nested too deeply")
    module, line, number = caller = machine.module, machine.line, machine.call_number
    machine.callers.append(caller)
    machine.frames.append(frame)
    if function.module.path:  # no function of nanolint's own
        machine.calls = machine.call_number = machine.calls + 1
    try:
        if isinstance(node, ast.Lambda):
            frame.result = machine.evaluate(node.body, frame)
        else:
            if generates(node):
                return Generated(machine.generate(node, frame))
            machine.execute(node.body, frame)
    finally:
        machine.callers.pop()
        machine.frames.pop()
        machine.call_number = number
    machine.module, machine.line = module, line
    frame.leave()
    return frame.result


def _bound(
    machine: Machine, function: Function, arguments: list[Value], keywords: dict[str, Value]
) -> dict[str, Value]:
    """The names of a call. Takes ``arguments`` and ``keywords`` over: both are empty then."""
    spec = function.node.args
    names: dict[str, Value] = {}
    positional = [*spec.posonlyargs, *spec.args]
    count = len(arguments)
    for parameter, value in zip(positional, arguments, strict=False):
        names[parameter.arg] = value
    if count > len(positional):
        if spec.vararg is None:
            s = "" if len(positional) == 1 else "s"
            given = f"{count} {'was' if count == 1 else 'were'} given"
            taken = f"takes {len(positional)} positional argument{s} but {given}"
            raise misfit(function, taken)
        names[spec.vararg.arg] = tuple(arguments[len(positional) :])
    elif spec.vararg is not None:
        names[spec.vararg.arg] = ()
    value = None
    arguments.clear()
    rest: dict[str, Value] = {}
    known = {each.arg for each in (*spec.args, *spec.kwonlyargs)}
    for name in list(keywords):
        if name in known and name not in names:
            names[name] = keywords.pop(name)
        elif spec.kwarg is not None:
            rest[name] = keywords.pop(name)
        elif function.owner is not None and not function.module.path:
            if signatures.takes_no(function.owner.name, name):
                words = f"{function.owner.name}.__init__() got an unexpected keyword argument"
                raise certain(TypeError(f"{words} '{name}'"), Cause.ARGUMENT)
            # A class of a library, in a text of nanolint's own: another release may know it.
            machine.assume(f"nanolint does not model {name}= of {function.owner.name}")
            del keywords[name]
        else:
            raise misfit(function, f"got an unexpected keyword argument '{name}'")
    if spec.kwarg is not None:
        names[spec.kwarg.arg] = rest
    if len(names) < len(positional) or spec.kwonlyargs or spec.defaults:
        _fill(function, names, positional)
    return names


def _fill(function: Function, names: dict[str, Value], positional: list[ast.arg]) -> None:
    """The defaults of what was not passed."""
    spec = function.node.args
    first = len(positional) - len(function.defaults)
    for place, parameter in enumerate(positional):
        if parameter.arg not in names:
            if place < first:
                raise misfit(function, f"missing 1 required positional argument: '{parameter.arg}'")
            names[parameter.arg] = function.defaults[place - first]
    for parameter, default in zip(spec.kwonlyargs, function.keyword_defaults, strict=True):
        if parameter.arg not in names:
            if default is MISSING:
                raise misfit(
                    function, f"missing 1 required keyword-only argument: '{parameter.arg}'"
                )
            names[parameter.arg] = default


def decorate(machine: Machine, decorator: Value, value: Value) -> Value:
    """Returns the result of a decorator for a function or a class."""
    if isinstance(decorator, type(ANNOTATION)):
        return value
    if isinstance(decorator, Unknown):
        return _as_written(machine, decorator, value)
    if isinstance(decorator, Manager):
        return _managed(machine, decorator, value)
    return machine.call(decorator, [value])


def _as_written(machine: Machine, decorator: Unknown, value: Value) -> Value:
    """A function or a class under a decorator that is not known: taken as it stands, which is said
    where it is used."""
    if isinstance(value, Function):
        before = value.attributes.get(TELLS)
    elif isinstance(value, Class):
        before = value.tell
    else:
        return value
    why = f"the effect of a decorator on {value.name} is not known: {decorator.reason}"

    def tell() -> None:
        if before is not None:
            before()
        machine.card.tape.assume(f"{why} ({decorator.place})")

    if isinstance(value, Function):
        value.attributes[TELLS] = tell
        value.attributes[MADE_BY] = Unknown(why, decorator.place)
    else:
        value.tell = tell
        value.unknown = value.unknown or decorator
    return value


def _managed(machine: Machine, manager: Manager, function: Value) -> Value:
    """A function that runs inside a context manager."""
    return Native(MANAGED, partial(_within, machine, manager, function), plain=False)


def _within(
    machine: Machine, manager: Manager, function: Value, *arguments: Value, **keywords: Value
) -> Value:
    with manager.enter():
        return machine.call(function, list(arguments), keywords)


def undecorated(value: Value) -> Value:
    """The function that runs inside context managers; any other value as it is."""
    while isinstance(value, Native) and value.name == MANAGED:
        *_, value = value.function.args  # type: ignore[attr-defined]
    return value
