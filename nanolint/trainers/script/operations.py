"""What is made of things: a list, what an operation gives, one of two branches."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import TYPE_CHECKING

from nanolint.gpus.said import Between, between
from nanolint.run.described import ANY
from nanolint.run.equation import NotKnown
from nanolint.run.terms import Number, Operation, apply
from nanolint.source.bounds import Unevaluable
from nanolint.trainers.script.things import (
    ITEMS,
    TERMS,
    External,
    Instance,
    Repeated,
    Row,
    Scope,
    Table,
    Tensor,
    Thing,
    Wrapped,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from nanolint.run.terms import Term
    from nanolint.source.values import Scalar

# Operations whose result rises or falls with each operand.
FOLLOWED = frozenset(
    {"+", "-", "*", "/", "//", "<", "<=", ">", ">=", "int", "float", "math.floor", "math.ceil"}
)


def row(items: Sequence[Thing]) -> Row:
    """A tuple or a list of ``items``."""
    return Row({ITEMS: tuple(items)})


def keys(table: Table) -> Row:
    """The keys of a dictionary in their order."""
    plain = (int, float, str, type(None))
    return row([Number(key if isinstance(key, plain) else str(key)) for key in table.entries])


def repeated(thing: Thing) -> Thing:
    """A list that a loop fills as what it holds; anything else as it is."""
    if isinstance(thing, Row) and thing.count is not None:
        return Repeated(thing.items[-1], thing.count)
    return thing


def scalar(thing: Thing | None) -> Scalar:
    """The value of a term; None for anything else."""
    return thing.value if isinstance(thing, TERMS) else None


def texts_joined(parts: Sequence[NotKnown | Term]) -> NotKnown | Number:
    """The texts of ``parts`` in a row; of one that is not known in every part, what is known."""
    texts = [
        (each.like or ANY) if isinstance(each, NotKnown) else str(each.value) for each in parts
    ]
    text = "".join(texts)
    unknown = next((each for each in parts if isinstance(each, NotKnown)), None)
    return Number(text) if unknown is None else replace(unknown, like=text)


def unknown_at(reason: str, node: ast.expr, scope: Scope) -> NotKnown:
    """Why ``node``, which ``scope`` has, is not known."""
    return NotKnown(reason, scope.source.path, node.lineno)


def made(symbol: str, operands: Sequence[Thing], path: Path | None, line: int) -> Thing:
    """What an operation gives: a term, or why its value is not known."""
    for operand in operands:
        if isinstance(operand, NotKnown):
            return _between(symbol, operands, operand) if operand.between else operand
    terms = tuple(each for each in operands if isinstance(each, TERMS))
    if len(terms) < len(operands):
        return NotKnown("not a plain value", path, line)
    try:
        value = apply(symbol, tuple(each.value for each in terms))
    except Unevaluable as error:
        return NotKnown(error.reason, path, line)
    if all(isinstance(each, Number) for each in terms):
        return Number(value)
    if symbol in ("*", "//") and terms[1] == Number(1) and isinstance(terms[0].value, int):
        return terms[0]
    return Operation(symbol, terms, value, path, line)


def _between(symbol: str, operands: Sequence[Thing], operand: NotKnown) -> Thing:
    """Returns the result of an operation on a number that lies between two."""
    ends = [each.between if isinstance(each, NotKnown) else scalar(each) for each in operands]
    divides = symbol in ("/", "//") and isinstance(ends[-1], Between)
    found = None
    if symbol in FOLLOWED and not divides and None not in ends:
        found = between(lambda *each: apply(symbol, each), ends)
    if found is None or isinstance(found, Between):
        return replace(operand, between=found)
    return Number(found)


def plus(thing: Thing, number: int) -> Thing:
    """``thing + number``, with what was added before: ``T + 1`` less 1 is T."""
    if isinstance(thing, Operation) and thing.symbol in ("+", "-"):
        left, right = thing.operands
        if isinstance(right, Number) and isinstance(right.value, int):
            return plus(left, number + (right.value if thing.symbol == "+" else -right.value))
    if number == 0:
        return thing
    return made("+" if number > 0 else "-", (thing, Number(abs(number))), None, 0)


def unwrapped(thing: Thing) -> Thing:
    """The model within what was wrapped around it."""
    while isinstance(thing, Wrapped):
        thing = thing.inner
    return thing


def merged(one: Thing | None, other: Thing | None, doubt: NotKnown) -> Thing | None:
    """What a name stands for behind an ``if`` of which only a run tells which branch is taken."""
    if one is other or other is None:
        return one
    if one is None:
        return other
    if isinstance(one, TERMS) and isinstance(other, TERMS):
        same = type(one.value) is type(other.value) and one.value == other.value
        return one if same else doubt
    if isinstance(one, Tensor) and isinstance(other, Tensor):
        if one.shape is None or other.shape is None or len(one.shape) != len(other.shape):
            return Tensor(None)
        pairs = zip(one.shape, other.shape, strict=True)
        return Tensor(
            tuple(merged(left, right, doubt) or doubt for left, right in pairs),
            one.perhaps_more or other.perhaps_more,
            one.perhaps_several and other.perhaps_several,
        )
    if isinstance(one, Row) and isinstance(other, Row) and len(one.items) == len(other.items):
        pairs = zip(one.items, other.items, strict=True)
        return row([merged(left, right, doubt) or doubt for left, right in pairs])
    if isinstance(one, Repeated) and isinstance(other, Repeated):
        item, count = merged(one.item, other.item, doubt), merged(one.count, other.count, doubt)
        return Repeated(item or doubt, count or doubt)
    if isinstance(one, (External, NotKnown)) and one == other:
        return one
    return _merged_wrappers(one, other, doubt) or doubt


def _merged_models(one: Thing, other: Thing, doubt: NotKnown) -> Instance | None:
    """A model that is built anew or, in the other branch, from a checkpoint: what both have."""
    if not isinstance(one, Instance) or not isinstance(other, Instance):
        return None
    if one is other:
        return one
    if one.of is not other.of or not other.is_model:
        return None
    fields = {
        name: merged(one.fields.get(name, doubt), other.fields.get(name, doubt), doubt) or doubt
        for name in (*one.fields, *other.fields)
    }
    return Instance(other.of, other.place, fields)


def _merged_wrappers(one: Thing, other: Thing, doubt: NotKnown) -> Thing | None:
    """A model that is perhaps wrapped: the longer of two chains around the same model."""
    inner = _merged_models(unwrapped(one), unwrapped(other), doubt)
    if inner is None:
        return None
    chains = [_wrappers(one), _wrappers(other)]
    longest = max(chains, key=len)
    result: Thing = inner
    for wrapper in reversed(longest):
        certain = wrapper.certain and all(
            any(each.by == wrapper.by and each.certain for each in chain) for chain in chains
        )
        result = Wrapped(result, wrapper.by, certain)
    return result


def _wrappers(thing: Thing) -> list[Wrapped]:
    found = []
    while isinstance(thing, Wrapped):
        found.append(thing)
        thing = thing.inner
    return found


def filled_to(node: ast.BinOp) -> ast.expr | None:
    """N of ``tokens + [pad] * (N - len(tokens))``, a list that is filled up to so many.

    >>> ast.unparse(filled_to(ast.parse("x + [0] * (n - len(x))", mode="eval").body))
    'n'
    """
    match node:
        case ast.BinOp(
            left=filled,
            op=ast.Add(),
            right=ast.BinOp(
                left=ast.List(elts=[_]),
                op=ast.Mult(),
                right=ast.BinOp(
                    left=most,
                    op=ast.Sub(),
                    right=ast.Call(func=ast.Name(id="len"), args=[counted], keywords=[]),
                ),
            ),
        ) if ast.dump(filled) == ast.dump(counted):
            return most
    return None
