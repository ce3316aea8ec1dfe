"""NL418: gradients of all micro-steps but the first that are never averaged over the GPUs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.rule import (
    Context,
    Finding,
    Findings,
    Fix,
    FixAvailability,
    Safety,
    Severity,
    rule,
)
from nanolint_rules.torch._gradient_sync import FLAG, late_syncs
from nanolint_rules.torch._moving import moved_above
from nanolint_rules.torch._names import names

if TYPE_CHECKING:
    import libcst as cst

    from nanolint_rules.torch._gradient_sync import LateSync
    from nanolint_rules.torch._names import Names
else:
    from nanolint_rules.torch import _cst as cst


@rule(
    "NL418",
    "late-gradient-sync",
    Severity.WARNING,
    needs=[],
    fix=FixAvailability.SOMETIMES,
    markers=(FLAG,),
    counts_processes=True,
)
def late_gradient_sync(context: Context) -> Findings:
    """DDP's flag for the last micro-step is set after the forward pass that reads it."""
    resolved = names(context)
    for late in late_syncs(context.tree, resolved):
        spans = context.spans([late.assignment, late.forward])
        span, forward = spans[late.assignment], spans[late.forward]
        run = context.outline
        happens = run is not None and run.world_size > 1 and run.micro_steps > 1
        yield Finding(
            message=(
                f"{FLAG} is set after its forward pass (line {context.row(forward.start)}): "
                "only the first micro-step's gradients are averaged"
            ),
            span=span,
            severity=Severity.ERROR if happens else None,
            fix=_fix(context, resolved, late),
        )


def _fix(context: Context, resolved: Names, late: LateSync) -> Fix | None:
    """Move the assignment, with the ``if ddp:`` that is around it alone, above the forward pass."""
    moved = _statement(resolved, late.assignment)
    over = [late.forward, *resolved.ancestors(late.forward)]
    block = next(resolved.ancestors(moved), None)
    forward = next((node for node in over if next(resolved.ancestors(node), None) is block), None)
    if not isinstance(block, cst.IndentedBlock) or forward is None:
        return None
    edits = moved_above(context, block, moved, forward)
    if edits is None:
        return None
    return Fix("Set it before the forward pass", Safety.UNSAFE, edits)


def _is_lone_block(node: cst.CSTNode) -> bool:
    return isinstance(node, (cst.IndentedBlock, cst.SimpleStatementSuite)) and len(node.body) == 1


def _statement(resolved: Names, assignment: cst.Assign) -> cst.CSTNode:
    """The line of ``assignment``, or the ``if`` that has nothing else in it."""
    line, *around = resolved.ancestors(assignment)
    for node in around:
        if isinstance(node, cst.If) and node.orelse is None:
            line = node
        elif not _is_lone_block(node):
            break
    return line
