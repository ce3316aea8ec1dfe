"""Why a fix of the micro-batch could change what some run trains with, or what the user wrote."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.rule import Dialect, keeps_shape
from nanolint_rules._values import lost_choice, others_change, texts_change
from nanolint_rules.torch._gradient_sync import FLAG, late_syncs
from nanolint_rules.torch._names import names_in

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from nanolint.rule import Change, Context, Edit

STEPS = "gradient_accumulation_steps"


def unsafe_because(
    context: Context, changed: Mapping[str, int], edits: Mapping[str, Edit]
) -> tuple[str, ...]:
    """The reasons, one line each, not to set the keys ``changed`` by ``edits`` without asking."""
    return (
        *others_change(context, changed),
        *texts_change(context, changed),
        *_uneven(context, changed),
        *_asked_to_evaluate(context),
        *_lost_shapes(context, edits),
    )


def stops_averaging(context: Context, change: Change) -> str | None:
    """Why several micro-steps are worse than none: the script sets DDP's flag too late (NL418).

    Only where one micro-step on several GPUs, with which nothing goes wrong, becomes more.
    """
    run = context.run
    if run is None or run.world_size == 1 or run.micro_steps > 1:
        return None
    after = change.applied(run)
    if after.micro_steps == 1 or not _syncs_late(context):
        return None
    return (
        f"with {after.micro_steps} micro-steps the script stops averaging gradients: "
        f"it sets {FLAG} after the forward pass (NL418)"
    )


def _syncs_late(context: Context) -> bool:
    """Whether the script that trains sets DDP's flag after the forward pass."""
    described = context.settings.described
    if described is not None:
        return described.late_sync is not None
    tree = context.script_tree
    return tree is not None and next(late_syncs(tree, names_in(tree)), None) is not None


def _uneven(context: Context, changed: Mapping[str, int]) -> Iterator[str]:
    """Launch lines whose processes could not share the accumulation as they can now."""
    run, steps = context.run, changed.get(STEPS)
    if run is None or steps is None or run.sizes.dialect is not Dialect.TOTAL:
        return
    if run.gradient_accumulation_steps and steps % run.gradient_accumulation_steps == 0:
        return
    for each in context.takers.shared:
        if each.world_size is None or steps % each.world_size:
            processes = each.world_size or "a number of"
            yield (
                f"unsafe: {each.place} starts {processes} processes, "
                f"which must divide {STEPS} = {steps}"
            )
            return


def _asked_to_evaluate(context: Context) -> Iterator[str]:
    """Whether the file trains, and is only evaluated this time, or the other way round."""
    if context.from_command_line("eval_only"):
        yield "unsafe: without eval_only on the command line this file describes another run"


def _lost_shapes(context: Context, edits: Mapping[str, Edit]) -> Iterator[str]:
    for key, edit in edits.items():
        assignment = context.assignment(key)
        if assignment is not None and not keeps_shape(assignment, edit):
            yield from lost_choice(assignment)
