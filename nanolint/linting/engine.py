"""Lint one text: read it, resolve it for every target, run the rules, apply the suppressions."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from nanolint.diagnostics import BesideSpan, Diagnostic, FlagSpan, Safety, Severity, Span
from nanolint.errors import Unusable
from nanolint.files.door import names
from nanolint.frozen import dataclass
from nanolint.linting.columns import keep_columns
from nanolint.linting.registry import describe, is_built_in
from nanolint.linting.setup import Setup, Skipped, tempered
from nanolint.linting.suppressing import unsuppressed
from nanolint.rule.api import NO_TARGET, Need
from nanolint.rule.case import Case, case_of
from nanolint.rule.context import ELSEWHERE, Context, Launched, SyntaxFault
from nanolint.run.settled import Override
from nanolint.source.assignments import Comment, Module
from nanolint.source.values import Known
from nanolint.tape.reading_lock import give_way
from nanolint.trainers.nanogpt.kind import (
    FileKind,
    among_configs,
    may_be_config,
    may_train,
    sets_keys,
)
from nanolint.trainers.nanogpt.reading import read_source

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from nanolint.diagnostics import QuotedPlace
    from nanolint.rule.api import Finding, Rule
    from nanolint.run.described import Described
    from nanolint.run.settled import Project
    from nanolint.source.values import Plain
    from nanolint.trainers.nanogpt.config import Config

NOTHING = Module((), (), ())  # what a text sets that cannot be parsed
VERDICT = frozenset({Need.RUN, Need.GPU})  # what a rule needs that is about whether a run fits
MOST_SCRIPTS = 20  # files in a folder that may train with a module in it
RAISES = "NL6"  # how the codes of rules begin that know the exception alone
PYTHON = (".py", ".pyw", ".pyi", "")  # suffixes; configurator.py would run any file


@dataclass(frozen=True, slots=True)
class Report:
    """The outcome of linting one text. ``unjudged`` says in one line why a file was not judged.

    ``promise`` is what a safe fix may not change, by name. ``values`` are those that the text sets,
    each with the statement that decides it; a safe fix changes only what it is about. ``problems``
    are lines about the project around the file. ``kind`` is None for a file that no rule had a
    reason to read.
    ``cases`` are the file's runs, none where it holds none; ``root`` is the project's folder, and
    ``trace`` the command that traces the run.
    """

    path: Path | None
    kind: FileKind | None
    diagnostics: tuple[Diagnostic, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    unjudged: str | None = None
    promise: tuple[tuple[str, Plain], ...] = ()
    values: tuple[tuple[str, Plain, Span | None], ...] = ()
    comments: tuple[Comment, ...] = ()
    problems: tuple[str, ...] = ()
    cases: tuple[Case, ...] = ()
    root: Path | None = None
    trace: str = ""


def lint(
    text: str, path: Path | None, setup: Setup, *, explicit: bool = True, shown: bool = False
) -> Report:
    """Judge ``text`` as the content of ``path``; ``explicit``: the user named the file itself."""
    context = read(text, path, setup, explicit=explicit, shown=shown)
    return context if isinstance(context, Report) else judge(context, setup)


def read(
    text: str, path: Path | None, setup: Setup, *, explicit: bool = True, shown: bool = False
) -> Context | Report:
    """``text`` resolved for every target, or the report on a file that is not judged.

    ``shown``: somebody has the file open, and is told why it is no Python, or what it makes raise.
    """
    from nanolint.source.values import TooComplex, Unparsable
    from nanolint.trainers.nanogpt.config import config_of, read_config
    from nanolint.trainers.nanogpt.project import find_project

    project = find_project(path, train_script=setup.train_script)
    expected = explicit or among_configs(path, project)
    is_judged = _worth_parsing(text, project, setup.rules, explicit=expected)
    if not is_judged and not (shown and "torch" in text):  # else it may be what a script trains
        return Report(path, None)
    options, fault = setup.options, None
    targets = setup.targets or (None,)
    try:
        config = read_config(text, path, project, options, explicit=explicit, target=targets[0])
    except TooComplex as error:
        return Report(path, None, unjudged=f"not checked: {error}")
    except Unparsable as error:
        if not is_judged:
            return Report(path, None)
        if path is not None and path.suffix not in PYTHON:
            return Report(path, None, unjudged="not a Python file")
        if not (expected or shown or sets_keys(text, project.known_keys)):
            return Report(path, None, unjudged=f"not checked: {error}")
        fault = SyntaxFault(str(error), error.offset)
        config = config_of(NOTHING, text, path, project, options, explicit=explicit)
    return Context(
        config,
        tuple(case_of(config, target) for target in targets),
        fault=fault,
        known_codes=setup.known_codes,
        selected=frozenset(rule.code for rule in setup.rules),
        launched=_launched(config),
        leading=partial(_leading, config, setup) if explicit or shown else lambda: None,
    )


def _leading(config: Config, setup: Setup) -> Context | None:
    """The script that trains with a module of its project: a train.py, or the first file next to it
    that trains and imports it."""
    if config.kind is not FileKind.SCRIPT or config.path is None:
        return None
    for script in _scripts_around(config.path, config.project.train_script):
        try:
            text = read_source(script)
        except Unusable:
            continue
        imports = re.search(
            rf"^\s*(?:from|import)\s.*\b{re.escape(config.path.stem)}\b", text, re.M
        )
        if imports and may_train(text):
            found = read(text, script, setup, explicit=False)
            return found if isinstance(found, Context) else None
    return None


def _scripts_around(path: Path, script: Path | None) -> Iterator[Path]:
    if script is not None:
        yield script
        return
    for folder in (path.parent, path.parent.parent):
        found = sorted(names(folder), key=lambda name: (not name.startswith("train"), name))
        for name in found[:MOST_SCRIPTS]:
            if name.endswith(".py") and name != path.name:
                yield folder / name


def judge(context: Context, setup: Setup) -> Report:
    """Run the rules of ``setup`` on what ``read`` returned for it; once for each context."""
    # What a program has beside it, that is no config of its, is no matter.
    holds_none = context.kind is FileKind.SCRIPT
    problems = [] if holds_none else list(context.project.problems)
    early = (rule for rule in setup.rules if Need.OUTCOME not in rule.needs)
    findings, skipped = _run(context, early, problems)
    kept = _without_fits(unsuppressed(context, findings, setup, skipped), context)
    last = (rule for rule in setup.rules if Need.OUTCOME in rule.needs)
    late, _ = _run(context, last, problems)
    return Report(
        path=context.path,
        kind=context.kind,
        diagnostics=tuple(sorted(map(setup.adjustments.applied, (*kept, *late)), key=_order)),
        skipped=tuple(skipped),
        promise=_promise(context),
        values=tuple(_values(context.module)),
        comments=context.module.comments,
        problems=tuple(problems),
        cases=() if context.fault or context.kind is FileKind.SCRIPT else context.cases,
        root=context.project.root,
        trace=context.trace,
    )


def _without_fits(found: list[Diagnostic], context: Context) -> list[Diagnostic]:
    """The findings without those that say that a run fits which certainly stops before, and without
    the exception if another rule has its cause."""
    causes = [each for each in found if each.stops and not each.code.startswith(RAISES)]
    if causes:
        found = [each for each in found if not each.code.startswith(RAISES)]
    stopping = {each.gpu for each in found if each.stops}
    if not stopping:
        return found
    cards = {case.target.label if case.target else None for case in context.cases}
    if None in stopping or stopping >= cards:
        stopping |= {each.gpu for each in found}
    return [each for each in found if not (each.fits and each.gpu in stopping)]


def verdict_on(context: Context, setup: Setup) -> Report:
    """Returns the verdict of the rules, before any way out is searched for."""
    telling = tuple(each for each in setup.rules if each.needs >= VERDICT or each.stops)
    context.quick = True
    report = judge(context, replace(setup, rules=telling))
    context.quick = False
    return report


def _worth_parsing(text: str, project: Project, rules: Iterable[Rule], *, explicit: bool) -> bool:
    """Whether a file could be a config or train, or holds a name that a code rule looks for."""
    if explicit or may_be_config(text, project.known_keys) or may_train(text):
        return True
    return any(marker in text for rule in rules for marker in rule.markers)


def _launched(config: Config) -> Launched | None:
    """The place of a file on a launch line with several configs."""
    from nanolint.trainers.nanogpt.configurator import steps

    arguments = config.options.arguments
    configs = [each for each in arguments if not isinstance(each, Override)]
    if config.path not in configs or len(set(configs)) < 2:
        return None
    read = steps(config.module, config.project, config.options, config.path)
    setters = {each.key: step.config for step in read if step.config for each in step.settings}
    return Launched(setters, is_last=configs[-1] == config.path)


def _run(
    context: Context, rules: Iterable[Rule], problems: list[str]
) -> tuple[list[Diagnostic], list[Skipped]]:
    """The findings of ``rules``, and the rules that could not run.

    A rule of a third-party pack that raises is left out, with a line in ``problems``.
    """
    found: list[Diagnostic] = []
    skipped: list[Skipped] = []
    for rule in rules:
        give_way()
        missing = _missing(context, rule)
        if missing is not None:
            skipped.append(Skipped(rule.code, rule.name, *missing))
            continue
        if rule.markers and not any(marker in context.text for marker in rule.markers):
            continue
        try:
            found += [
                tempered(_diagnostic(rule, finding, context), rule, context)
                for finding in rule.check(context)
                if finding.span != ELSEWHERE
            ]
        except (Exception, SystemExit) as error:
            if is_built_in(rule):
                raise  # a bug of nanolint's own
            problems.append(f"rule {rule.code} ({rule.module}) left out: {describe(error)}")
    return found, skipped


def _missing(context: Context, rule: Rule) -> tuple[Need, str] | None:
    """The first need of ``rule`` that this file does not meet, and why, in words."""
    needs = rule.needs
    if (context.fault is not None) is not (Need.FAULT in needs):
        return Need.FAULT, f"the file is {'not ' if context.fault else ''}valid Python"
    if Need.CONFIG in needs and context.kind is FileKind.SCRIPT:
        return Need.CONFIG, "the file is not a config"
    if Need.CONFIG in needs and context.kind is FileKind.TRAINER and Need.GPU not in needs:
        return Need.CONFIG, "the file is a training script with settings of its own"
    if Need.TRAIN_SCRIPT in needs and context.project.train_script is None:
        return Need.TRAIN_SCRIPT, "nanolint found no train.py for the file"
    device = context.value("device")
    if Need.GPU in needs and isinstance(device, str) and "cuda" not in device:
        return Need.GPU, f"device = {device!r}: nothing is allocated on a GPU"
    if Need.GPU in needs and context.cases[0].target is None:
        return Need.GPU, NO_TARGET
    if Need.RUN in needs and context.run is None:
        return Need.RUN, context.settings.why_unknown
    return None


def _diagnostic(rule: Rule, finding: Finding, context: Context) -> Diagnostic:
    fix = finding.fix
    if fix is not None:
        fix = replace(fix, promises=fix.safety is Safety.SAFE)
    if fix is not None and fix.in_launch_line:
        fix = fix if isinstance(finding.span, FlagSpan) else None
    elif fix is not None:
        fix = keep_columns(fix, context.text, context.comments_behind, context.lines)
    return Diagnostic(
        code=rule.code,
        name=rule.name,
        severity=finding.severity or rule.severity,
        message=finding.message,
        span=_span(finding),
        origin=_origin(finding, context),
        gpu=finding.gpu,
        fix=fix,
        notes=finding.notes,
        related=tuple(
            each
            for each in finding.related
            if each.span != ELSEWHERE and not isinstance(each.span, (FlagSpan, BesideSpan))
        ),
        remedy=finding.remedy,
        brief=finding.brief,
        details=finding.details,
        holders=finding.holders,
        stops=rule.stops and (finding.severity or rule.severity) is Severity.ERROR,
        fits=rule.fits,
    )


def _span(finding: Finding) -> Span:
    """Where the finding stands: in the file, if its fix is to be made there."""
    span, fix = finding.span, finding.fix
    if isinstance(span, BesideSpan):
        return Span(span.start, span.end)
    in_file = fix is not None and not fix.in_launch_line
    return span.in_file if isinstance(span, FlagSpan) and in_file else span


def _origin(finding: Finding, context: Context) -> QuotedPlace | None:
    return context.place(finding.span.key) if isinstance(finding.span, BesideSpan) else None


def _promise(context: Context) -> tuple[tuple[str, Plain], ...]:
    """What a safe fix must leave as it is; a file that is no config decides no run."""
    if context.kind is FileKind.SCRIPT:
        return ()
    described = context.cases[0].settled.described
    if described is not None:
        return _kept_by_script(described)
    run = context.cases[0].settled.as_set
    if run is None:
        return ()
    shape = ("block_size", "n_layer", "n_head", "n_embd", "vocab_size", "dropout", "bias", "dtype")
    kept: list[tuple[str, Plain]] = [(key, run.value(key)) for key in shape]
    if run.eval_only:
        kept.append(("the sequences evaluated", run.batch_size * run.eval_iters))
    else:
        kept.append(("the effective batch", run.effective_batch_size))
    return tuple(kept)


def _values(module: Module) -> Iterator[tuple[str, Plain, Span | None]]:
    statements = {each.key: each.statement for each in module.assignments}
    for key, value in module.final.items():
        if isinstance(value, Known):
            yield key, value.value, statements.get(key)


def _kept_by_script(described: Described) -> tuple[tuple[str, Plain], ...]:
    """The size of a step, where the script does not refuse it or round it."""
    equation = described.equation
    if equation is None or equation.roundings() or any(True for _ in equation.broken()):
        return ()
    return (("the tokens per step", equation.tokens_per_step()),)


def _order(diagnostic: Diagnostic) -> tuple[int, int, str, str]:
    return diagnostic.span.start, diagnostic.span.end, diagnostic.code, diagnostic.gpu or ""
