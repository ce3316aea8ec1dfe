"""One run of ``nanolint check``: find, judge, report.

Many files are judged in worker processes where that is faster, in their order, with a progress bar.
"""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from nanolint.cli.configuration import Configuration
from nanolint.cli.judging import Work, judge, judge_file
from nanolint.cli.processes import after_a_while, in_processes, workers_for
from nanolint.cli.reporting import FULL, report
from nanolint.cli.runs import Run, place_all, runs_of
from nanolint.cli.streams import Streams, printer
from nanolint.errors import Unusable
from nanolint.frozen import dataclass
from nanolint.launches.files import is_launch_file
from nanolint.linting.discovery import discover, is_excluded_anywhere
from nanolint.report import full
from nanolint.report.results import FileResult, Results
from nanolint.settings.formats import FOR_PROGRAMS
from nanolint.settings.tables import SettingsError

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterator, Sequence

    from nanolint.linting.discovery import Candidate
    from nanolint.linting.plan import Plan

STDIN_NAME = "<stdin>"
WITH_RUNS = "json-full"  # the format that says in bytes what each run takes


def check_files(paths: Sequence[str], configuration: Configuration, streams: Streams) -> int:
    """Judge files, folders and launch scripts; returns the exit status."""
    options = configuration.options
    scripts = [path for path in paths if is_launch_file(path)]
    others = [path for path in paths if not is_launch_file(path)]
    found = discover(others, configuration.settings_of, force_exclude=options.force_exclude)
    files = [FileResult(name, error=f"{why}{_hint(name)}") for name, why in found.problems]
    runs = [each for candidate in found.candidates for each in _runs(candidate, configuration)]
    for script in scripts:
        from nanolint.cli.launch_files import read_launch_file  # most checks have none

        launched, result = read_launch_file(script, configuration, _work(configuration))
        runs += launched
        files += [result] if result else []
    return check_runs(runs, files, configuration, streams)


def _runs(candidate: Candidate, configuration: Configuration) -> Iterator[Run]:
    """The run of a file. With configs behind ``--`` these are read after it, and are its parts."""
    launch = configuration.launch
    if not launch.files or candidate.path in launch.files:
        yield Run(candidate, configuration)
        return
    joined = replace(launch, arguments=(candidate.path, *launch.arguments))
    configured = Configuration(configuration.options, configuration.overrides, joined)
    yield from runs_of(joined, configured)


def check_runs(
    runs: Sequence[Run],
    files: list[FileResult],
    configuration: Configuration,
    streams: Streams,
    *,
    refuse: bool = False,
) -> int:
    """Judge ``runs``, and report them behind ``files``; returns the exit status.

    ``refuse``: what holds no run is an error.
    """
    options = configuration.options
    if not runs and not files and not options.quiet:
        streams.warn("nanolint: no Python files found")
    plans: dict[int, Plan] = {}
    jobs, planned = [], []
    refusals: list[SettingsError] = []
    for run in runs:
        try:
            plan = run.configuration.plan_of(run.candidate.path.parent)
        except SettingsError as error:
            files.append(FileResult(run.candidate.name, error=f"not checked: {error}"))
            refusals.append(error)
            continue
        plans[id(plan)] = plan
        planned.append(run)
        jobs.append(Job(run.candidate, list(plans).index(id(plan))))
    if refusals and not jobs:
        raise refusals[0]
    told: list[bool] = []

    def first(result: FileResult) -> None:
        told.append(full.first_line([result], printer(streams.stdout, options.color)))
        streams.stdout.flush()

    work = _work(configuration)
    if len(jobs) == 1 and not files and planned[0].source is None and _begins(configuration):
        work = replace(work, first=first)
    judged = with_progress(
        judge_all(
            jobs,
            list(plans.values()),
            work,
            parallel=not options.watch,  # which needs to know what was read
        ),
        len(jobs),
        streams,
    )
    files += place_all(planned, judged)
    if refuse:
        files = [_refused(file) for file in files]
    results = Results(files, options.unsafe_fixes, options.verbose, told=any(told))
    return report(results, configuration, streams)


def _begins(configuration: Configuration) -> bool:
    """Whether the report begins with the verdict, and nothing that is found is left out of it."""
    options = configuration.options
    if configuration.settings_of(Path()).settings.output_format != FULL:
        return False
    changes = (options.fix, options.add_ignore, options.diff, options.quiet)
    known = (options.output_file, options.baseline, options.write_baseline)
    return not any((*changes, *known)) and options.min_severity == "info"


