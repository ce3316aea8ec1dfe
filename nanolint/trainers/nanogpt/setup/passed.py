"""What a script passes to its model, to its batch and to its loop, for one config."""

from __future__ import annotations

import ast
from dataclasses import field
from typing import TYPE_CHECKING

from nanolint.frozen import dataclass
from nanolint.source.python import nodes, of_node
from nanolint.source.values import Known
from nanolint.trainers.nanogpt.setup.expressions import Built, Just, Mystery, Named, Table
from nanolint.trainers.nanogpt.setup.follower import Follower, runs_backward

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from nanolint.run.settled import Setting
    from nanolint.source.values import Value
    from nanolint.trainers.nanogpt.setup.expressions import Surroundings, Thing

ABSENT = Mystery("no key of this project's train.py")
# The fields of nanoGPT's GPTConfig.
SHAPE = ("block_size", "vocab_size", "n_layer", "n_head", "n_embd", "dropout", "bias")


@dataclass(frozen=True, slots=True)
class Passed:
    """What was found. Each thing is a plain value, or a Mystery that says why it is none.

    ``model`` is the full name of the class that is built, a Mystery where it is not known;
    ``config`` that of the class of its first argument, None where there is none. ``shape`` are what
    those two are given by the names of SHAPE; ``rest`` says why there may be anything more.
    ``batch`` is the sequences of a batch and the tokens of one, None without a ``get_batch``.
    ``passes`` is how often the loop runs ``backward()`` for one step, None without a loop.
    ``unevaluated`` is the line of a condition by which the loop never evaluates, 0 without one.
    ``names`` is all that was set, for keys that are set below the settings.
    """

    model: Named | Mystery
    config: str | None = None
    shape: Mapping[str, Thing] = field(default_factory=dict)
    rest: Mystery | None = None
    batch: tuple[Thing, Thing] | None = None
    passes: Thing | None = None
    unevaluated: int = 0
    names: Mapping[str, Thing] = field(default_factory=dict)


def follow(
    tree: ast.Module,
    first: int,
    environment: Mapping[str, Value],
    settings: Mapping[str, Setting],
    absent: Iterable[str],
    surroundings: Surroundings,
) -> Passed:
    """Follow the statements of ``tree`` from index ``first``, the one that loads the configurator.

    ``environment`` are the values of the names above it, ``settings`` those that a config decides;
    ``absent`` are keys that have none, which is told of them alike wherever they are used.
    """
    functions = _functions(tree)
    follower = Follower({"__name__": Just("__main__")}, functions, surroundings)
    follower.follow(entry for entry in tree.body[:first] if not _is_setting(entry))
    for key, value in environment.items():
        if not isinstance(follower.names.get(key), Named):
            follower.names[key] = _thing(value, None)
    for key in absent:
        follower.names.setdefault(key, ABSENT)
    for key, setting in settings.items():
        follower.names[key] = _thing(setting.value, key)
    follower.follow(tree.body[first + 1 :])
    model = _model(follower)
    found = _shape(model) if isinstance(model, Built) else Table()
    config = model.arguments[0] if isinstance(model, Built) and model.arguments else None
    loader = functions.get("get_batch")
    return Passed(
        model=Named(model.callee) if isinstance(model, Built) else model,
        config=config.callee if isinstance(config, Built) else None,
        shape={key: found.entries[key] for key in SHAPE if key in found.entries},
        rest=found.rest,
        batch=batch_shape(loader, follower) if loader else None,
        passes=_passes(follower),
        unevaluated=_unevaluated(follower),
        names=follower.names,
    )


def _thing(value: Value, key: str | None) -> Thing:
    if isinstance(value, Known):
        return Just(value.value, key)
    because = f"depends on {key}, which is not known: " if key else ""
    return Mystery(f"{because}{value.reason}")


def _is_setting(statement: ast.stmt) -> bool:
    return isinstance(statement, (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.If))


def _model(follower: Follower) -> Built | Mystery:
    """What the training loop calls on a batch, else what is called ``model``."""
    found = follower.names.get("model")
    if follower.loop is not None:
        called = (follower.names.get(name) for name in _calls(follower.loop))
        found = next((each for each in called if isinstance(each, Built)), found)
    if isinstance(found, Built):
        # GPT.from_pretrained(init_from, ...) gives a GPT.
        owner, _, method = found.callee.rpartition(".")
        if method == "from_pretrained":
            return Built(owner, (), Table({}, Mystery("a checkpoint's", found.line)), found.line)
        return found
    if isinstance(found, Mystery):
        return found
    return Mystery("nanolint did not find the model that is trained")


def _shape(model: Built) -> Table:
    """What the model's configuration holds."""
    first = model.arguments[0] if model.arguments else None
    if isinstance(first, Built):
        if first.arguments and not first.fields.entries:
            return Table({}, Mystery(f"{first.callee} is given values without names", first.line))
        return first.fields
    if isinstance(first, Table):
        return first
    if first is None:
        return model.fields
    reason = first.reason if isinstance(first, Mystery) else "the input of the model"
    return Table({}, Mystery(reason, model.line))


def _passes(follower: Follower) -> Thing | None:
    if follower.loop is None:
        return None
    counted = _counted(follower.loop)
    return counted if isinstance(counted, Mystery) else follower.value(counted)


def _unevaluated(follower: Follower) -> int:
    """The line of the ``if`` around ``estimate_loss()`` that is never taken, else 0."""
    if follower.loop is None:
        return 0
    stored = _stored(follower.loop)
    for node in nodes(follower.loop):
        if not isinstance(node, ast.If) or "estimate_loss" not in _calls_in(node.body):
            continue
        conditions = [node.test]
        if isinstance(node.test, ast.BoolOp) and isinstance(node.test.op, ast.And):
            conditions = node.test.values
        for condition in conditions:
            if not stored.isdisjoint(_names(condition)):
                continue  # the loop changes what it says
            value = follower.value(condition)
            if isinstance(value, Just) and not value.value:
                return node.lineno
    return 0


