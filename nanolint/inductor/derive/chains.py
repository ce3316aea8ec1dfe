"""Where a long chain ends within an operation that is several nodes of PyTorch's graph
(torch/_functorch/partitioners.py, ``ban_if_long_fusible_chains``)."""

from __future__ import annotations

from nanolint.inductor.derive.counting import is_half, uses
from nanolint.inductor.derive.operations import POINTWISE, Operation, Operations
from nanolint.tensors.dtypes import FLOAT32


def ends_in_two(each: Operation) -> bool:
    """Whether its last node waits in the queue twice: an activation that reads what it is of more
    than once, and that no cast follows."""
    return not is_half(each.dtype) and any(uses(each, source) > 1 for source in each.of)


def casts_first(each: Operation) -> bool:
    """Whether its first node casts what it reads to float32: an activation in two bytes."""
    if each.all_nodes == 1 or len(each.of) != 1:
        return False
    return is_half(each.dtype) and is_half(each.of[0].dtype)


def cast_apart(graph: Operations, each: Operation) -> None:
    """Make the cast that an activation begins with an operation, which its gradient reads, too."""
    (source,) = each.of
    cast = Operation(
        "convert", POINTWISE, (source,), each.shape, each.strides, FLOAT32, source.role
    )
    cast.region = each.region
    for user in source.users:
        if user is each or each.name in user.settings:
            user.of = tuple(cast if one is source else one for one in user.of)
    each.nodes, each.all_nodes = each.nodes - 1, each.all_nodes - 1
    graph.all.insert(graph.all.index(each), cast)
