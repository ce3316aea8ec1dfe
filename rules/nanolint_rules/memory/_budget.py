"""What the memory rules share: which cases fail, how that is told, and the fix."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from nanolint.rule import (
    Finding,
    Findings,
    Fix,
    Outcome,
    Related,
    Safety,
    Verdict,
    best_micro_batch,
    changes,
    format_bytes,
    is_comfortable,
    judge,
    replace_integer,
    smallest_card,
)
from nanolint_rules._following import follows
from nanolint_rules._values import blocker, flags_fix, insertion
from nanolint_rules.config._sums import sums_to_update
from nanolint_rules.memory._safety import stops_averaging, unsafe_because

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from nanolint.rule import Change, Context, Edit, Machine, OutOfMemory, Run

FAMILY = "out-of-memory"


class Cure(NamedTuple):
    """What would make the run fit: a clause for the message, the fix if the file can take it."""

    clause: str
    fix: Fix | None = None
    notes: tuple[str, ...] = ()


def out_of_memory(context: Context, matches: Callable[[Outcome, OutOfMemory], bool]) -> Findings:
    """A finding for each target on which the run dies in the way that ``matches`` describes."""
    failing = [
        (case.run, case.gpu_name, verdict, verdict.oom)
        for case in context.cases
        if case.run is not None
        and (verdict := case.verdict) is not None
        and verdict.oom is not None
        and matches(verdict.outcome, verdict.oom)
    ]
    if not failing:
        return
    remedy = cure(context)
    for run, gpu_name, verdict, oom in failing:
        yield Finding(
            message=f"{describe_failure(run, gpu_name, verdict, oom)}; {remedy.clause}",
            span=context.span("batch_size", partner(context), "block_size"),
            fix=remedy.fix,
            gpu=gpu_name,
            notes=(oom.message, *_in_float16(context), *remedy.notes),
            related=_related(context),
        )


def _in_float16(context: Context) -> tuple[str, ...]:
    """That the run was counted in float16, where a target only emulates what the config says."""
    lacking = [case.gpu_name for case in context.cases if case.resolution.in_float16]
    cards = " and ".join(lacking)
    return (f"counted in float16 (NL203): {cards} has no bfloat16",) if lacking else ()


def describe_failure(run: Run, gpu_name: str, verdict: Verdict, oom: OutOfMemory) -> str:
    """What fails, where, and by how much."""
    where = "before the first step" if oom.sets_up else f"in {oom.phase.within}"
    return (
        f"batch_size = {run.batch_size} runs {gpu_name} out of memory {where}: "
        f"{format_bytes(oom.requested_bytes)} wanted for {oom.at}, "
        f"{format_bytes(oom.free_bytes)} of {format_bytes(verdict.usable_bytes)} free, "
        f"{format_bytes(oom.allocated_bytes)} allocated"
    )


def partner(context: Context) -> str:
    """The key that makes up for a smaller micro-batch."""
    return "gradient_accumulation_steps" if context.run is None else changes.partner(context.run)


def cure(context: Context, *, upward: bool = False, comfortably: bool = False) -> Cure:
    """The largest micro-batch that is comfortable on every target, the effective batch kept.

    ``comfortably``: say so, where the run as it is fits too.
    """
    pairs = _pairs(context)
    found = best_micro_batch(pairs, upward=upward)
    if found is not None:
        fits = _fits(pairs) + (" comfortably" if comfortably else "")
        return _with_edits(context, f"{found.joined(' with ')} {fits}", found)
    if upward:
        return Cure("no larger micro-batch keeps the effective batch")
    none = _none(pairs)
    return _shorter_block(context, pairs, none) or _bigger_card(pairs, none)


def _pairs(context: Context) -> list[tuple[Run, Machine]]:
    return [(case.run, case.target) for case in context.cases if case.run and case.target]


def _fits(pairs: list[tuple[Run, Machine]]) -> str:
    return "fits" if len(pairs) == 1 else "fits every target"


def _none(pairs: list[tuple[Run, Machine]]) -> str:
    """That no micro-batch will do. One sequence may fit, but only inside the model's error."""
    thinly = all(judge(_by_ones(run), target).fits for run, target in pairs)
    return f"no micro-batch {_fits(pairs)}" + (" comfortably" if thinly else "")


