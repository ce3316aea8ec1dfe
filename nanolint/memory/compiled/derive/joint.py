"""What Inductor does to the joint graph before it is cut in two.

torch/_inductor/fx_passes/joint_graph.py and post_grad.py (copies and views that change nothing,
pairs of casts and permutations), torch/_functorch/compile_utils.py (common subexpressions).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.memory.compiled.derive.operations import (
    CALL,
    INPUT,
    RANDOM,
    VIEW,
    Operation,
    Operations,
    is_float,
)

if TYPE_CHECKING:
    from collections.abc import Hashable


def simplify(graph: Operations, *, learns: bool = True) -> None:
    """Leave out what changes nothing and what nobody needs; where it ``learns``, and a partitioner
    is to cut it, also what is computed twice."""
    graph.drop_dead()
    graph.replace(dict(_without_effect(graph)))
    graph.connect()
    graph.replace(_shortened(graph))
    graph.drop_dead()
    if learns:
        graph.replace(_twice(graph))
    graph.drop_dead()
    graph.connect()


def _without_effect(graph: Operations) -> list[tuple[Operation, Operation]]:
    found = []
    for each in graph.all:
        if len(each.of) != 1:
            continue
        source = each.of[0]
        same = source.shape == each.shape and source.dtype is each.dtype
        if (each.name == "clone" and same and source.strides == each.strides) or (
            each.kind == VIEW and each.name in {"view", "expand"} and same
        ):
            found.append((each, source))
    return found


def _shortened(graph: Operations) -> dict[Operation, Operation]:
    """A view of a view, a permutation back, a cast of a cast that widens nothing."""
    old: dict[Operation, Operation] = {}
    for each in graph.all:
        if len(each.of) != 1:
            continue
        source = each.of[0]
        if len(source.of) != 1 or source.name != each.name or len(source.users) != 1:
            continue
        first = source.of[0]
        if each.name == "view" and each.kind == VIEW and first.shape == each.shape:
            old[each] = first
        elif each.name == "permute":
            back = [source.settings[dim] for dim in each.settings]  # type: ignore[index]
            if back == list(range(len(back))):
                old[each] = first
        elif (
            each.name == "convert"
            and all(is_float(it.dtype) for it in (first, source, each))
            and source.dtype.itemsize >= each.dtype.itemsize
        ):
            each.of = (first,)
    return old


def _twice(graph: Operations) -> dict[Operation, Operation]:
    """Operations that were traced before with the same inputs."""
    old: dict[Operation, Operation] = {}
    known: dict[Hashable, Operation] = {}
    for each in graph.all:
        each.of = tuple(old.get(source, source) for source in each.of)
        if each.kind in {INPUT, RANDOM} or (each.kind == CALL and each.name == "index_put"):
            continue
        of = tuple(map(id, each.of))
        key = each.name, each.kind, of, each.shape, each.strides, each.dtype, each.settings
        if known.setdefault(key, each) is not each:
            old[each] = known[key]
    return old
