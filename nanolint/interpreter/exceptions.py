"""Exceptions of a program that is read: what raises them, and what catches them."""

from __future__ import annotations

import ast
import gc
from contextlib import contextmanager
from typing import TYPE_CHECKING

from nanolint.interpreter.binding import forget
from nanolint.interpreter.certain import certain
from nanolint.interpreter.values import INSTALLED, Class, Instance, Raised, Unknown
from nanolint.run.stop import Cause
from nanolint.tensors.tensor import Tensor

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nanolint.interpreter.machine import Machine
    from nanolint.interpreter.scopes import Frame
    from nanolint.interpreter.values import Value

# What a program that is read may raise and catch: Python's own of these.
CATCHABLE = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    ImportError,
    LookupError,
    NameError,
    NotImplementedError,
    OSError,
    RuntimeError,
    StopIteration,
    SystemExit,
    TypeError,
    ValueError,
    Raised,
)


# What PyTorch's own checks raise.
REFUSALS = (AssertionError, RuntimeError, TypeError, ValueError)
CALL = "_run"  # what calls a function of the program, see ``calls.py``


@contextmanager
def uncollected() -> Iterator[None]:
    """Python looks for no garbage: how long a tensor lives must not hang on when it does."""
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()


def let_go(error: BaseException | None) -> None:
    """Forget the frames of what was caught: they hold all that was evaluated, and often themselves,
    so that tensors would live until Python looks for garbage."""
    while error is not None:
        error.__traceback__ = None
        behind = error.__cause__ or error.__context__
        error.__cause__ = error.__context__ = None
        error = behind


def raised(error: BaseException) -> Value:
    """Returns the exception as the program has it."""
    return error.value if isinstance(error, Raised) else error


def _names_of_frames(error: BaseException) -> Iterator[dict[str, Value]]:
    """The names of the calls of the program that an exception has left."""
    traced = error.__traceback__
    while traced is not None:
        frame = traced.tb_frame.f_locals.get("frame")
        if traced.tb_frame.f_code.co_name == CALL and frame is not None:
            yield frame.names
        traced = traced.tb_next


def callers_of(error: BaseException) -> list[tuple[str, int]]:
    """The lines of the program that called each other, the innermost first: path and number."""
    found = []
    traced = error.__traceback__
    while traced is not None:
        names = traced.tb_frame.f_locals
        module = names.get("module")
        if traced.tb_frame.f_code.co_name == CALL and module is not None and module.path:
            found.append((module.path, names["line"]))
        traced = traced.tb_next
    return found[::-1]


def _hold(error: BaseException, names: list[dict[str, Value]]) -> None:
    """An exception holds its traceback, and that the frames of the calls."""
    if isinstance(error, Raised):
        error.value.attributes["__traceback__"] = names
    else:
        vars(error)["frames"] = names


def attempt(machine: Machine, node: ast.Try, frame: Frame) -> object:
    lacking = _may_lack(machine, node)
    if lacking is not None and not machine.is_bare:
        forget(machine, node, frame, machine.unknown(INSTALLED))
        return None
    goes_on = _catches(node)
    machine.trying += goes_on
    try:
        try:
            if lacking is not None:
                machine.card.tape.assume(
                    f"assuming that {lacking} is not installed ({machine.place})"
                )
                raise ImportError(f"No module named '{lacking}'")
            ended = machine.execute(node.body, frame)
        finally:
            machine.trying -= goes_on
        if ended is None:
            ended = machine.execute(node.orelse, frame)
    except CATCHABLE as error:
        names = list(_names_of_frames(error))
        let_go(error)
        handler = _handler(machine, node.handlers, error, frame)
        if handler is None:
            raise
        _hold(error, names)
        del names
        if handler.name:
            frame.store(handler.name, raised(error))
        ended = machine.execute(handler.body, frame)
        if handler.name:
            frame.names.pop(handler.name, None)
    finished = machine.execute(node.finalbody, frame)
    return finished if finished is not None else ended


def _may_lack(machine: Machine, node: ast.Try) -> str | None:
    """What it imports that may or may not be installed, where it goes on without; else None."""
    if not _catches(node):
        return None
    names = (
        alias.name if isinstance(each, ast.Import) else each.module or ""
        for each in node.body
        if isinstance(each, ast.Import) or (isinstance(each, ast.ImportFrom) and not each.level)
        for alias in each.names
    )
    return next(filter(machine.is_foreign, names), None)


def _catches(node: ast.Try) -> bool:
    """Whether it goes on where something fails."""
    return any(
        handler.type is None
        or "Error" in ast.unparse(handler.type)
        or "Exception" in ast.unparse(handler.type)
        for handler in node.handlers
    )


def _handler(
    machine: Machine, handlers: list[ast.ExceptHandler], error: BaseException, frame: Frame
) -> ast.ExceptHandler | None:
    for handler in handlers:
        if handler.type is None:
            return handler
        kinds = machine.evaluate(handler.type, frame)
        if isinstance(kinds, Unknown):
            raise kinds.unread()
        if machine.instance_of(raised(error), kinds):
            return handler
    return None


def throw(machine: Machine, node: ast.Raise, frame: Frame) -> None:
    if node.exc is None:
        raise machine.unread("an exception that is raised again")
    value = machine.evaluate(node.exc, frame)
    machine.at(frame.module, node.lineno)
    if isinstance(value, (type, Class)):
        value = machine.call(value, [])
    error = Raised(value) if isinstance(value, Instance) else value
    if isinstance(error, SystemExit):
        leave(machine, *error.args)
    if isinstance(error, CATCHABLE):
        raise _own(error, is_own=bool(frame.module.path))
    raise machine.unread(f"raises {value!r}")


def leave(machine: Machine, code: Value = None, *_: Value) -> Value:
    """``sys.exit(code)``: a text, or a number but 0, says that the run has failed."""
    if type(code) in (str, int) and code and not machine.may_be_started_otherwise:
        raise certain(SystemExit(code), Cause.CHECK)
    raise machine.end()


def _own(error: BaseException, *, is_own: bool) -> BaseException:
    """What the program raises, or a text of nanolint's as PyTorch does; what such a text does not
    model is not PyTorch's."""
    if is_own:
        return certain(error, Cause.CHECK)
    if isinstance(error, NotImplementedError) or not isinstance(error, REFUSALS):
        return error
    return certain(error, Cause.ARGUMENT)


def check(machine: Machine, node: ast.Assert, frame: Frame) -> None:
    test = machine.evaluate(node.test, frame)
    machine.at(frame.module, node.lineno)
    if isinstance(test, Tensor) and test.numel > 1:
        machine.truth(test)
    if isinstance(test, (Unknown, Tensor)):
        if isinstance(test, Unknown):
            machine.asserted(node.test, frame)
        return
    if machine.truth(test):
        return
    message = None if node.msg is None else machine.evaluate(node.msg, frame)
    said = message if isinstance(message, str) else ast.unparse(node.test)
    raise _own(AssertionError(said), is_own=bool(frame.module.path))