def _by_ones(run: Run) -> Run:
    """One sequence at a time. With eval_only the accumulation makes no difference."""
    steps = run.batch_size * run.gradient_accumulation_steps
    return changes.change(batch_size=1, gradient_accumulation_steps=steps).applied(run)


def _shorter_block(context: Context, pairs: list[tuple[Run, Machine]], none: str) -> Cure | None:
    """Halve block_size until some micro-batch fits; that changes the model, so it is unsafe."""
    for shorter in changes.shorter_contexts(pairs[0][0]):
        shortened = [(shorter.applied(run), target) for run, target in pairs]
        if all(is_comfortable(run, target) for run, target in shortened):
            change = shorter
        elif smaller := best_micro_batch(shortened):
            change = shorter | smaller
        else:
            continue
        clause = f"{none} at this block_size; {change.joined(' and ')} would"
        return _with_edits(context, clause, change, safety=Safety.UNSAFE)
    return None


def _bigger_card(pairs: list[tuple[Run, Machine]], none: str) -> Cure:
    run = replace(pairs[0][0], batch_size=1)
    card = smallest_card(run, pairs[0][1])
    if card is None:
        return Cure(f"{none}, on this card or on any other in the catalogue")
    size = format_bytes(card.total_bytes)
    return Cure(f"{none}; the smallest card that takes batch_size = 1 is {card.name} ({size})")


def _with_edits(
    context: Context, clause: str, change: Change, safety: Safety = Safety.SAFE
) -> Cure:
    changed = {key: value for key, value in change.counts.items() if context.value(key) != value}
    broken = stops_averaging(context, change)
    if broken is not None:
        return Cure(clause, notes=(f"not fixed: {broken}",))
    if any(context.from_command_line(key) for key in changed):
        command = " ".join(f"--{key}={value}" for key, value in changed.items())
        return Cure(clause, flags_fix(context, changed, safety), notes=(f"pass {command} instead",))
    followed = [key for key in changed if _is_followed(context, key, changed)]
    written = {key: value for key, value in changed.items() if key not in followed}
    reason = next(filter(None, (blocker(context, key, changed) for key in written)), None)
    if reason is not None:
        return Cure(clause, notes=(f"not fixed: {reason}",))
    run = context.run
    edits = {key: _edit(context, key, value) for key, value in written.items()}
    notes = list(unsafe_because(context, changed, edits))
    if notes:
        safety = Safety.UNSAFE
    if run is not None and "batch_size" in changed and not run.eval_only:
        before, after = (run.eval_iters * size for size in (run.batch_size, changed["batch_size"]))
        notes.append(f"estimate_loss will see {after:,} sequences a split, not {before:,}")
    title = "Set " + " and ".join(f"{key} = {value}" for key, value in written.items())
    title += "".join(f"; {key} = {changed[key]} follows" for key in followed)
    all_edits = sorted([*edits.values(), *sums_to_update(context, changed)])
    return Cure(clause, Fix(title, safety, tuple(all_edits)), tuple(notes))


def _is_followed(context: Context, key: str, changed: Mapping[str, int]) -> bool:
    """Whether the file computes the new value of ``key`` from the others by itself."""
    assignment = context.assignment(key)
    if assignment is None or assignment.shared:
        return False
    others = {name: value for name, value in changed.items() if name != key}
    reads = {
        read.name
        for read in context.module.reads
        if assignment.value_span.start <= read.span.start < assignment.value_span.end
    }
    return bool(reads & others.keys()) and follows(context, assignment, changed)


def _edit(context: Context, key: str, value: int) -> Edit:
    """Replace the value where the file sets it, else put the key below its partner."""
    assignment = context.assignment(key)
    if assignment is None:
        return insertion(context, key, str(value))
    run = context.run
    keep = run.world_size if run is not None and key != "batch_size" else None
    return replace_integer(assignment, value, context.module.comments, keep=keep)


def _related(context: Context) -> tuple[Related, ...]:
    """The other keys of this file that the failing allocation depends on."""
    reasons = {
        partner(context): "makes up for a smaller micro-batch",
        "block_size": "the T of (B*T, V)",
        "init_from": "decides how large the model is",
    }
    return tuple(
        Related(context.span(key), reason)
        for key, reason in reasons.items()
        if context.assignment(key)
    )
