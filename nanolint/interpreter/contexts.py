"""``contextlib``: what enters, and what leaves when."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager, nullcontext
from typing import TYPE_CHECKING

from nanolint.interpreter.exceptions import CATCHABLE, let_go, raised
from nanolint.interpreter.values import Class, Instance, Manager, Namespace, Native, Unknown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    from nanolint.interpreter.machine import Machine
    from nanolint.interpreter.values import Value


def entered(machine: Machine, value: Value) -> AbstractContextManager[Value]:
    """Enters a context manager, and leaves it after the body. Raises Unread."""
    manager = machine.manager(value)
    if isinstance(manager, Manager):
        known: AbstractContextManager[Value] = manager.enter()
        return known
    if isinstance(manager, Instance):
        return _of_program(machine, manager)
    if isinstance(manager, Unknown):
        raise manager.unread()
    raise machine.unread(f"the context manager {manager!r} is not known")


@contextmanager
def _of_program(machine: Machine, manager: Instance) -> Iterator[Value]:
    """An object with ``__enter__`` and ``__exit__``."""
    handed = [machine.call(machine.attribute(manager, "__enter__"), [])]
    leave = machine.attribute(manager, "__exit__")
    try:
        yield handed.pop()  # which is not held here
    except CATCHABLE as error:
        own = raised(error)
        kind = own.cls if isinstance(own, Instance) else type(own)
        if not machine.truth(machine.call(leave, [kind, own, None])):
            raise
        let_go(error)
    else:
        machine.call(leave, [None, None, None])


def contextlib(machine: Machine) -> Namespace:
    """The module."""
    nothing = Native("nullcontext", lambda value=None: Manager(lambda: nullcontext(value)))
    known: dict[str, Value] = {
        "nullcontext": nothing,
        "contextmanager": Native("contextmanager", lambda f: _generated(machine, f)),
        "suppress": Native(
            "suppress", lambda *kinds: Manager(lambda: _suppressed(machine, kinds)), plain=False
        ),
        "ExitStack": Native("ExitStack", lambda: _stack(machine), plain=False),
        **{name: _printing(name) for name in ("redirect_stdout", "redirect_stderr")},
    }
    return Namespace("contextlib", known)


def _printing(name: str) -> Native:
    """Where what is printed goes."""
    return Native(name, lambda target: Manager(lambda: nullcontext(target)), plain=False)


def _generated(machine: Machine, function: Value) -> Value:
    """``@contextmanager``."""

    @contextmanager
    def around(arguments: list[Value], keywords: dict[str, Value]) -> Iterator[Value]:
        values = machine.iterate(machine.call(function, arguments, keywords))
        yield next(values, None)
        next(values, None)

    return Native(
        "contextmanager",
        lambda *given, **named: Manager(lambda: around(list(given), named)),
        plain=False,
    )


@contextmanager
def _suppressed(machine: Machine, kinds: tuple[Value, ...]) -> Iterator[None]:
    machine.trying += 1
    try:
        yield
    except CATCHABLE as error:
        if machine.instance_of(raised(error), kinds) is not True:
            raise
        let_go(error)
    finally:
        machine.trying -= 1


def _stack(machine: Machine) -> Instance:
    """An ``ExitStack``: what it entered and was told to call, it leaves and calls backwards."""
    stack = ExitStack()
    made = machine.created(Instance(Class("ExitStack", (), {}, Namespace("contextlib", {}))))

    def enter(value: Value) -> Value:
        return stack.enter_context(entered(machine, value))

    def callback(function: Value, *given: Value, **named: Value) -> Value:
        stack.callback(lambda: machine.call(function, list(given), dict(named)))
        return function

    def close(*_details: Value) -> None:
        stack.close()

    methods: dict[str, Callable[..., Value]]
    methods = {"enter_context": enter, "callback": callback, "close": close, "__exit__": close}
    made.attributes |= {name: Native(name, each, plain=False) for name, each in methods.items()}
    made.attributes["__enter__"] = Native("__enter__", lambda: made, plain=False)
    return made
