"""Statements that cannot be read: passed over, left out with a doubt, or the end of the reading."""

from __future__ import annotations

import ast
from contextlib import suppress
from typing import TYPE_CHECKING, TypeGuard

from nanolint.interpreter.exceptions import CATCHABLE, let_go
from nanolint.interpreter.values import CONTENTS, Unknown, Unread
from nanolint.interpreter.watched import Size
from nanolint.script import alike, checked, finite, jumping
from nanolint.script.changes import filled, jumps, leaves, stored
from nanolint.script.deciding import Branch
from nanolint.script.files import EXISTS
from nanolint.script.phases import Ended
from nanolint.script.reaching import (
    EVALUATES,
    TRAINS,
    fills_own,
    forget_all,
    forget_numbers,
    reaches_card,
    trains,
)
from nanolint.source.any_name import set_by_name
from nanolint.source.python import of_node
from nanolint.tensors.tensor import Tensor

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nanolint.interpreter.scopes import Frame
    from nanolint.interpreter.values import Value
    from nanolint.script.machine import Script
    from nanolint.tape.tape import Mark

LOGGERS = (
    *("wandb", "tensorboard", "torch.utils.tensorboard", "mlflow", "swanlab", "comet_ml"),
    "logging.",
)


def over(
    machine: Script, node: ast.stmt, frame: Frame, error: Unread, *, trained: bool = False
) -> None:
    """Goes on after ``node``, of which nothing is known; raises ``error`` if that would be wrong.

    ``trained``: steps were read in it, as in ``sys.exit(main())``.
    """
    if isinstance(node, (ast.Return, ast.Break, ast.Continue, ast.Raise, ast.FunctionDef)):
        raise error
    why = Unknown(error.reason, error.place)
    if not error.decided and (_sets_any(machine, node, frame) or fills_own(node, frame)):
        error.decided = True
        raise error
    if not error.decided and not reaches_card(machine, node, frame):
        if not trained and trains(node, frame):
            raise error
        if leaves(node) and not isinstance(node, ast.Assert):
            raise error
        machine.passed += 1
        if jumps(node):
            machine.may_jump(why)
        forget_all(machine, node, frame, why)
        return
    if _only_fills(machine, node, frame):
        forget_numbers(node, frame)
        machine.passed += 1
        return
    may_be_number = not error.decided and not machine.builds  # there it may be a parameter
    if isinstance(node, ast.Assign) and may_be_number and len(node.targets) == 1:
        is_number = not reaches_card(machine, node.value, frame)  # the rate of a group
        if is_number:
            machine.passed += 1
            machine.assign(node.targets[0], why, frame)
            return
    error.decided = True
    if not _only_evaluates(node) or trains(node, frame):
        raise error
    place = f"{frame.module.path}:{node.lineno}"
    machine.doubts.append(f"nanolint cannot read an evaluation ({place}): {error.reason}")
    forget_all(machine, node, frame, why)
    for each in getattr(node, "body", ()):
        if _sets_to_train(each):
            machine.execute([each], frame)


def _sets_any(machine: Script, node: ast.stmt, frame: Frame) -> bool:
    """Whether a statement may set a global of the program's, by a name that only a run has."""
    beginnings = set_by_name(node)
    return any(
        each == "" or machine.has_names(each) or any(n.startswith(each) for n in frame.module.names)
        for each in beginnings
    )


def branch(machine: Script, node: ast.If, frame: Frame) -> object:
    """Reads an ``if``. If the test is not known, no branch may do anything on the card.

    While nothing learns, both may: both are read, and memory is at most so much.
    """
    holds = finite.answer(node.test)
    if holds is not None:
        for each in finite.questions(node.test):
            machine.evaluate(each, frame)
        return machine.execute(node.body if holds else node.orelse, frame)
    compared, asked = machine.made_up.compared, len(machine.asked)
    test = machine.evaluate(node.test, frame)
    machine.at(frame.module, node.lineno)
    if not isinstance(test, (Unknown, Tensor)):
        if machine.made_up.compared == compared:
            return _taken(machine, node, frame, asked, holds=machine.truth(test))
        printed = machine.printed.mark()  # of a run that goes the other way it is not told
        try:
            return _taken(machine, node, frame, asked, holds=machine.truth(test))
        finally:
            machine.printed.forget(printed)
    is_tensor = isinstance(test, Tensor)  # to evaluate its parts again would make them again
    why = test.bare() if isinstance(test, Unknown) else machine.unknown(CONTENTS)
    del test
    ending = _ends(node)
    if ending is not None and not machine.trying:
        if not is_tensor:
            checked.learn(machine, node.test, frame, holds=not ending)
        return machine.execute(node.orelse if ending else node.body, frame)
    if finite.makes_anew(node) or jumping.only_stops(machine, node, frame):
        return machine.execute(node.orelse, frame)
    if _may_return(machine, node, frame):
        machine.at_most.append(
            (f"the number includes an evaluation that may end earlier ({why.place})", 0)
        )
        return None
    if _returns_before_training(machine, node, frame):
        return None
    if leaves(node) or jumps(node):
        raise why.unread()
    start = machine.card.tape.mark()
    before = {name: frame.find(name) for name in stored(node)}
    is_extra = why.reason == EXISTS and not node.orelse
    sizes = list(_sizes(machine, node, frame)) if is_extra else []
    dumped, printed = dict(machine.dumped), machine.printed.mark()
    with machine.teller.unsure(node):
        are_read = [_attempt(machine, body, frame) for body in (node.body, node.orelse)]
    machine.printed.forget(printed)
    same = [name for name in before if _alike(before[name], frame.find(name))]
    writes = not alike.passes_by(machine.card.tape, start)
    only_looks = all(are_read) and _only_looks(machine, node, start)
    if only_looks:
        machine.taken.add(id(node))
    if writes and (machine.phases.are_late or only_looks):
        machine.at_most.append(
            (f"the number includes an evaluation that may not happen ({why.place})", 0)
        )
    elif writes and machine.card.grad_enabled:
        decided = why.unread()
        decided.decided = True
        raise decided
    after = {name: frame.find(name) for name in same}
    del before
    for path, value in machine.dumped.items():
        if dumped.get(path) is not value:
            machine.dumped[path] = None
    forget_all(machine, node, frame, why)
    for name, value in after.items():
        frame.store(name, value)
    assumed = f"assuming that a file is not here ({why.place})"
    for target, size in sizes:
        machine.assign(target, Size(why, size, assumed), frame)
    return None


