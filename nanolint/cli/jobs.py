"""Many files: in worker processes where that is faster, in their order, with a progress bar."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, TypeAlias

from nanolint.cli.judging import Work, judge_file
from nanolint.cli.processes import after_a_while, in_processes, workers_for
from nanolint.frozen import dataclass
from nanolint.report.results import FileResult

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from nanolint.cli.streams import Streams
    from nanolint.linting.discovery import Candidate
    from nanolint.linting.plan import Plan

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
