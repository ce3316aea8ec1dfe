"""What Inductor does to the joint graph before it is cut in two.

torch/_inductor/fx_passes/joint_graph.py and post_grad.py (copies and views that change nothing,
pairs of casts and permutations), torch/_functorch/compile_utils.py (common subexpressions).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.inductor.derive.batches import take_apart
from nanolint.inductor.derive.operations import (
    CALL,
    GETITEM,
    INPUT,
    POINTWISE,
    PUTS,
    RANDOM,
    VIEW,
    Operation,
    Operations,
    base_of,
    is_float,
)
from nanolint.inductor.derive.regions import share_seeds
from nanolint.inductor.derive.scaled import take_out_factors
from nanolint.inductor.derive.uniform import fold_uniform, is_made_anew

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable

    from nanolint.inductor.derive.uniform import Known
    from nanolint.inductor.inductor import Inductor


def simplify(graph: Operations, inductor: Inductor, *, learns: bool = True) -> None:
    """Leave out what changes nothing and what nobody needs; where it ``learns``, and a partitioner
    is to cut it, also what is computed twice."""
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
IDLE = {"sum": (0, True), "difference": (0, False), "product": (1, True), "quotient": (1, False)}


def _is_idle(each: Operation) -> bool:
    if each.name not in IDLE or each.kind != POINTWISE or len(each.settings) < 2:
        return False
    (number, may_be_first), (first, second, *how) = IDLE[each.name], each.settings
    is_first = first is not None
    known = first if is_first else second
    is_number = isinstance(known, (int, float)) and known == number
    return is_number and (may_be_first or not is_first) and how in ([], ["1"])


def _left(each: Operation, known: Known) -> Operation | None:
    """The operand that is left where the other is full of a number that changes nothing
    (joint_graph.py, ``remove_no_ops``); None where there is more to it."""
    if each.name not in IDLE or each.kind != POINTWISE or len(each.of) != 2:
        return None
    (number, may_be_first), (*_, how) = IDLE[each.name], (*each.settings, "1")
    for place in (0, 1) if may_be_first else (1,):
        of = base_of(each.of[place])
        if of.name == "full" and of.settings in FULL[number] and how in {None, "1"}:
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
            each.name, each.of, each.settings = "convert", (left,), ()
        if len(each.of) != 1:
            continue
        source = each.of[0]
        if source.kind == INPUT and each in graph.outputs:  # it would be handed out itself
            continue
        if each.name == "clone" and each in handed and base_of(source) in handed:
            continue  # two results would be one (post_grad.py, ``remove_noop_ops``)
        same = source.shape == each.shape and source.dtype is each.dtype
        if (each.name == "clone" and same and source.strides == each.strides) or (
            (each.kind == VIEW and each.name == "view" and same)
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
        if len(source.of) != 1 or source.name != each.name or is_used_elsewhere:
            continue
        first = source.of[0]
        if each.name == "view" and each.kind == VIEW and first.shape == each.shape:
            old[each] = first
        elif each.name == "permute":
            back = [source.settings[dim] for dim in each.settings]  # type: ignore[index]
            if back == list(range(len(back))):
                old[each] = first
        elif each.name == "convert" and is_float(source.dtype) and is_float(each.dtype):
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
        if each.name == "convert"
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
        if each.kind in {INPUT, RANDOM} or (each.kind == CALL and each.name in PUTS):
            continue
        if base_of(each) in alone or _is_hidden(each, old):
            continue
        of = tuple(map(id, each.of))
        alike = each.shape, each.strides, each.dtype, each.settings
        key = each.name, each.kind, of, *alike, each in needed
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
        user.name == "difference" and old.get(user.of[0], user.of[0]) is numbers
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