@of_node
def _functions(tree: ast.Module) -> dict[str, ast.FunctionDef]:
    return {node.name: node for node in nodes(tree) if isinstance(node, ast.FunctionDef)}


@of_node
def _calls(loop: ast.stmt) -> tuple[str, ...]:
    """The names that a loop calls with something, in no order that matters."""
    return tuple(
        node.func.id
        for node in nodes(loop)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.args
    )


@of_node
def _counted(loop: ast.stmt) -> ast.expr | Mystery:
    """N of the ``range(N)`` around ``backward()``, or why there is none that is known above."""
    nodes = list(ast.walk(loop))
    inner = [
        node
        for node in nodes
        if isinstance(node, ast.For) and node is not loop and runs_backward(node)
    ]
    if not inner:
        return Mystery("no loop around backward() alone", loop.lineno)
    innermost = inner[-1]
    counted = innermost.iter
    if not isinstance(counted, ast.Call) or not isinstance(counted.func, ast.Name):
        return Mystery("the loop around backward() counts nothing", innermost.lineno)
    if counted.func.id != "range" or len(counted.args) != 1:
        return Mystery("the loop around backward() counts otherwise", innermost.lineno)
    stored = _stored(loop)
    for name in _names(counted):
        if name in stored:
            return Mystery(f"{name} is set inside the loop", innermost.lineno)
    return counted.args[0]


def _names(node: ast.AST) -> list[str]:
    return [each.id for each in ast.walk(node) if isinstance(each, ast.Name)]


@of_node
def _stored(loop: ast.stmt) -> frozenset[str]:
    """The names that a loop sets."""
    return frozenset(
        node.id
        for node in nodes(loop)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    )


def _calls_in(body: list[ast.stmt]) -> set[str]:
    """The names of what is called in ``body``."""
    calls = (node for entry in body for node in ast.walk(entry) if isinstance(node, ast.Call))
    return {call.func.id for call in calls if isinstance(call.func, ast.Name)}


_DRAWS = frozenset({"randint", "randperm"})


def batch_shape(function: ast.FunctionDef, follower: Follower) -> tuple[Thing, Thing]:
    """The sequences of a batch and the tokens of one, as ``function`` makes them.

    The sequences are how many places in the data it draws, or over how many it iterates; the tokens
    are how far its slices reach: ``data[i : i + T]``.
    """
    rows, widths = _expressions(function)
    line = function.lineno
    return (
        _same([follower.value(each) for each in rows], "sequences", line),
        _same([follower.value(each) for each in widths], "tokens", line),
    )


@of_node
def _expressions(function: ast.FunctionDef) -> tuple[list[ast.expr], list[ast.expr]]:
    widths = [width for node in ast.walk(function) for width in _width(node)]
    return list(_sequences(function)), widths


def _sequences(function: ast.FunctionDef) -> Iterator[ast.expr]:
    for node in ast.walk(function):
        if isinstance(node, ast.Call) and _last(node.func) in _DRAWS:
            sizes = [keyword.value for keyword in node.keywords if keyword.arg == "size"]
            sizes += [each for each in node.args if isinstance(each, (ast.Tuple, ast.List))]
            for size in sizes:
                if isinstance(size, (ast.Tuple, ast.List)) and len(size.elts) == 1:
                    yield size.elts[0]
        elif isinstance(node, ast.comprehension):
            counted = node.iter
            if isinstance(counted, ast.Call) and _last(counted.func) == "range":
                yield from counted.args if len(counted.args) == 1 else ()


def _width(node: ast.AST) -> Iterator[ast.expr]:
    """W of ``a : a + W``, however the sum is written; one token more is the last one's target."""
    if not isinstance(node, ast.Slice) or node.lower is None or node.upper is None:
        return
    left: list[tuple[ast.expr, int]] = []
    for term, sign in (*_terms(node.upper), *_terms(node.lower, -1)):
        opposite = next((x for x in left if x[1] == -sign and _same_term(x[0], term)), None)
        if opposite is None:
            left.append((term, sign))
        else:
            left.remove(opposite)
    if len(left) > 1:
        left = [each for each in left if not (each[1] == 1 and _is_one(each[0]))]
    if not left or any(sign < 0 and not isinstance(term, ast.Constant) for term, sign in left):
        return
    left.sort(key=lambda each: -each[1])  # what is taken away comes last
    found = left[0][0]
    for term, sign in left[1:]:
        found = ast.copy_location(
            ast.BinOp(found, ast.Add() if sign > 0 else ast.Sub(), term), found
        )
    yield found


def _terms(node: ast.expr, sign: int = 1) -> Iterator[tuple[ast.expr, int]]:
    """What a sum adds and takes away."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub)):
        yield from _terms(node.left, sign)
        yield from _terms(node.right, sign if isinstance(node.op, ast.Add) else -sign)
    else:
        yield node, sign


def _same_term(one: ast.expr, other: ast.expr) -> bool:
    return ast.dump(one) == ast.dump(other)


def _is_one(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value == 1


def _same(found: list[Thing], what: str, line: int) -> Thing:
    if not found:
        return Mystery(f"get_batch does not tell how many {what} a batch has", line)
    first = found[0]
    if any(each != first for each in found) or not isinstance(first, (Just, Mystery)):
        return Mystery(f"get_batch makes batches of different numbers of {what}", line)
    return first


def _last(function: ast.expr) -> str:
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""
