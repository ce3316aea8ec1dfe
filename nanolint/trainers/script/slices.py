"""Slices of tensors and arrays: how long each of their dimensions is."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nanolint.run.equation import NotKnown
from nanolint.run.terms import Number
from nanolint.trainers.script import walks
from nanolint.trainers.script.operations import made, plus, scalar
from nanolint.trainers.script.things import TERMS, Instance, Repeated, Row, Table, Tensor

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nanolint.trainers.script.core import Core
    from nanolint.trainers.script.things import Scope, Thing


def sliced(core: Core, owner: Thing, index: ast.expr, scope: Scope) -> Thing:
    """What ``owner[index]`` is, where the owner is a tensor or an array of unknown size."""
    parts = index.elts if isinstance(index, ast.Tuple) else [index]
    shape = owner.shape if isinstance(owner, Tensor) else None
    kept: list[Thing] = []
    rest = list(shape) if shape is not None else None
    for part in parts:
        if isinstance(part, ast.Constant) and part.value is None:
            kept.append(Number(1))
            continue
        size = rest.pop(0) if rest else NotKnown(walks.OF_ARRAY)
        if isinstance(part, ast.Slice):
            size_of_part = length(core, part, size, scope)
            # Of a text's tokens, which may be fewer, it is at most so many.
            at_most = core.state.collating and isinstance(size, NotKnown) and part.lower is None
            kept.append(size if at_most and isinstance(size_of_part, TERMS) else size_of_part)
        else:
            found = core.value(part, scope)
            if isinstance(found, Tensor):
                if found.shape is None:
                    return Tensor(None)
                kept += found.shape
            elif isinstance(found, (Row, Repeated, Table, Instance)):
                return Tensor(None)
    more = shape is None or (
        isinstance(owner, Tensor)
        and owner.perhaps_more
        and not isinstance(next(iter(shape), None), TERMS)
    )
    return Tensor((*kept, *(rest or [])), perhaps_more=more)


def length(core: Core, part: ast.Slice, size: Thing, scope: Scope, of: str = "") -> Thing:
    """How long a slice is: ``i : i + T`` is T, ``: -1`` one less than all, ``: n`` is n, and
    ``len(x) - n :`` is n, where ``of`` is what it is cut out of: ``x``."""
    lower, upper = part.lower, part.upper
    below = core.value(lower, scope) if lower is not None else Number(0)
    begin = scalar(below)
    from_end = isinstance(begin, int) and begin < 0
    if upper is None and from_end:
        return _tail(size, below)
    if upper is None and isinstance(lower, ast.BinOp) and isinstance(lower.op, ast.Sub):
        is_all = of and ast.unparse(lower.left) == f"len({of})"
        if is_all:
            return core.value(lower.right, scope)
    if upper is None:
        return made("-", (size, below), None, 0) if below != Number(0) else size
    above = core.value(upper, scope)
    end = scalar(above)
    if from_end:
        within = isinstance(end, int) and end < 0
        return made("-", (above, below), None, 0) if within else NotKnown(walks.LENGTH)
    if isinstance(end, int) and end < 0:
        shorter = plus(size, end)
        return made("-", (shorter, below), None, 0) if below != Number(0) else shorter
    if lower is None or below == Number(0):
        return above
    added = _difference(upper, lower) or _difference(_as_written(upper, scope), lower)
    if added is None:
        return made("-", (above, below), None, 0)
    total: Thing = Number(0)
    for sign, term in added:
        value = core.value(term, scope)
        number = scalar(value)
        if isinstance(value, Number) and isinstance(number, int):
            total = plus(total, number if sign == "+" else -number)
        elif total == Number(0) and sign == "+":
            total = value
        else:
            total = made(sign, (total, value), None, 0)
    return total


def _tail(size: Thing, below: Thing) -> Thing:
    """The length of ``[-n:]``: n, but of what is shorter all."""
    at = scalar(below)
    assert isinstance(at, int)
    whole = scalar(size)
    if isinstance(size, TERMS) and isinstance(whole, int) and whole < -at:
        return size
    return Number(-at) if isinstance(below, Number) else made("neg", (below,), None, 0)


def _multiplied_out(node: ast.expr) -> ast.expr:
    """``(i + 1) * n`` as ``i * n + n``; any other as it is."""
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Mult):
        return node
    for sum_, by, is_left in ((node.left, node.right, True), (node.right, node.left, False)):
        if isinstance(sum_, ast.BinOp) and isinstance(sum_.op, (ast.Add, ast.Sub)):
            parts = [_times(each, by, is_left) for each in (sum_.left, sum_.right)]
            return ast.copy_location(ast.BinOp(parts[0], sum_.op, parts[1]), node)
    return node


def _times(part: ast.expr, by: ast.expr, is_left: bool) -> ast.expr:
    if isinstance(part, ast.Constant) and part.value == 1:
        return by
    left, right = (part, by) if is_left else (by, part)
    return ast.copy_location(ast.BinOp(left, ast.Mult(), right), part)


def _as_written(node: ast.expr, scope: Scope) -> ast.expr:
    """What a name was set to, so that ``end = start + T`` and ``start`` are T apart."""
    return scope.written.get(node.id, node) if isinstance(node, ast.Name) else node


def _difference(upper: ast.expr, lower: ast.expr) -> list[tuple[str, ast.expr]] | None:
    """The terms of ``upper - lower`` that are left, None where nothing cancels."""
    above, below = list(_terms(upper, "+")), list(_terms(lower, "-"))
    left = []
    cancelled = False
    for sign, term in above:
        opposite = ("-" if sign == "+" else "+", ast.dump(term))
        match = next((each for each in below if (each[0], ast.dump(each[1])) == opposite), None)
        if match is not None:
            below.remove(match)
            cancelled = True
        else:
            left.append((sign, term))
    return [*left, *below] if cancelled else None


def _terms(node: ast.expr, sign: str) -> Iterator[tuple[str, ast.expr]]:
    node = _multiplied_out(node)
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub)):
        yield from _terms(node.left, sign)
        other = "-" if sign == "+" else "+"
        yield from _terms(node.right, sign if isinstance(node.op, ast.Add) else other)
    else:
        yield sign, node