def check_stdin(configuration: Configuration, streams: Streams) -> int:
    """Judge standard input. With ``--fix`` the text goes to stdout, the report to stderr."""
    options = configuration.options
    path = Path(options.stdin_filename) if options.stdin_filename else None
    name = options.stdin_filename or STDIN_NAME
    folder = path.parent if path else Path()
    raw = fixed = b""
    try:
        raw = fixed = streams.read_stdin()
        settings = configuration.settings_of(folder)
        if options.force_exclude and path and is_excluded_anywhere(path, settings):
            result = FileResult(name)
        else:
            plan = configuration.plan_of(folder)
            work = replace(_work(configuration), alone=True)  # a text is not written to other files
            result, fixed = judge(raw, name, path, plan, work)
    except Unusable as error:
        result = FileResult(name, error=str(error))
    if options.fix and not options.diff:
        _write_stdout(fixed, streams)
        streams = Streams(streams.stdin, streams.stderr, streams.stderr)
    return report(Results([result], options.unsafe_fixes, options.verbose), configuration, streams)


def _refused(file: FileResult) -> FileResult:
    """``file`` as an error, if it holds no run."""
    if file.no_run is None:
        return file
    return replace(file, error=f"holds no run: {file.no_run}", diagnostics=(), no_run=None)


def _hint(name: str) -> str:
    """What to say of a missing file that is called almost like a command."""
    import difflib

    from nanolint.cli.main import COMMANDS

    if name in COMMANDS:
        return f"; the command `nanolint {name}` comes before all options"
    near = difflib.get_close_matches(name, COMMANDS, n=1)
    if near:
        return f"; did you mean the command `nanolint {near[0]}`?"
    path = Path(name)
    try:
        beside = {
            each.stem: each
            for each in path.parent.iterdir()
            if each.suffix == path.suffix and each.name != path.name  # it is there, and unusable
        }
    except OSError:
        return ""
    alike = difflib.get_close_matches(path.stem, beside, n=1, cutoff=0.8)
    return f"; did you mean {beside[alike[0]]}?" if alike else ""


def _work(configuration: Configuration) -> Work:
    """The work to do with each run."""
    options = configuration.options
    output_format = configuration.settings_of(Path()).settings.output_format
    return Work(
        fix=options.fix or options.diff,
        unsafe=options.unsafe_fixes,
        write=options.add_ignore or (options.fix and not options.diff),
        ignore=options.add_ignore,
        amounts=output_format == WITH_RUNS or _tells_each(options, output_format),
    )


def _tells_each(options: Namespace, output_format: str) -> bool:
    """Whether the summary says what each run takes."""
    return not (options.quiet or options.diff or output_format in FOR_PROGRAMS)


def _write_stdout(raw: bytes, streams: Streams) -> None:
    buffer = getattr(streams.stdout, "buffer", None)
    if buffer is None:
        streams.stdout.write(raw.decode())
    else:
        buffer.write(raw)
        buffer.flush()


PARALLEL_FROM = 96  # files; below, starting a second process mostly takes longer than it saves
FILES_PER_WORKER = 32  # at least
FILES_AT_ONCE = 8  # handed to a worker: what a progress bar moves by
PROGRESS_AFTER_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class Job:
    """A file and the index of its plan, of which there are few."""

    candidate: Candidate
    plan: int


def judge_all(
    jobs: Sequence[Job], plans: Sequence[Plan], work: Work, *, parallel: bool = True
) -> Iterator[FileResult]:
    """The results in the order of ``jobs``, whatever the parallelism.

    Few files are begun in this process, and those that are left after a while are judged by
    others; not where they are rewritten, as several may rewrite one that they have in common.
    """
    common = tuple(plans), work
    workers = workers_for(len(jobs), each=FILES_PER_WORKER)
    if parallel and workers > 1 and len(jobs) >= PARALLEL_FROM:
        return in_processes(_judge, common, jobs, workers, size=FILES_AT_ONCE, instead=_killed)
    if parallel and not work.write:
        return after_a_while(_judge, common, jobs, instead=_killed)
    return (_judge(common, job) for job in jobs)


def with_progress(
    results: Iterator[FileResult], total: int, streams: Streams
) -> Iterator[FileResult]:
    """``results``, with a bar on a terminal: at once for many, else when they take a while."""
    if not streams.progress.isatty() or total < 2:
        yield from results
        return
    done = 0
    if total < PARALLEL_FROM:
        start = time.monotonic()
        for result in results:
            yield result
            done += 1
            if time.monotonic() - start > PROGRESS_AFTER_SECONDS and done < total:
                break
        else:
            return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    columns = (TextColumn("Checking"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(file=streams.progress), transient=True) as progress:
        task = progress.add_task("", total=total, completed=done)
        for result in results:
            progress.advance(task)
            yield result


Common: TypeAlias = "tuple[Sequence[Plan], Work]"


def _judge(common: Common, job: Job) -> FileResult:
    plans, work = common
    return judge_file(job.candidate, plans[job.plan], work)


def _killed(job: Job, error: Exception) -> FileResult:
    return FileResult(job.candidate.name, error=str(error))
