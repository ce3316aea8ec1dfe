"""What the memory rules share: which cases fail, how that is told, and the fix."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.rule import (
    Finding,
    Findings,
    Fix,
    Outcome,
    Safety,
    Verdict,
    amount,
    as_written,
    best_micro_batch,
    brief,
    changes,
    format_bytes,
    headline,
    holders,
    is_comfortable,
    is_under_floor,
    replace_integer,
    state_bytes,
)
from nanolint_rules._following import follows
from nanolint_rules._given import write
from nanolint_rules._values import blocker, flags_fix, insertion
from nanolint_rules.config._sums import sums_to_update
from nanolint_rules.memory._cure import Cure
from nanolint_rules.memory._places import is_too_large, related, to_blame
from nanolint_rules.memory._safety import stops_averaging, unsafe_because
from nanolint_rules.memory._script import (
    equation_of,
    fixed_micro_batch,
    in_script,
    micro_batch_key,
    smaller_step,
    unsafe_for_others,
)
from nanolint_rules.memory._ways_out import another_model_or_card, fits, none_fits

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from nanolint.rule import (
        Change,
        Context,
        Edit,
        Given,
        Machine,
        OutOfMemory,
        Run,
        Scalar,
    )

FAMILY = "out-of-memory"
FLOOR = "NL414"  # where it is selected, it speaks of what no micro-batch helps against


def out_of_memory(context: Context, matches: Callable[[Outcome, OutOfMemory], bool]) -> Findings:
    """A finding for each target on which the run dies in the way that ``matches`` describes."""
    failing = [
        (case, verdict, verdict.oom)
        for case in context.cases
        if (verdict := case.verdict) is not None
        and verdict.oom is not None
        and matches(verdict.outcome, verdict.oom)
        and not (FLOOR in context.selected and is_under_floor(verdict))
    ]
    if not failing:
        return
    remedy = cure(context)
    for case, verdict, oom in failing:
        held = () if context.quick else holders(context, case)
        yield Finding(
            message=headline(verdict),
            brief=brief(verdict),
            remedy=remedy.clause,
            span=to_blame(context, remedy),
            fix=remedy.fix,
            gpu=verdict.target.label,
            notes=(
                *(_stops_at(verdict, oom), *map(str, held), *spills(verdict)),
                *(*in_float16(context), *remedy.notes),
            ),
            details=(f"PyTorch would say: {oom.message}",),
            related=tuple(related(context, remedy, verdict, oom)),
            holders=held,
        )


def in_float16(context: Context) -> tuple[str, ...]:
    """That the run was counted in float16, where a target only emulates what the config says."""
    lacking = [case.gpu_name for case in context.cases if case.resolution.in_float16]
    cards = " and ".join(lacking)
    return (f"counted in float16 (NL203): {cards} has no bfloat16",) if lacking else ()


def spills(verdict: Verdict) -> tuple[str, ...]:
    """What Windows' driver does instead of refusing, from its release 536.40 on."""
    if verdict.target.platform not in ("windows", "wsl"):
        return ()
    return (
        "on Windows the driver moves the excess to system memory: no error, but a run many times "
        "slower; the driver's CUDA - Sysmem Fallback Policy can forbid that",
    )


def _stops_at(verdict: Verdict, oom: OutOfMemory) -> str:
    """What takes the memory: the model itself, or the allocation at which the run stops."""
    if is_too_large(verdict):
        adam = "" if verdict.run.eval_only else ", gradients and Adam's state"
        return f"the parameters{adam} alone take {amount(state_bytes(verdict.run))}"
    where = "before the first step" if oom.sets_up else f"in {oom.phase.within}"
    return f"stops {where}, allocating {format_bytes(oom.requested_bytes)} for {oom.at}"


def cure(context: Context, *, upward: bool = False, comfortably: bool = False) -> Cure:
    """The largest micro-batch that is comfortable on every target, the effective batch kept.

    ``comfortably``: say so, where the run as it is fits too.
    """
    if context.quick:
        return Cure("")
    pairs = _pairs(context)
    found = best_micro_batch(pairs, upward=upward)
    if found is not None:
        where = fits(pairs) + (" comfortably" if comfortably else "")
        return _with_edits(context, f"{{}} {where}{_kept(context)}", found)
    if upward:
        return Cure("no larger micro-batch keeps the effective batch")
    none = fixed_micro_batch(context) or none_fits(pairs)
    shorter = _shorter_block(context, pairs, none)
    if shorter is not None:
        return shorter
    none = "; ".join(filter(None, (none, smaller_step(context, pairs))))
    return Cure(another_model_or_card(pairs, none, micro_batch_key(context)))


