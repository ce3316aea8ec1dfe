"""Many files at once: worker processes, results in the order of the files, a progress bar."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from typing import TYPE_CHECKING

from nanolint.cli.judging import Work, internal_error, judge_file
from nanolint.files import interrupts
from nanolint.frozen import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from nanolint.cli.streams import Streams
    from nanolint.linting.discovery import Candidate
    from nanolint.linting.plan import Plan
    from nanolint.report.results import FileResult

PARALLEL_FROM = 96  # files; below, starting a second process mostly takes longer than it saves
PARALLEL_AFTER_SECONDS = 1.0  # that fewer files have taken: programs that are read whole do
FILES_PER_WORKER = 32  # at least
FILES_AT_ONCE = 8  # handed to a worker: what a progress bar moves by
MOST_WORKERS = 32
PROGRESS_AFTER_SECONDS = 1.0
SAFE_PATH = "PYTHONSAFEPATH"


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
    most = min(_processors(), MOST_WORKERS) if parallel else 1
    workers = min(most, len(jobs) // FILES_PER_WORKER)
    if workers > 1 and len(jobs) >= PARALLEL_FROM:
        yield from _in_processes(jobs, plans, work, workers, FILES_AT_ONCE)
        return
    start = time.monotonic()
    for done, job in enumerate(jobs):
        workers = min(most, len(jobs) - done)
        if workers > 1 and not work.write and time.monotonic() - start > PARALLEL_AFTER_SECONDS:
            yield from _in_processes(jobs[done:], plans, work, workers, 1)
            return
        yield judge_file(job.candidate, plans[job.plan], work)


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


def _processors() -> int:
    if hasattr(os, "sched_getaffinity"):  # a container may be given fewer than the machine has
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


_plans: Sequence[Plan] = ()
_work = Work()


def _in_processes(
    jobs: Sequence[Job], plans: Sequence[Plan], work: Work, workers: int, size: int
) -> Iterator[FileResult]:
    """``size`` files are handed to a worker at once."""
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor
    from concurrent.futures.process import BrokenProcessPool

    # Never plain fork: the progress bar and the pool itself run threads.
    methods = multiprocessing.get_all_start_methods()
    context = multiprocessing.get_context("forkserver" if "forkserver" in methods else "spawn")
    with _safe_path():
        pool = ProcessPoolExecutor(workers, context, _start, (tuple(plans), work))
        try:
            chunks = [jobs[at : at + size] for at in range(0, len(jobs), size)]
            with interrupts.waiting():  # a process that is half begun cannot be ended
                futures = [pool.submit(_judge_chunk, chunk) for chunk in chunks]
            for chunk, future in zip(chunks, futures, strict=True):
                try:
                    yield from future.result()
                except BrokenProcessPool:  # noqa: PERF203 (one try for a chunk of files)
                    died = RuntimeError("the worker process that checked this file was killed")
                    yield from (internal_error(job.candidate.name, died) for job in chunk)
        finally:
            pool.shutdown(cancel_futures=True)


@contextlib.contextmanager
def _safe_path() -> Iterator[None]:
    """Keep new processes from importing what lies in the working folder.

    They begin as ``python -c``, which would run a struct.py there. Python 3.10 knows no such way.
    """
    given = os.environ.get(SAFE_PATH)
    os.environ[SAFE_PATH] = "1"
    try:
        yield
    finally:
        if given is None:
            del os.environ[SAFE_PATH]
        else:
            os.environ[SAFE_PATH] = given


def _start(plans: Sequence[Plan], work: Work) -> None:
    """Tell a worker, once, what all of its files have in common."""
    import gc

    from nanolint.cli.main import COLLECT_EVERY

    global _plans, _work
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends the pool
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    gc.set_threshold(COLLECT_EVERY)
    _plans, _work = plans, work


def _judge_chunk(jobs: Sequence[Job]) -> list[FileResult]:
    return [judge_file(job.candidate, _plans[job.plan], _work) for job in jobs]
