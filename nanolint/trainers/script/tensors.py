"""The dimensions of tensors, arrays and their slices, as far as they say what a batch is made
of."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nanolint.run.equation import NotKnown
from nanolint.run.terms import Number
from nanolint.trainers.script import unknown_reasons
from nanolint.trainers.script.operations import made, plus, row, scalar
from nanolint.trainers.script.things import TERMS, Instance, Repeated, Row, Table, Tensor

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from nanolint.run.terms import Place
    from nanolint.trainers.script.core import Core
    from nanolint.trainers.script.things import Scope, Thing

# Functions that make a tensor of the dimensions that they are given.
FILLED = frozenset({"empty", "zeros", "ones", "rand", "randn", "full"})
# Functions that give an array back with the dimensions that it has.
SAME = frozenset(
    {
        *("from_numpy", "as_tensor", "asarray", "array", "tensor", "clone", "zeros_like"),
        *("empty_like", "ones_like", "LongTensor", "IntTensor", "ascontiguousarray"),
    }
)
# Methods that do likewise.
METHODS = frozenset(
    {
        *("to", "cuda", "cpu", "long", "int", "float", "bfloat16", "half", "contiguous", "clone"),
        *("detach", "pin_memory", "type", "astype", "requires_grad_", "copy", "numpy", "copy_"),
        *("fill_", "zero_", "requires_grad", "share_memory_", "type_as", "div_", "mul_"),
        *("masked_fill", "masked_fill_", "clamp", "clamp_"),
    }
)


WHERE = 3  # arguments
BOUNDS = 2  # numpy's lower and upper one, which come before how many are drawn


def _product(dimensions: Sequence[Thing]) -> Thing:
    result: Thing = Number(1)
    for each in dimensions:
        if result == Number(1):
            result = each
        elif each != Number(1):
            result = made("*", (result, each), None, 0)
    return result


def constructed(
    name: str, arguments: Sequence[Thing], named: Mapping[str, Thing], place: Place
) -> Tensor | None:
    """What a function of torch or numpy makes; None where it is not one that is known."""
    first = arguments[0] if arguments else None
    if name in ("randint", "randperm", "integers"):
        return _drawn(name, arguments, named)
    if name in FILLED:
        size = named.get("size", first)
        if isinstance(size, Row):
            return Tensor(size.items)
        dimensions = tuple(each for each in arguments if isinstance(each, (NotKnown, *TERMS)))
        return Tensor(dimensions[:1] if name == "full" else dimensions)
    if name == "arange" and len(arguments) == 1:
        return Tensor((arguments[0],))
    if name in SAME:
        return _like(first)
    if name == "where":
        return _chosen(arguments, NotKnown(unknown_reasons.OF_TENSOR, place.path, place.line))
    if name in ("cat", "concat", "concatenate"):
        at = arguments[1] if len(arguments) > 1 else named.get("dim", named.get("axis"))
        return _joined(first, scalar(at) if at is not None else 0, place)
    if name in ("stack", "vstack") and first is not None:
        return stacked(first, place)
    if name in ("frombuffer", "fromfile") or (name == "memmap" and "shape" not in named):
        return Tensor((NotKnown(unknown_reasons.IN_FILE, place.path, place.line),))
    if name == "pad_sequence" and first is not None:
        longest = NotKnown(unknown_reasons.SEQUENCE, place.path, place.line)
        rows = (stacked(first, place).shape or (longest,))[0]
        return Tensor((rows, longest) if _is_first(arguments, named) else (longest, rows))
    return None


def _drawn(name: str, arguments: Sequence[Thing], named: Mapping[str, Thing]) -> Tensor:
    """Whole numbers by chance: ``torch.randint(n, (rows,))``, ``rng.integers(0, n, rows)``."""
    size = named.get("size") or next((each for each in arguments if isinstance(each, Row)), None)
    if name == "randperm" and size is None:
        return Tensor(tuple(arguments[:1]) or None)
    if size is None and len(arguments) > BOUNDS and isinstance(arguments[BOUNDS], TERMS):
        size = arguments[BOUNDS]
    return Tensor(size.items) if isinstance(size, Row) else Tensor((size,) if size else None)


def _joined(parts: Thing | None, at: object, place: Place) -> Tensor:
    """Tensors behind one another: as long as all of them along one dimension."""
    items = parts.items if isinstance(parts, Row) and parts.count is None else ()
    shapes = [each.shape if isinstance(each, Tensor) else None for each in items]
    known = [each for each in shapes if each is not None]
    deep = {len(each) for each in known}
    several = any(isinstance(each, Tensor) and each.perhaps_more for each in items)
    if len(known) < len(items) or len(deep) != 1 or several or not isinstance(at, int):
        return Tensor(None)
    (depth,) = deep
    if not -depth <= at < depth:
        return Tensor(None)
    unknown = NotKnown(unknown_reasons.SEQUENCE, place.path, place.line)
    joined: list[Thing] = []
    for dimension_, sizes in enumerate(zip(*known, strict=True)):
        if dimension_ == at % depth:
            joined.append(_sum(sizes, unknown))
        else:
            terms = [each for each in sizes if isinstance(each, TERMS)]
            joined.append(terms[0] if terms else sizes[0])
    return Tensor(tuple(joined))


def _sum(sizes: Sequence[Thing], unknown: NotKnown) -> Thing:
    total: Thing = Number(0)
    for each in sizes:
        if not isinstance(each, TERMS):
            return unknown
        total = each if total == Number(0) else made("+", (total, each), None, 0)
    return total


def _chosen(arguments: Sequence[Thing], unknown: NotKnown) -> Tensor | None:
    """``where(condition, this, other)``: as wide as all of them."""
    found = next((each for each in arguments if isinstance(each, Tensor)), None)
    if len(arguments) != WHERE or found is None:
        return None  # of one argument it gives places
    for each in arguments:
        found = broadcast(found, each, unknown)
    return found


def _is_first(arguments: Sequence[Thing], named: Mapping[str, Thing]) -> bool:
    """``batch_first`` of ``pad_sequence(sequences, batch_first=False, ...)``."""
    given = arguments[1] if len(arguments) > 1 else named.get("batch_first")
    return scalar(given) is True


def _like(thing: Thing | None) -> Tensor:
    if isinstance(thing, Tensor):
        return thing
    if isinstance(thing, Row) and thing.count is not None:
        return _like(Repeated(thing.items[0], thing.count))
    if isinstance(thing, Row):
        if thing.items and isinstance(thing.items[0], NotKnown):
            return Tensor((Number(len(thing.items)),), perhaps_more=True)
        inner = _like(thing.items[0]) if thing.items else Tensor(None)
        deeper = (
            inner.shape
            if isinstance(thing.items[0] if thing.items else None, (Row, Tensor))
            else ()
        )
        return Tensor(None if deeper is None else (Number(len(thing.items)), *deeper))
    if isinstance(thing, Repeated):
        if isinstance(thing.item, NotKnown):  # a number, or a list of them
            return Tensor((thing.count,), perhaps_more=True)
        inner = _like(thing.item)
        nested = isinstance(thing.item, (Row, Repeated, Tensor))
        deeper = inner.shape if nested else ()
        return Tensor(None if deeper is None else (thing.count, *deeper))
    return Tensor(None)


def stacked(thing: Thing, place: Place) -> Tensor:
    """A batch of like tensors: one dimension more, in front."""
    if isinstance(thing, Row) and thing.count is not None:
        thing = Repeated(thing.items[0], thing.count)
    if isinstance(thing, Repeated):
        inner = _like(thing.item).shape
        unknown = NotKnown(unknown_reasons.SEQUENCE, place.path, place.line)
        return Tensor((thing.count, *(inner if inner is not None else (unknown,))))
    if isinstance(thing, Row) and thing.items:
        inner = _like(thing.items[0]).shape
        return Tensor(None if inner is None else (Number(len(thing.items)), *inner))
    return Tensor(None)


def method(
    owner: Tensor, name: str, arguments: Sequence[Thing], named: Mapping[str, Thing], place: Place
) -> Thing:
    """What calling a method of a tensor gives."""
    unknown = NotKnown(unknown_reasons.called_of_tensor(name), place.path, place.line)
    if name in METHODS:
        return owner
    if owner.perhaps_several and name in ("items", "values", "get", "pop"):
        single = Tensor(owner.shape, owner.perhaps_more)
        if name in ("get", "pop"):
            return single
        return Repeated(row([unknown, single]) if name == "items" else single, unknown)
    if name in ("view", "reshape"):
        sizes = arguments[0].items if arguments and isinstance(arguments[0], Row) else arguments
        return Tensor(_viewed(owner, tuple(sizes)))
    if owner.shape is None:
        return Tensor(None) if name in ("unsqueeze", "repeat", "expand", "t") else unknown
    if name in ("size", "dim", "numel", "__len__"):
        if name == "size" and arguments:
            return dimension(owner, scalar(arguments[0]), unknown)
        if name == "numel":
            return _product(owner.shape)
        return Number(len(owner.shape)) if name == "dim" else unknown
    at = scalar(arguments[0]) if arguments else scalar(named.get("dim"))
    if name == "unsqueeze" and isinstance(at, int):
        at = at if at >= 0 else at + len(owner.shape) + 1
        return Tensor((*owner.shape[:at], Number(1), *owner.shape[at:]))
    if name == "repeat" and len(arguments) == len(owner.shape):
        pairs = zip(owner.shape, arguments, strict=True)
        return Tensor(tuple(_product(pair) for pair in pairs))
    if name == "tolist" and owner.shape and not owner.perhaps_more:
        item: Thing = unknown
        for each in reversed(owner.shape):
            item = Repeated(item, each)
        return item
    if name in ("flatten", "ravel") and not arguments:
        return Tensor((_product(owner.shape),))
    return Tensor(None)


def broadcast(left: Thing, right: Thing, unknown: NotKnown) -> Tensor:
    """What an operation on two things gives, of which one is a tensor, element by element."""
    if isinstance(left, Tensor) and isinstance(right, Tensor):
        if left.shape is None or right.shape is None:
            return Tensor(None)
        longer, shorter = sorted((left.shape, right.shape), key=len, reverse=True)
        ones = (Number(1),) * (len(longer) - len(shorter))
        pairs = zip(longer, (*ones, *shorter), strict=True)
        return Tensor(tuple(_wider(*pair, unknown) for pair in pairs))
    tensor, other = (left, right) if isinstance(left, Tensor) else (right, left)
    assert isinstance(tensor, Tensor)
    if isinstance(other, TERMS) or tensor.shape is None:
        return tensor
    return Tensor(tuple(unknown if each == Number(1) else each for each in tensor.shape))


def _wider(one: Thing, other: Thing, unknown: NotKnown) -> Thing:
    """The dimension that two become: where one is 1 it is the other."""
    if one == Number(1):
        return other
    if other == Number(1) or one == other:
        return one
    if isinstance(one, TERMS) and isinstance(other, TERMS):
        return one if one.value == other.value else unknown
    return one if isinstance(one, TERMS) else other


def dimension(owner: Tensor, at: object, unknown: NotKnown) -> Thing:
    """One dimension."""
    if owner.shape is None or not isinstance(at, int):
        return unknown
    return owner.shape[at] if -len(owner.shape) <= at < len(owner.shape) else unknown


def _viewed(owner: Tensor, sizes: tuple[Thing, ...]) -> tuple[Thing, ...]:
    """The sizes of a view, in which one may be -1: what is left."""
    if not any(scalar(each) == -1 for each in sizes):
        return sizes
    rest: Thing = NotKnown(unknown_reasons.LEFT)
    if owner.shape is not None:
        others = _product([each for each in sizes if scalar(each) != -1])
        whole = _product(owner.shape)
        rest = made("//", (whole, others), None, 0) if others != Number(1) else whole
    return tuple(rest if scalar(each) == -1 else each for each in sizes)


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
        size = rest.pop(0) if rest else NotKnown(unknown_reasons.OF_ARRAY)
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
        return made("-", (above, below), None, 0) if within else NotKnown(unknown_reasons.LENGTH)
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