def _kept(context: Context) -> str:
    run, equation = context.run, equation_of(context)
    if equation is not None:
        return f", {equation.tokens_per_step():,} tokens a step kept"
    if run is None or run.eval_only:
        return ""
    return f", effective batch {run.effective_batch_size:,} kept"


def _pairs(context: Context) -> list[tuple[Run, Machine]]:
    return [(case.run, case.target) for case in context.cases if case.run and case.target]


def _shorter_block(context: Context, pairs: list[tuple[Run, Machine]], none: str) -> Cure | None:
    """Halve block_size until some micro-batch fits; that changes the model, so it is unsafe.

    Not in a script whose tokens per step would be others then, nor where each try reads the model
    again: that takes seconds.
    """
    if equation_of(context) is not None or pairs[0][0].program is not None:
        return None
    for shorter in changes.shorter_contexts(pairs[0][0]):
        shortened = [(shorter.applied(run), target) for run, target in pairs]
        if all(is_comfortable(run, target) for run, target in shortened):
            change = shorter
        elif smaller := best_micro_batch(shortened):
            change = shorter | smaller
        else:
            continue
        clause = f"{none} at this block_size; {{}} fits"
        return _with_edits(context, clause, change, safety=Safety.UNSAFE)
    return None


def _with_edits(
    context: Context, clause: str, change: Change, safety: Safety = Safety.SAFE
) -> Cure:
    changed = {key: value for key, value in change.counts.items() if context.value(key) != value}
    broken = stops_averaging(context, change)
    given = in_script(context, change)
    if given is not None:
        return _in_script(context, clause, given, broken, safety)
    if broken is not None:
        return Cure(clause.format(change), notes=(f"not fixed: {broken}",))
    if any(context.from_command_line(key) for key in changed):
        command = " ".join(f"--{key}={value}" for key, value in changed.items())
        fix = flags_fix(context, changed, safety)
        return Cure(clause.format(command), fix, changes=frozenset(changed))
    clause = clause.format(change)
    followed = [key for key in changed if _is_followed(context, key, changed)]
    written = {key: value for key, value in changed.items() if key not in followed}
    reason = next(filter(None, (blocker(context, key, changed) for key in written)), None)
    if reason is not None:
        return Cure(clause, None, (f"not fixed: {reason}",), frozenset(changed))
    run = context.run
    edits = {key: _edit(context, key, value) for key, value in written.items()}
    remarks = list(unsafe_because(context, changed, edits))
    if remarks:
        safety = Safety.UNSAFE
    if run is not None and "batch_size" in changed and not run.eval_only:
        before, after = (run.eval_iters * size for size in (run.batch_size, changed["batch_size"]))
        remarks.append(_fewer_evaluated(before, after, changed["batch_size"]))
    title = "Set " + " and ".join(f"{key} = {value}" for key, value in written.items())
    title += "".join(f"; {key} = {changed[key]} follows from it" for key in followed)
    all_edits = sorted([*edits.values(), *sums_to_update(context, changed)])
    fix = Fix(title, safety, tuple(all_edits), follows=frozenset(followed))
    return Cure(clause, fix, tuple(remarks), frozenset(changed))


def _in_script(
    context: Context,
    clause: str,
    given: Mapping[Given, Scalar],
    broken: str | None,
    safety: Safety,
) -> Cure:
    """The same where a script takes its values from elsewhere than nanoGPT's: written there."""
    clause = clause.format(as_written(given))
    blamed = frozenset({"batch_size"})
    if broken is not None:
        return Cure(clause, None, (f"not fixed: {broken}",), blamed)
    remarks = unsafe_for_others(context, given)
    written = write(context, given, Safety.UNSAFE if remarks else safety)
    if written.fix is None:
        return Cure(clause, None, (f"not fixed: {written.reason}",), blamed)
    return Cure(clause, written.fix, remarks, blamed)


def _fewer_evaluated(before: int, after: int, batch_size: int) -> str:
    told = f"side effect: estimate_loss now averages {after:,} sequences per split, not {before:,}"
    if before % batch_size:
        return told
    return f"{told}. Set eval_iters = {before // batch_size} to keep {before:,}."


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
