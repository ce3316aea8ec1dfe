"""Where a loop tells DDP too late which backward pass is to average the gradients.

DDP gets its reducer ready in the forward pass, if ``require_backward_grad_sync`` is set at that
time (torch/nn/parallel/distributed.py, ``_pre_forward``). Behind the forward pass the assignment
decides about the next one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from nanolint_rules.torch._names import all_in, found_in

if TYPE_CHECKING:
    from collections.abc import Iterator

    import libcst as cst

    from nanolint_rules.torch._names import Names
else:
    from nanolint_rules.torch import _cst as cst

FLAG = "require_backward_grad_sync"


class LateSync(NamedTuple):
    """An assignment of the flag between a forward pass and its backward pass."""

    assignment: cst.Assign
    forward: cst.Call


def late_syncs(tree: cst.Module, names: Names) -> Iterator[LateSync]:
    """The assignments that come too late for the passes that they are written for."""
    for assignment in found_in(tree, cst.Assign):
        target = assignment.targets[0].target
        if not isinstance(target, cst.Attribute) or target.attr.value != FLAG:
            continue
        if isinstance(assignment.value, cst.Name):
            continue  # True or False, set for good
        loops = (n for n in names.ancestors(assignment) if isinstance(n, (cst.For, cst.While)))
        loop = next(loops, None)
        forward = None if loop is None else _forward_before(assignment, target.value, loop)
        if forward is not None:
            yield LateSync(assignment, forward)


def _forward_before(
    assignment: cst.Assign, model: cst.BaseExpression, loop: cst.CSTNode
) -> cst.Call | None:
    """The call of ``model`` whose backward pass follows ``assignment``, None where none does."""
    forward: cst.Call | None = None
    is_set = False
    for node in all_in(loop):
        if node is assignment:
            if forward is None:
                return None
            is_set = True
        elif isinstance(node, cst.Call):
            if model.deep_equals(node.func):
                if is_set:
                    return None
                forward = node
            elif isinstance(node.func, cst.Attribute) and node.func.attr.value == "backward":
                if is_set:
                    return forward
                forward = None
    return None
