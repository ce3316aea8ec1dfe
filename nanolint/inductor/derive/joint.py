"""Inductor's passes over the joint graph before it is cut in two (torch/_inductor/fx_passes).

torch/_inductor/fx_passes/joint_graph.py and post_grad.py (copies and views that change nothing,
pairs of casts and permutations), torch/_functorch/compile_utils.py (common subexpressions).

Tensors that are full of one number, worked out before the graph runs
(torch/_inductor/fx_passes/joint_graph.py, ``constant_fold_uniform_value``).

Attention that is written out, which Inductor makes one call of: torch/_inductor/fx_passes/
fuse_attention.py, ``_sfdp_pattern_1`` and its kin, before the joint graph is cut in two.

The tensors that the call keeps are not derived: such a graph is computed as it is written, which
takes more.

Matrix products that torch.compile times with and without padding: torch/_inductor/fx_passes/
pad_mm.py, which asks for each side of ``mm``, ``addmm`` and ``bmm`` whether it is aligned.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, TypeAlias

from nanolint.inductor.derive.lowering import take_apart
from nanolint.inductor.derive.operations import (
    ALONE,
    GETITEM,
    INPUT,
    POINTWISE,
    RANDOM,
    VIEW,
    Operation,
    Operations,
    base_of,
    is_float,
)
from nanolint.inductor.derive.partition import share_seeds
from nanolint.inductor.derive.reducing import FACTORS, take_out_factors
from nanolint.run.coverage import is_timed, of_timed
from nanolint.tensors.dtypes import BOOL, FLOATING
from nanolint.tensors.layout import is_contiguous
from nanolint.tensors.ops import registry as ops

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Hashable, Iterable, Iterator

    from nanolint.inductor.inductor import Inductor
    from nanolint.tensors.ops.registry import Op


Known: TypeAlias = "dict[Operation, float]"

# ``UniformValueConstantFolder.view_op_packets``.
SEEN = frozenset({ops.VIEW, ops.SLICE, ops.EXPAND, ops.PERMUTE})
SAME = frozenset({ops.CONVERT, ops.CLONE})
OF_TWO: dict[Op, Callable[[float, float], float]] = {
    ops.ADD: operator.add,
    ops.SUB: operator.sub,
    ops.MUL: operator.mul,
    ops.DIV: operator.truediv,
    ops.LT: operator.lt,
    ops.LE: operator.le,
    ops.GT: operator.gt,
    ops.GE: operator.ge,
    ops.EQ: operator.eq,
    ops.NE: operator.ne,
}


def fold_uniform(graph: Operations) -> Known:
    """Replaces results of numbers alone by tensors full of the number; returns the number that each
    operation is full of, if it is one."""
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
        each.op, each.of, each.settings = ops.FULL, (), (repr(exact),)
        each.numbers, each.cost = (), 1
    return known


def is_made_anew(each: Operation, known: Known, handed: Container[Operation] = ()) -> bool:
    """Whether PyTorch makes a tensor full of a number, or a view of it, by a call of its own, and
    so knows its number. It does not if a view shares it and both are read elsewhere or ``handed``
    out, nor if it does not lie in order."""
    if not is_contiguous(each.shape, each.strides):
        return False
    unseen, read = [base_of(each)], 0
    while unseen:
        of = unseen.pop()
        views = [user for user in of.users if user.kind == VIEW and user.op in SEEN]
        folded = [user for user in of.users if user.kind != VIEW and user in known]
        read += of in handed or len(views) + len(folded) < len(of.users)
        unseen += views
    return read == 1


def _number_of(each: Operation, known: Known) -> float | None:
    if each.op is ops.FULL and not each.of:
        try:
            return float(str(*each.settings))
        except ValueError:  # of something, or of what is no number
            return None
    if not each.of or any(source not in known for source in each.of):
        return None
    if each.kind == VIEW:
        return known[each.of[0]] if each.op in SEEN else None
    if each.kind != POINTWISE:
        return None
    if each.op in SAME:
        return _as_kept(each, known[each.of[0]])
    if len(each.settings) < 2:
        return None
    numbers = iter([known[source] for source in each.of])
    first, second, *how = each.settings
    one, other = (next(numbers) if it is None else it for it in (first, second))
    work = OF_TWO.get(each.op)
    if work is None or how not in ([], ["1"]) or not _are_real(one, other):
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


def simplify(graph: Operations, inductor: Inductor, *, learns: bool = True) -> None:
    """Leaves out operations that change nothing or that nobody needs; if it ``learns``, and a
    partitioner is to cut it, also those that are computed twice."""
    graph.drop_dead()
    graph.connect()
    known = fold_uniform(graph)
    graph.drop_dead()
    graph.connect()
    graph.replace(dict(_without_effect(graph, known, numbers=inductor.drops_numbers)))
    graph.connect()
    graph.replace(_shortened(graph, narrow=inductor.keeps_narrow_casts))
    graph.drop_dead()
    graph.connect()
    take_apart(graph)
    share_seeds(graph)
    if inductor.takes_out_factors:
        take_out_factors(graph, keeps_nonfinite=inductor.keeps_nonfinite)
    if learns:
        graph.replace(_twice(graph, apart=inductor.tells_needs_apart))
    graph.drop_dead()
    graph.connect()


# Sums, differences, products and quotients with a number that changes nothing: which, and whether
# it may come first (joint_graph.py, ``constant_fold_uniform_value``).
FULL = {0: [("0.0",), ("0",)], 1: [("1.0",), ("1",)]}  # the settings of what is full of a number
IDLE = {ops.ADD: (0, True), ops.SUB: (0, False), ops.MUL: (1, True), ops.DIV: (1, False)}


def _is_idle(each: Operation) -> bool:
    if each.op not in IDLE or each.kind != POINTWISE or len(each.settings) < 2:
        return False
    (number, may_be_first), (first, second, *how) = IDLE[each.op], each.settings
    is_first = first is not None
    known = first if is_first else second
    is_number = isinstance(known, (int, float)) and known == number
    return is_number and (may_be_first or not is_first) and how in ([], ["1"])


def _left(each: Operation, known: Known) -> Operation | None:
    """The operand that is left where the other is full of a number that changes nothing
    (joint_graph.py, ``remove_no_ops``); None where there is more to it."""
    if each.op not in IDLE or each.kind != POINTWISE or len(each.of) != 2:
        return None
    (number, may_be_first), (*_, how) = IDLE[each.op], (*each.settings, "1")
    for place in (0, 1) if may_be_first else (1,):
        of = base_of(each.of[place])
        if of.op is ops.FULL and of.settings in FULL[number] and how in {None, "1"}:
            is_known = is_made_anew(each.of[place], known)
            is_alike = each.of[1 - place].shape == each.shape
            return each.of[1 - place] if is_known and is_alike else None
    return None


def _without_effect(
    graph: Operations, known: Known, *, numbers: bool
) -> list[tuple[Operation, Operation]]:
    found = []
    handed = {base_of(each) for each in (*graph.outputs, *graph.gradients) if each is not None}
    for each in graph.all:
        left = _left(each, known)
        if left is not None and left.dtype is each.dtype:
            if left.kind != INPUT or each not in graph.outputs:
                found.append((each, left))
        elif left is not None and left.dtype is not each.dtype:
            each.op, each.of, each.settings, each.cost = ops.CONVERT, (left,), (), 0
        if len(each.of) != 1:
            continue
        source = each.of[0]
        if source.kind == INPUT and each in graph.outputs:  # it would be handed out itself
            continue
        if each.op is ops.CLONE and each in handed and base_of(source) in handed:
            continue  # two results would be one (post_grad.py, ``remove_noop_ops``)
        same = source.shape == each.shape and source.dtype is each.dtype
        if (each.op is ops.CLONE and same and source.strides == each.strides) or (
            (each.op is ops.VIEW and same)
            or (numbers and same and source.strides == each.strides and _is_idle(each))
        ):
            found.append((each, source))
    return found


def _shortened(graph: Operations, *, narrow: bool) -> dict[Operation, Operation]:
    """A view of a view, a permutation back, a cast of a cast, which where ``narrow`` casts stay
    widens nothing."""
    old: dict[Operation, Operation] = {}
    handed = {*graph.outputs, *graph.gradients}
    for each in graph.all:
        if len(each.of) != 1:
            continue
        source = each.of[0]
        is_used_elsewhere = len(source.users) != 1 or source in handed
        if len(source.of) != 1 or source.op is not each.op or is_used_elsewhere:
            continue
        first = source.of[0]
        if each.op is ops.VIEW and first.shape == each.shape:
            old[each] = first
        elif each.op is ops.PERMUTE:
            back = [source.settings[dim] for dim in each.settings]  # type: ignore[index]
            if back == list(range(len(back))):
                old[each] = first
        elif each.op is ops.CONVERT and is_float(source.dtype) and is_float(each.dtype):
            widens = source.dtype.itemsize < each.dtype.itemsize
            if not narrow or (is_float(first.dtype) and not widens):
                each.of = (first,)
    return old


def idle_casts(graph: Operations) -> dict[Operation, Operation]:
    """Casts to the type that is there, which the graph loses once it is cut (post_grad.py,
    ``remove_noop_ops``)."""
    handed = {*graph.outputs, *graph.gradients}
    return {
        each: each.of[0]
        for each in graph.all
        if each.op is ops.CONVERT
        and each.dtype is each.of[0].dtype
        and not (each in handed and base_of(each.of[0]).kind == INPUT)
    }


def _twice(graph: Operations, *, apart: bool) -> dict[Operation, Operation]:
    """Operations that were traced before with the same inputs; what shares memory with what is
    handed out stays by itself (``nodes_that_alias_outputs``), and where those are told ``apart``
    what the backward pass needs is not one with what it does not (partitioners.py,
    ``partition_key``)."""
    gradients = [each for each in graph.gradients if each is not None]
    needed = graph.needed_by(gradients) if apart else set()
    old: dict[Operation, Operation] = {}
    known: dict[Hashable, Operation] = {}
    alone = {base_of(each) for each in (*graph.outputs, *graph.gradients) if each is not None}
    for each in graph.all:
        each.of = tuple(old.get(source, source) for source in each.of)
        if each.kind in {INPUT, RANDOM} or each.op in ALONE:
            continue
        if base_of(each) in alone or _is_hidden(each, old):
            continue
        of = tuple(map(id, each.of))
        alike = each.shape, each.strides, each.dtype, each.settings
        key = each.op, of, *alike, each in needed
        if known.setdefault(key, each) is not each:
            old[each] = known[key]
        elif each.kind == GETITEM:  # of one whose own was not needed
            (whole,), (place,) = each.of, each.settings
            whole.parts = tuple(
                each if number == place else part for number, part in enumerate(whole.parts)
            )
    return old


def _is_hidden(each: Operation, old: dict[Operation, Operation]) -> bool:
    """Whether it is the rows' numbers in a square ``tril``: an unsqueeze by -1, of what was
    unsqueezed by -2 before. Python's hashes of both numbers are the same, and what shares its hash
    with another is not found again (``fx_graph_cse``): neither are the masks that follow."""
    if each.kind != VIEW or len(each.shape) != 2 or len(each.of[0].shape) != 1:
        return False
    (numbers,) = each.of
    if each.shape != (*numbers.shape, 1):
        return False
    return any(
        user.op is ops.SUB and old.get(user.of[0], user.of[0]) is numbers
        for user in each.users
        if len(user.of) == 2
    )


def by_locality(graph: Operations) -> list[Operation]:
    """The operations of a graph that learns nothing, each right before the first that needs it
    (post_grad.py, ``reorder_for_locality``)."""
    before: dict[Operation | None, Operation | None] = {}
    after: dict[Operation | None, Operation | None] = {}  # None is the end
    last: Operation | None = None
    for each in graph.all:
        before[each], after[last] = last, each
        last = each
    before[None], after[last] = last, None
    seen = set[Operation]()

    def pull(to: Operation | None, sources: Iterable[Operation]) -> None:
        for source in sources:
            if source.kind in {INPUT, GETITEM} or not seen.issuperset(source.users):
                continue
            left, right = before[source], after[source]
            before[right], after[left] = left, right
            ahead = before[to]
            before[source], after[source] = ahead, to
            after[ahead], before[to] = source, source

    waits = bool(graph.mutations)
    if not waits:
        pull(None, graph.outputs)
    current = before[None]
    while current is not None:
        seen.add(current)
        if waits:
            waits = current is not graph.mutations[0]
        else:
            pull(current, current.of)
        current = before[current]
    found = []
    current = after[None]
    while current is not None:
        found.append(current)
        current = after[current]
    return found


FOUND = (
    "torch.compile fuses hand-written attention into one call, which takes less than this number"
)
DROPPED = "nanolint does not model hand-written attention with dropout under torch.compile"


def has_attention(operations: Iterable[Operation], *, over_any: bool) -> bool:
    """Whether batched products in two bytes are around a softmax, ``over_any`` dimension or the
    last, of what is at most scaled by a number."""
    return any(
        each.op is ops.BMM and each.dtype.itemsize == 2 and _is_of_scores(each.of[0], over_any)
        for each in operations
    )


def drops_weights(operations: Iterable[Operation]) -> bool:
    """Whether there is such attention with dropout after its softmax."""
    return any(
        each.op is ops.BMM
        and each.dtype.itemsize == 2
        and (kept := _kept(each.of[0])) is not None
        and _is_of_scores(kept, over_any=True)
        for each in operations
    )


def _kept(weights: Operation) -> Operation | None:
    """What dropout is of; None where it is none: a product with a number, and one with a mask."""
    scaled = _behind(weights)
    if scaled.op is not ops.MUL or len(scaled.of) != 1:
        return None
    dropped = _behind(scaled.of[0])
    if dropped.op is not ops.MUL or len(dropped.of) != 2:
        return None
    mask, kept = dropped.of
    return kept if mask.op is ops.GT and mask.of[0].op is ops.RANDOM else None


def _is_of_scores(weights: Operation, over_any: bool) -> bool:
    softmax = _behind(weights)
    if softmax.op is not ops.DIV or len(softmax.of) != 2:
        return False
    exponential, total = softmax.of
    if exponential.op is not ops.EXP or total.op is not ops.SUM or total.of != (exponential,):
        return False
    difference = exponential.of[0]
    if difference.op is not ops.SUB or len(difference.of) != 2:
        return False
    scores, largest = difference.of
    if largest.op is not ops.AMAX or largest.of != (scores,) or len(scores.shape) != 4:
        return False
    is_last = largest.settings[0] == (len(scores.shape) - 1,)
    scaled = _behind(scores)
    if scaled.op in FACTORS and len(scaled.of) == 1:
        scaled = _behind(scaled.of[0])
    return scaled.op is ops.BMM and (is_last or over_any)


def _behind(each: Operation) -> Operation:
    """What it is of, seen or cast otherwise."""
    while each.kind == VIEW or each.op in SAME:
        each = each.of[0]
    return each


TIMED = frozenset({ops.MM, ops.BMM, ops.ADDMM})


def timed(operations: Iterable[Operation]) -> Iterator[str]:
    """A doubt for each size that is not aligned."""
    found: dict[int, None] = {}
    for each in operations:
        if each.op in TIMED:
            for factor in each.of[-2:]:
                sides = factor.shape[-2:]
                found |= {side: None for side in sides if is_timed(side, factor.dtype.itemsize)}
    return map(of_timed, found)
