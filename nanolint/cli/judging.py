"""One file, from its bytes to its result: read, lint, fix, write."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from nanolint.cli import bugs
from nanolint.errors import Unusable
from nanolint.files.door import read_bytes
from nanolint.files.writing import Unwritable, replace_all
from nanolint.files.writing import replace as replace_file
from nanolint.frozen import dataclass
from nanolint.linting.engine import Report, lint, read, verdict_on
from nanolint.linting.engine import judge as lint_read
from nanolint.linting.fixing import fix_text, is_wanted, offered, shown
from nanolint.linting.judged import JudgedRun, judged_runs
from nanolint.linting.setup import SYNTAX_ERROR
from nanolint.report.excerpt import relative
from nanolint.report.results import FileResult, OtherFile
from nanolint.rule.api import Need
from nanolint.run.overrides import all_overrides
from nanolint.run.takers import project_folder
from nanolint.source.text import Undecodable, Unencodable, decode, encode
from nanolint.trainers.nanogpt.kind import FileKind, may_train, trains

if TYPE_CHECKING:
    from collections.abc import Callable

    from nanolint.linting.discovery import Candidate
    from nanolint.linting.plan import Plan
    from nanolint.linting.setup import Setup
    from nanolint.source.text import SourceText


@dataclass(frozen=True, slots=True)
class Work:
    """What to do beside linting: work out the fixes, unsafe ones too, and write the result."""

    fix: bool = False
    unsafe: bool = False
    write: bool = False
    ignore: bool = False  # instead of fixing: add comments that silence what is found
    amounts: bool = False  # say in bytes what each run takes
    alone: bool = False  # no file but the one that is judged may be fixed
    first: Callable[[FileResult], None] | None = None  # is told the verdict, before what would help


def judge_file(candidate: Candidate, plan: Plan, work: Work) -> FileResult:
    """Judge a file, and rewrite it if asked to. Never raises: one file must not stop the others."""
    name, path = candidate.name, candidate.path
    try:
        raw = read_bytes(path)
    except Unusable as error:
        return FileResult(name, error=str(error))
    result, fixed = judge(raw, name, path, plan, work, explicit=candidate.explicit)
    if not work.write or (fixed == raw and not result.others):
        return result
    try:
        within = project_folder(path, plan.train_script)
        if result.others:
            changes = [(path, raw, fixed)] if fixed != raw else []
            replace_all([*map(_change, result.others), *changes], within)
        else:
            replace_file(path, fixed, expected=raw, within=within)
    except Unwritable as error:
        unfixed, _ = judge(raw, name, path, plan, Work(), explicit=candidate.explicit)
        return replace(unfixed, error=f"not fixed: {error}")
    return result


def _change(other: OtherFile) -> tuple[Path, bytes, bytes]:
    """A file with what it held when it was judged, and what is to be written. Raises Unwritable."""
    path = Path(other.name)
    try:
        raw = read_bytes(path)
        source = decode(raw)
        fixed = encode(source, other.text)
    except (Unusable, Undecodable, Unencodable) as error:
        raise Unwritable(f"{other.name}: {error}") from error
    if source.text != other.before:
        raise Unwritable(f"{other.name} changed while it was checked; run nanolint again")
    return path, raw, fixed


def judge(
    raw: bytes, name: str, path: Path | None, plan: Plan, work: Work, *, explicit: bool = True
) -> tuple[FileResult, bytes]:
    """The result for the content of a file, and the content with the fixes applied."""
    try:
        return _judge(raw, name, path, plan, work, explicit=explicit)
    except Undecodable as error:
        return FileResult(name, error=str(error)), raw
    except MemoryError:
        return FileResult(name, error=bugs.NO_MEMORY), raw
    except Exception as error:
        return internal_error(name, error), raw


def internal_error(name: str, error: Exception) -> FileResult:
    """What is left to say of a file on which nanolint itself failed."""
    import traceback

    trace = "".join(traceback.format_exception(error))
    return FileResult(name, error=bugs.describe(error), trace=trace)


def _judge(
    raw: bytes, name: str, path: Path | None, plan: Plan, work: Work, *, explicit: bool
) -> tuple[FileResult, bytes]:
    source = decode(raw)
    setup = plan.setup(path)
    if explicit and (setup.options.line.flags or all_overrides(setup.options)):
        from nanolint.cli.launched import refused_by_parser, refused_by_project

        refused = refused_by_parser(source.text, path, setup.options)
        refused = refused or refused_by_project(
            source.text, path, setup.options, setup.train_script
        )
        if refused is not None:
            return FileResult(name, error=refused), raw

    def linted(text: str) -> Report:
        return lint(text, path, setup, explicit=explicit)

    def result(text: str, report: Report) -> FileResult:
        report = offered(linted, text, report)
        judged = _result(name, text, report, plan, path, explicit=explicit)
        return replace(judged, runs=_runs(report, setup, plan, amounts=work.amounts))

    if work.ignore:
        return _ignored(raw, source, linted, result)
    if not work.fix:
        context = read(source.text, path, setup, explicit=explicit)
        if isinstance(context, Report):
            return result(source.text, context), raw
        if work.first is not None and len(context.cases) == 1:
            report = verdict_on(context, setup)
            told = _result(name, source.text, report, plan, path, explicit=explicit)
            runs = _runs(report, setup, plan, amounts=work.amounts)
            work.first(replace(told, runs=runs))
        return result(source.text, lint_read(context, setup)), raw
    wanted = partial(is_wanted, unsafe=work.unsafe, alone=work.alone)
    fixed = fix_text(linted, source.text, fixable=wanted)
    if fixed.text == source.text and not fixed.others:
        return replace(result(source.text, fixed.report), dropped=fixed.dropped), raw
    try:
        encoded = encode(source, fixed.text)
    except Unencodable as error:
        unfixed = result(source.text, linted(source.text))
        return replace(unfixed, error=f"not fixed: {error}"), raw
    with shown(fixed.others):
        after = result(fixed.text, fixed.report)
    rewritten = replace(
        after,
        text=fixed.text,
        before=source.text,
        applied=fixed.applied,
        dropped=fixed.dropped,
        others=tuple(
            OtherFile(relative(other), each.before, each.text)
            for other, each in fixed.others.items()
        ),
    )
    return rewritten, encoded


def _ignored(
    raw: bytes,
    source: SourceText,
    linted: Callable[[str], Report],
    result: Callable[[str, Report], FileResult],
) -> tuple[FileResult, bytes]:
    """The result with a suppression for each finding that one can silence, and the new content."""
    from nanolint.linting.suppressing import UNSILENCEABLE, add_ignores

    report = linted(source.text)
    found = [each for each in report.diagnostics if each.code not in UNSILENCEABLE]
    text = add_ignores(source.text, found, report.comments)
    after = linted(text)
    codes = {each.code for each in found}
    if any(each.code in codes for each in after.diagnostics):
        why = "comments cannot silence all findings"
        return replace(result(source.text, report), error=f"not changed: {why}"), raw
    try:
        return replace(result(text, after), ignored=tuple(found)), encode(source, text)
    except Unencodable as error:
        return replace(result(source.text, report), error=f"not changed: {error}"), raw


def _result(
    name: str, text: str, report: Report, plan: Plan, path: Path | None, *, explicit: bool
) -> FileResult:
    diagnostics = report.diagnostics
    remarks = report.problems
    if report.unjudged is not None and not explicit:
        # A file that was only met on the way through a folder may be left alone.
        remarks = (*remarks, f"{name}: {report.unjudged}")
    no_run = _why_no_run(text, report, path, explicit=explicit)
    return FileResult(
        name=name,
        text=text if diagnostics else "",
        diagnostics=diagnostics,
        skipped=report.skipped,
        error=report.unjudged if explicit else None,
        remarks=remarks,
        cards=plan.chosen.remarks,
        no_run=no_run,
        trains=no_run is not None and (trains(text) or _starts_training(text, path)),
        named=explicit,
        project=str(report.root) if report.root else None,
    )


def _starts_training(text: str, path: Path | None) -> bool:
    """Whether a file that goes backward nowhere starts what does."""
    if path is None or not may_train(text):
        return False
    from nanolint.run.settled import Options
    from nanolint.trainers.script.resolve import why_not

    return why_not(text, path.absolute(), Options()) is not None


def _runs(report: Report, setup: Setup, plan: Plan, *, amounts: bool) -> tuple[JudgedRun, ...]:
    """The runs of a file; whether they fit, where any rule that was selected has asked."""
    memory = amounts or any(rule.needs >= {Need.RUN, Need.GPU} for rule in setup.rules)
    usual = () if setup.targets or not amounts else plan.usual
    return tuple(judged_runs(report, memory=memory, amounts=amounts, usual=usual))


def _why_no_run(text: str, report: Report, path: Path | None, *, explicit: bool) -> str | None:
    if report.kind not in (FileKind.SCRIPT, None) or report.unjudged is not None:
        return None
    if not explicit and not trains(text) and not _starts_training(text, path):
        return None
    if any(found.code == SYNTAX_ERROR for found in report.diagnostics):
        return None
    from nanolint.trainers.no_run import why_no_run

    return why_no_run(text, path)
