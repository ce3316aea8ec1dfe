"""Batched products of one matrix each, as einsum makes them: products of matrices by then
(torch/_inductor/fx_passes/joint_graph.py, ``bmm_to_mm``)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.inductor.derive.operations import CALL, VIEW, Operation

if TYPE_CHECKING:
    from nanolint.inductor.derive.operations import Operations
    from nanolint.tensors.layout import Shape, Strides


def take_apart(graph: Operations) -> None:
    """Put a product of two matrices, seen as a batch, in the place of each batch of one."""
    operations: list[Operation] = []
    old: dict[Operation, Operation] = {}
    for each in graph.all:
        if each.name != "bmm" or each.of[0].shape[0] != 1:
            operations.append(each)
            continue
        sides = [_seen(side, side.shape[1:], side.strides[1:], each) for side in each.of]
        made = Operation(
            "mm", CALL, sides, each.shape[1:], each.strides[1:], each.dtype, each.role
        )  # fmt: skip
        made.region = each.region
        old[each] = _seen(made, each.shape, each.strides, each)
        operations += [*sides, made, old[each]]
    if old:
        graph.all = operations
        graph.replace(old)
        graph.connect()


def _seen(source: Operation, shape: Shape, strides: Strides, of: Operation) -> Operation:
    made = Operation("view", VIEW, (source,), shape, strides, source.dtype, source.role, (), 0)
    made.region = of.region
    return made
