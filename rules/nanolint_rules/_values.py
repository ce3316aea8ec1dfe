"""What rules about a single value share: reading it for one target, and setting it in the file."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from nanolint.rule import (
    EVERY,
    Edit,
    Fix,
    Layer,
    Safety,
    Subject,
    insert_assignment,
    is_arithmetic,
    replace_value,
)
from nanolint_rules._following import follows

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from nanolint.rule import Assignment, Case, Context, Span

OF_A_STEP = ("batch_size", "gradient_accumulation_steps", "eval_iters", "eval_only")
NEIGHBOURS = {
    "compile": ("dtype", "device"),
    "dtype": ("device", "compile"),
    "gradient_accumulation_steps": ("batch_size", "block_size"),
    "batch_size": ("gradient_accumulation_steps", "eval_iters", "block_size"),
    "eval_iters": ("batch_size", "eval_interval"),
    "block_size": ("batch_size",),
}

QUOTES = "'\""
LEAST_PERCENT = 0.01  # below, a number would only look exact


class Remedy(NamedTuple):
    """A fix that sets one value, or the notes that say why the file cannot take it."""

    fix: Fix | None = None
    notes: tuple[str, ...] = ()


def known(case: Case, key: str) -> object:
    """The value of ``key`` on the target of ``case``; None when it is unknown or no key."""
    try:
        return case.resolution.known(key)
    except KeyError:
        return None


def integer(value: object) -> int | None:
    """``value`` when it is a positive integer."""
    return value if isinstance(value, int) and value > 0 and value is not True else None


def percent(part: int, whole: int) -> str:
    """What ``part`` is of the larger ``whole``: ``25 %``, ``8.3 %``, ``less than 0.01 %``."""
    share = 100 * part / whole
    if share < LEAST_PERCENT:
        return f"less than {LEAST_PERCENT} %"
    return f"{share:.2g} %" if share < 10 else f"{min(share, 99):.0f} %"


def knows_its_script(context: Context) -> bool:
    """Whether it is certain which train.py runs the config, and so what its names mean."""
    doubted = any(doubt.subject is Subject.SCRIPT for doubt in context.doubts)
    return context.project.train_script is not None and not doubted


def is_key(context: Context, key: str) -> bool:
    """Whether the project's train.py has ``key`` at all; a fork may have dropped it."""
    return key in context.project.defaults


def is_asked_for(context: Context, key: str) -> bool:
    """Whether the user set ``key``: in this file, in one that it imports, or when launching."""
    setting = context.setting(key)
    asked = (Layer.FILE, Layer.IMPORT, Layer.LAUNCHED, Layer.OVERRIDE)
    return setting is not None and setting.origin.layer in asked


def describe(context: Context, key: str, value: object) -> str:
    """``key = value``, and that nobody wrote it where that is so and no place shows it."""
    if is_asked_for(context, key) or context.place(key) is not None:
        return f"{key} = {value!r}"
    return f"{key} = {value!r} (nanoGPT's default)"


def quoted(context: Context, key: str, text: str) -> str:
    """``text`` as a string literal, in the quotes of the value that it replaces, or of the file."""
    assignment = context.assignment(key)
    own = re.search("['\"]", assignment.expression) if assignment else None
    firsts = [assignment.expression[:1] for assignment in context.module.assignments]
    quote = own[0] if own else '"' if firsts.count('"') > firsts.count("'") else "'"
    return f"{quote}{text}{quote}"


def set_value(context: Context, key: str, literal: str, *, safety: Safety) -> Remedy:
    """Set ``key`` to ``literal``: replaced where the file sets it, else put beside its partner."""
    if context.from_command_line(key):
        return Remedy(notes=(f"pass --{key}={literal.strip(QUOTES)} instead",))
    reason = blocker(context, key)
    if reason is not None:
        return Remedy(notes=(f"not fixed: {reason}",))
    title = f"Set {key} = {literal}"
    assignment = context.assignment(key)
    notes = (
        *others_change(context, {key: literal}),
        *texts_change(context, (key,)),
        *lost_choice(assignment),
    )
    safety = Safety.UNSAFE if notes and safety is Safety.SAFE else safety
    if assignment is not None:
        comments = context.module.comments
        return Remedy(Fix(title, safety, (replace_value(assignment, literal, comments),)), notes)
    return Remedy(Fix(title, safety, (insertion(context, key, literal),)), notes)


def insertion(context: Context, key: str, literal: str) -> Edit:
    """Put ``key = literal`` below the best partner that the file sets."""
    return insert_assignment(context.text, _anchors(context, key)[-1], key, literal)


