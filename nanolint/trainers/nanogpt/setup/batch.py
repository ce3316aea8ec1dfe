"""The shape of the batches that a ``get_batch`` makes: sequences, and tokens of each."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nanolint.source.python import of_node
from nanolint.trainers.nanogpt.setup.things import Just, Mystery

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nanolint.trainers.nanogpt.setup.follower import Follower
    from nanolint.trainers.nanogpt.setup.things import Thing

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
