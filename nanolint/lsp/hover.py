"""Hover: what a key means, where its value came from and what it costs; the page of a rule."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from nanolint.errors import Unusable
from nanolint.files.notes import memo
from nanolint.frozen import dataclass
from nanolint.linting import registry
from nanolint.lsp.cursor import assignment_line, comment_on_line, name_at
from nanolint.lsp.load import DOUBT, load_of, loads, tightest
from nanolint.lsp.markdown import code, escaped
from nanolint.lsp.steps import share, steps
from nanolint.report.explain.budget import OUTCOMES
from nanolint.report.explain.described import what_it_can_be
from nanolint.report.explain.settings import place
from nanolint.report.results import page_text, page_url
from nanolint.run.equation import NotKnown
from nanolint.run.settled import Layer
from nanolint.run.terms import Given, describe, leaves
from nanolint.source.suppressions import find
from nanolint.source.text import LineIndex
from nanolint.source.values import Known, Unknown
from nanolint.trainers.nanogpt.keys import KEYS, meaning
from nanolint.trainers.nanogpt.kind import FileKind
from nanolint.trainers.nanogpt.reading import read_source
from nanolint.units import format_bytes
from nanolint.verdict.replay import replay
from nanolint.verdict.search import best_micro_batch

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from nanolint.diagnostics import Span
    from nanolint.lsp.steps import Share, Step
    from nanolint.rule.api import Rule
    from nanolint.rule.case import Case
    from nanolint.rule.context import Context
    from nanolint.run.described import Described
    from nanolint.run.run import Run
    from nanolint.run.settled import Project, Setting
    from nanolint.source.suppressions import Suppression
    from nanolint.source.values import Plain, Value
    from nanolint.verdict.changes import Change

LONGEST_VALUE = 60  # characters

_FENCE = re.compile(r"^```(\w+)[^\n]*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Hover:
    """Markdown about the characters of ``span``."""

    span: Span
    markdown: str


def hover(context: Context, text: str, offset: int) -> Hover | None:
    """What there is to say about the place ``offset`` of ``text``.

    ``context`` is of the last text that could be parsed: ``text`` or an earlier state of it.
    """
    found = _suppression_hover(context, text, offset)
    if found is not None or context.kind is FileKind.SCRIPT:
        return found
    name = name_at(text, offset)
    if name is None:
        return None
    key, span = name
    if context.kind is FileKind.TRAINER:
        given = given_at(context, key, LineIndex(text).position(offset)[0])
        described = context.settings.described
        if given is None or described is None:
            return None
        return Hover(span, given_markdown(given, described))
    end = context.project.settings_end
    if context.is_train_script and end is not None and offset > end:
        return None  # train.py itself at work
    setting = context.setting(key)
    if setting is None:
        return None
    return Hover(span, _key_markdown(context, setting))


def _key_markdown(context: Context, setting: Setting) -> str:
    key = setting.key
    parts = [f"**{key}** = {_describe(setting.value)}"]
    if stands_for := meaning_in(context.project, key):
        parts.append(escaped(stands_for))
    remarks = [*_origin(context, setting), *_memory(context, key)]
    parts.append("\n".join(f"- {remark}" for remark in remarks))
    return "\n\n".join(parts)


def _origin(context: Context, setting: Setting) -> Iterator[str]:
    key, origin = setting.key, setting.origin
    layer = origin.layer
    if layer is Layer.FILE and origin.span is None:
        yield "set in this file"
    elif layer not in (Layer.DEFAULT, Layer.TRAIN_SCRIPT):
        yield f"from {place(origin, LineIndex(context.text))}"
    if isinstance(setting.value, Unknown):
        yield escaped(setting.value.reason)
    project = context.project
    whose, default = default_of(key, project, own=context.is_train_script)
    if default is not None and layer is not Layer.DATASET:
        yield f"{whose}'s default: {_describe(default)}"
    elif key not in project.known_keys | project.names_read | {"vocab_size"}:
        yield f"{whose} has no such key"


def default_of(key: str, project: Project, *, own: bool = False) -> tuple[str, Value | None]:
    """Whose default counts for ``key``, and that; None where nobody has one.

    ``own``: train.py itself is being edited, so that nanoGPT's is the one to compare with.
    """
    if project.train_script is None or own:
        return "nanoGPT", KEYS[key].default if key in KEYS else None
    return project.train_script.name, project.defaults.get(key)


def _memory(context: Context, key: str) -> Iterator[str]:
    """The peak on every card, and what this key has to do with it on the tightest one."""
    if key not in KEYS and key != "vocab_size":
        return
    if key in KEYS and not KEYS[key].decides_memory:
        yield "does not change GPU memory"
        return
    load = tightest(context)
    case = load.case if load else context.cases[0]
    if case.run is None:
        yield f"memory is not checked: {escaped(case.resolution.why_unknown)}"
        return
    if not case.run.on_gpu:
        yield f"device is {code(repr(case.run.device))}: nothing is allocated on a GPU"
        return
    for each in context.cases:
        if each.run is not None:
            yield _peak(each, each.run)
    part = share(context, case, key)
    if part is not None:
        yield _share(part, case)
    for doubt in context.doubts:
        yield f"{DOUBT}{escaped(str(doubt))}"
    for step in steps(context, case, key):
        yield _step(step, case, several=len(loads(context)) > 1)
    if key == "batch_size" and load is not None and not load.verdict.fits:
        best = best_micro_batch([(e.verdict.run, e.verdict.target) for e in loads(context)])
        yield f"the largest that fits: {_coded(best)}" if best else "no micro-batch fits"


def _peak(case: Case, run: Run) -> str:
    load = load_of(case)
    peak = load.verdict.replay.peak if load else replay(run).peak
    text = f"{case.gpu_name}: " if load else ""
    text += f"{format_bytes(peak.allocated_bytes)} allocated at the peak, in {peak.phase.within}"
    if load:
        text += f"; {OUTCOMES[load.verdict.outcome][0]}, the process takes {load.amount}"
    return text


def _share(part: Share, case: Case) -> str:
    assert case.run is not None
    gpu = case.target.gpu if case.target else None
    percent = 100 * part.nbytes / replay(case.run, gpu).peak.allocated_bytes
    freed = f"freed by {_coded(part.change)}"
    return f"its share of the peak: {format_bytes(part.nbytes)}, {percent:.0f} % ({freed})"


def _step(step: Step, case: Case, *, several: bool) -> str:
    """``batch_size = 17``: what changes at the peak, and the verdict."""
    cost = step.cost_bytes
    text = "as much" if not cost else f"{format_bytes(abs(cost))} {'more' if cost > 0 else 'less'}"
    if step.outcome is not None:
        text += f", {OUTCOMES[step.outcome][0]}"
        text += f" on {case.gpu_name}" if several else ""
    return f"{_coded(step.change)}: {text}"


def _coded(change: Change) -> str:
    return " and ".join(code(f"{key} = {value!r}") for key, value in change.values)


def _describe(value: Value) -> str:
    if isinstance(value, Known):
        return code(_shortened(value.value))
    if value.candidates:
        return " or ".join(code(_shortened(candidate)) for candidate in value.candidates)
    return "not known before the run"


def _shortened(value: Plain) -> str:
    try:
        text = repr(value)
    except ValueError:  # an integer longer than Python prints
        return "..."
    return text if len(text) <= LONGEST_VALUE else f"{text[: LONGEST_VALUE - 3]}..."


def _suppression_hover(context: Context, text: str, offset: int) -> Hover | None:
    if text != context.text:
        return None  # comments have moved
    for suppression in find(context.module.comments, text):
        if suppression.span.start <= offset <= suppression.span.end:
            return _of_suppression(suppression, context, offset)
    return None


def _of_suppression(suppression: Suppression, context: Context, offset: int) -> Hover:
    for named in suppression.codes:
        if named.span.start <= offset <= named.span.end:
            known = context.known_codes.get(named.text.lower())
            if known is None:
                return Hover(named.span, f"{escaped(named.text)}: no rule has this code or name")
            return Hover(named.span, rule_page(registry.load().find(known)))
    if suppression.malformed is not None:
        return Hover(suppression.span, f"suppresses nothing: {suppression.malformed}")
    what = escaped(", ".join(named.text for named in suppression.codes)) or "every finding"
    where = "in this file" if suppression.kind == "file" else "of this statement"
    return Hover(suppression.span, f"suppresses {what} {where}")


def rule_page(rule: Rule) -> str:
    """The page of ``rule`` as an editor can show it: links lead to the web."""
    page = _FENCE.sub(r"```\1", page_text(rule))
    url = page_url(rule.code)
    return page if url is None else f"{page.rstrip()}\n\n[{rule.code} on the web]({url})\n"


LONGEST = 80  # characters of an equation


def given_at(context: Context, name: str, row: int) -> Given | None:
    """What is given under ``name`` in line ``row`` (from 1) of the file at hand."""
    described = context.settings.described
    for each in described.given if described is not None else ():
        here = each.place.path == context.path and each.place.line == row
        if here and name in (each.key, each.key.rpartition(".")[2]):
            return each
    return None


def given_markdown(given: Given, described: Described) -> str:
    """The value, the roles that it has or decides, and what it can be."""
    return "\n\n".join(
        [
            f"**{given.key}** = {code(repr(given.value))}",
            "\n".join(f"- {remark}" for remark in _remarks(given, described)),
        ]
    )


def _remarks(given: Given, described: Described) -> Iterator[str]:
    for role, term in described.roles.items():
        if isinstance(term, NotKnown):
            continue
        if term == given:
            yield f"the {role.value}"
        elif given in leaves(term):
            text = describe(term)
            if len(text) <= LONGEST:
                yield f"decides the {role.value}: {code(text)} = {term.value}"
            else:
                yield f"decides the {role.value}"
    equation = described.equation
    if equation is not None and equation.factor == given:
        possible = what_it_can_be(equation, given)
        if possible is not None:
            yield possible


def meaning_in(project: Project, key: str) -> str:
    """What ``key`` stands for; empty where nobody says."""
    known = meaning(key)
    if known is not None:
        return known
    if project.train_script is None or key not in project.defaults:
        return ""
    return _comment(project.train_script, key)


@memo
def _comment(script: Path, key: str) -> str:
    try:
        text = read_source(script)
    except Unusable:
        return ""
    line = assignment_line(text, key)
    comment = None if line is None else comment_on_line(text, line.start)
    return "" if comment is None else text[comment.start : comment.end].lstrip("#").strip()