def _sizes(machine: Script, node: ast.If, frame: Frame) -> Iterator[tuple[ast.expr, int]]:
    """The whole numbers that a branch sets anew, each as it is without the branch."""
    for each in (inner for statement in node.body for inner in ast.walk(statement)):
        for target in each.targets if isinstance(each, ast.Assign) else ():
            owner = target.value if isinstance(target, ast.Attribute) else target
            if isinstance(owner, ast.Name):
                with suppress(*CATCHABLE, Unread):
                    value = machine.evaluate(target, frame)
                    if type(value) is int:
                        yield target, value


def _ends(node: ast.If) -> bool | None:
    """Which branch ends the run: that of a test that holds, or the other; None: neither."""
    is_other = not checked.ends(node.body)
    return None if is_other and not checked.ends(node.orelse) else not is_other


def _taken(machine: Script, node: ast.If, frame: Frame, asked: int, *, holds: bool) -> object:
    """The branch of a test that is known, and has asked the questions after ``asked``."""
    branch = Branch(machine, node, asked) if len(machine.asked) > asked else None
    forced = not holds and machine.comes_later(node, frame, asked)
    if branch is not None:
        branch.chosen(frame, holds=holds, forced=forced)
    if holds or forced:
        machine.taken.add(id(node))
    ended = machine.execute(node.body if holds or forced else node.orelse, frame)
    if branch is not None:
        branch.read(frame, ended)
    return ended


def _returns_before_training(machine: Script, node: ast.If, frame: Frame) -> bool:
    """Whether a function that trains further down may end here, as its data are not there, or for
    another reason: then there is no run."""
    ends = not node.orelse and isinstance(node.body[-1], ast.Return)
    body = frame.function.node.body if ends and frame.function is not None else None
    if not isinstance(body, list) or node not in body:
        return False
    if any(reaches_card(machine, each, frame) or trains(each, frame) for each in node.body):
        return False
    return any(trains(each, frame) for each in body[body.index(node) + 1 :])


def _may_return(machine: Script, node: ast.If, frame: Frame) -> bool:
    """Whether an evaluation may end here, with a number: read on, it takes no less."""
    if machine.card.grad_enabled or node.orelse or len(node.body) != 1:
        return False
    returned = node.body[0]
    return isinstance(returned, ast.Return) and not reaches_card(machine, returned, frame)


def _alike(one: Value, other: Value) -> bool:
    """Whether a tensor took the place of one of its kind: ``total += loss``."""
    if not isinstance(one, Tensor) or not isinstance(other, Tensor):
        return False
    if one.requires_grad or other.requires_grad:
        return False  # what a backward pass goes through is not known
    return (one.shape, one.dtype, one.device) == (other.shape, other.dtype, other.device)


def _only_looks(machine: Script, node: ast.If, start: Mark) -> bool:
    """Whether a branch evaluates, or saves, and leaves memory as it was."""
    return _only_evaluates(node) and alike.kept(machine.card.tape, start) == 0


def _attempt(machine: Script, body: list[ast.stmt], frame: Frame) -> bool:
    """Whether a branch that may be taken is read to its end; an exception ends another run."""
    try:
        machine.execute(body, frame)
    except Ended:
        return False
    except CATCHABLE as error:
        let_go(error)
        return False
    except Unread as error:
        if error.decided:
            raise
        let_go(error)
        return False
    return True


def _sets_to_train(node: ast.stmt) -> bool:
    """``model.train()``."""
    called = node.value.func if isinstance(node, ast.Expr) and _is_call(node.value) else None
    return isinstance(called, ast.Attribute) and called.attr == "train"


def _is_call(node: ast.expr) -> TypeGuard[ast.Call]:
    return isinstance(node, ast.Call) and not node.args


def _only_fills(machine: Script, node: ast.stmt, frame: Frame) -> bool:
    """Whether all that a statement does is to put numbers into parts of tensors, however many:
    ``for row, end in enumerate(ends): targets[row, end:] = -1``. That keeps nothing."""
    parts = filled(node)
    if not parts or set_by_name(node):
        return False
    other = [each for part in parts for each in _asked(node, part)]
    return not any(reaches_card(machine, each, frame) for each in other)


def _asked(node: ast.stmt, filled: ast.Subscript) -> Iterator[ast.expr]:
    """The expressions that a statement evaluates beside the tensor that it fills."""
    yield filled.slice
    for each in ast.walk(node):
        if isinstance(each, ast.For):
            yield each.iter
        elif isinstance(each, (ast.If, ast.While)):
            yield each.test


@of_node
def _only_evaluates(node: ast.stmt) -> bool:
    called = {
        each.func.attr
        for each in ast.walk(node)
        if isinstance(each, ast.Call) and isinstance(each.func, ast.Attribute)
    }
    compound = isinstance(node, (ast.If, ast.For, ast.While, ast.With))
    return compound and bool(called & EVALUATES) and not called & TRAINS
