"""What is full of one number, worked out before it runs (torch/_inductor/fx_passes/joint_graph.py,
``constant_fold_uniform_value``)."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, TypeAlias

from nanolint.inductor.derive.operations import POINTWISE, VIEW, Operation, Operations, base_of
from nanolint.tensors.dtypes import BOOL, FLOATING
from nanolint.tensors.layout import is_contiguous

if TYPE_CHECKING:
    from collections.abc import Callable, Container

Known: TypeAlias = "dict[Operation, float]"

# ``UniformValueConstantFolder.view_op_packets``.
SEEN = frozenset({"view", "slice", "expand", "permute"})
SAME = frozenset({"convert", "clone"})
OF_TWO: dict[str, Callable[[float, float], float]] = {
    "sum": operator.add,
    "difference": operator.sub,
    "product": operator.mul,
    "quotient": operator.truediv,
}
COMPARED: dict[str, Callable[[float, float], bool]] = {
    name: getattr(operator, name) for name in ("lt", "le", "gt", "ge", "eq", "ne")
}


def fold_uniform(graph: Operations) -> Known:
    """Make what is worked out of numbers alone full of its own; returns the number that each
    operation is full of, where it is of one."""
    known: Known = {}
    for each in graph.all:
        number = _number_of(each, known)
        if number is not None:
            known[each] = number
    handed = set(graph.wanted())
    made = [
        each
        for each in known
        if each.of and each.kind != VIEW and is_made_anew(each, known, handed)
    ]
    for each in made:
        number = known[each]
        exact = float(number) if each.dtype.kind >= FLOATING else int(number)
        each.name, each.of, each.settings = "full", (), (repr(exact),)
        each.numbers, each.cost = (), 1
    return known


def is_made_anew(each: Operation, known: Known, handed: Container[Operation] = ()) -> bool:
    """Whether PyTorch makes what is full of a number, or a view of it, by a call of its own, and so
    knows its number: not what a view of it shares, where both are read elsewhere or ``handed`` out,
    nor what does not lie in order."""
    if not is_contiguous(each.shape, each.strides):
        return False
    unseen, read = [base_of(each)], 0
    while unseen:
        of = unseen.pop()
        views = [user for user in of.users if user.kind == VIEW and user.name in SEEN]
        folded = [user for user in of.users if user.kind != VIEW and user in known]
        read += of in handed or len(views) + len(folded) < len(of.users)
        unseen += views
    return read == 1


def _number_of(each: Operation, known: Known) -> float | None:
    if each.name == "full" and not each.of:
        try:
            return float(str(*each.settings))
        except ValueError:  # of something, or of what is no number
            return None
    if not each.of or any(source not in known for source in each.of):
        return None
    if each.kind == VIEW:
        return known[each.of[0]] if each.name in SEEN else None
    if each.kind != POINTWISE:
        return None
    if each.name in SAME:
        return _as_kept(each, known[each.of[0]])
    if len(each.settings) < 2:
        return None
    numbers = iter([known[source] for source in each.of])
    first, second, *how = each.settings
    one, other = (next(numbers) if it is None else it for it in (first, second))
    work = COMPARED.get(str(*how)) if each.name == "comparison" else OF_TWO.get(each.name)
    is_plain = each.name == "comparison" or how in ([], ["1"])
    if work is None or not is_plain or not _are_real(one, other):
        return None
    try:
        return _as_kept(each, work(one, other))  # type: ignore[arg-type]
    except (ZeroDivisionError, OverflowError):
        return None


def _are_real(*numbers: object) -> bool:
    return all(isinstance(each, (int, float)) for each in numbers)


def _as_kept(each: Operation, number: float) -> float:
    """The number in its type."""
    if each.dtype is BOOL:
        return bool(number)
    return number if each.dtype.kind >= FLOATING else int(number)