def flags_fix(context: Context, changed: Mapping[str, int], safety: Safety) -> Fix | None:
    """Set ``changed`` on the launch line, where one of them stands in its text as it is."""
    flags = {key: context.flag(key) for key in changed}
    line = context.options.line
    if not any(flag and flag.place for flag in flags.values()):
        return None
    edits = []
    for key, value in changed.items():
        flag = flags[key]
        if flag is None or flag.place is None:
            if line.end is None:
                return None
            edits.append(Edit(line.end, line.end, line.with_flag(f"--{key}", value)))
        elif flag.value_place is None:
            return None
        else:
            edits.append(Edit(flag.value_place.start, flag.value_place.end, str(value)))
    title = "Pass " + " ".join(f"--{key}={value}" for key, value in changed.items())
    return Fix(title, safety, tuple(sorted(edits)), in_launch_line=True)


def others_change(context: Context, changed: Mapping[str, object]) -> tuple[str, ...]:
    """Why new values in this file change other runs, if they do or may: one line."""
    if context.is_train_script:
        return ("unsafe: every config inherits this default",)
    others = context.takers.changed(changed, {key: context.value(key) for key in OF_A_STEP})
    if not others:
        return ()
    first, *more = others
    and_others = ", and so do others" if more else ""
    return (f"unsafe: {first.place} {first.how}{and_others}",)


def texts_change(context: Context, keys: Collection[str]) -> tuple[str, ...]:
    """Why a change of ``keys`` is a change of a text, such as the name of a folder: one line."""
    for read in context.module.reads:
        if not read.in_text or read.name not in keys:
            continue
        for each in context.module.assignments:
            if each.value_span.start <= read.span.start < each.value_span.end:
                row = context.row(read.span.start)
                return (f"unsafe: {each.key} (line {row}) changes with {read.name}",)
    return ()


def lost_choice(assignment: Assignment | None) -> tuple[str, ...]:
    """Why one value should not take the place of an expression: it chooses, or names another."""
    if assignment is None or is_arithmetic(assignment):
        return ()
    written = " ".join(assignment.expression.split())
    return (f"unsafe: one value would replace {assignment.key} = {written}",)


def _anchors(context: Context, key: str) -> list[Assignment]:
    """The assignments that ``key`` may be put below, the best last: its partners in the file."""
    anchors = [
        assignment
        for assignment in context.module.assignments
        if not assignment.shared and in_settings(context, assignment.key_span.start)
    ]
    partners = NEIGHBOURS.get(key, ())
    beside = [each for partner in reversed(partners) for each in anchors if each.key == partner]
    return [*anchors, *beside]


def blocker(context: Context, key: str, changed: Mapping[str, int] | None = None) -> str | None:
    """Why the file's own text keeps ``key`` from being rewritten, None when nothing does.

    ``changed`` are the new values, of this key and of others: what is computed from them is no
    obstacle where that comes out right.
    """
    deciding = context.settings.deciding.get(key, key)
    if deciding != key:
        return f"train.py reads it from {deciding}" if deciding else f"train.py computes {key}"
    assignment = context.assignment(key)
    if assignment is not None and assignment.shared:
        return f"{key} is set together with other names"
    if assignment is None and not _anchors(context, key):
        return "the file sets no related key to put it next to"
    names = (key,) if context.is_train_script else (key, EVERY)  # it lists its keys by globals()
    for read in context.module.reads:
        if read.name in names and not read.in_text and in_settings(context, read.span.start):
            reader = _assignment_around(context, read.span)
            if reader is None or not changed or not follows(context, reader, changed):
                return _is_read(context, key, reader, read.span)
    return None


def _is_read(context: Context, key: str, reader: Assignment | None, place: Span) -> str:
    """That something else in the file depends on ``key``."""
    row = context.row(place.start)
    if reader is None:
        return f"line {row} computes another value from {key}"
    return f"{reader.key} (line {row}) is computed from {key}"


def _assignment_around(context: Context, span: Span) -> Assignment | None:
    """The assignment, the only one of its key, whose expression ``span`` lies in."""
    for each in context.module.assignments:
        if each.value_span.start <= span.start and span.end <= each.value_span.end:
            return each if context.assignment(each.key) is each and not each.shared else None
    return None


def in_settings(context: Context, offset: int) -> bool:
    """Whether ``offset`` is where values are set: in train.py, above its configurator line."""
    end = context.project.settings_end
    return not context.is_train_script or end is None or offset < end
