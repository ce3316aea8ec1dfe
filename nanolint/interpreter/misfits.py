"""Arguments that do not fit, where the program itself calls what it wrote: Python refuses them.

What a library calls is given what nanolint takes it to give, and what stands under a decorator that
is not known may take other arguments.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.interpreter.certain import certain
from nanolint.interpreter.values import TELLS, Class, Function, Instance, Method

if TYPE_CHECKING:
    from nanolint.interpreter.values import Value

_CALLEE = "_nanolint_callee"


def misfit(callee: Function | Class, what: str) -> TypeError:
    """What Python raises where a function or a class does not take its arguments."""
    error = TypeError(f"{callee.name}() {what}")
    setattr(error, _CALLEE, callee)
    return error


def settle(error: TypeError, called: Value) -> None:
    """Mark the error of a call that the program has as certain, where it is of what is called."""
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
