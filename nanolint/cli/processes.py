"""Work for several processes: each is told once what all of it has in common."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time
from functools import cache
from itertools import repeat
from typing import TYPE_CHECKING, Any, TypeVar

from nanolint.errors import UserError
from nanolint.files import writing
from nanolint.frames import in_one_piece

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

MOST_WORKERS = 32
PARALLEL_AFTER_SECONDS = 1.0  # by then new processes are worth their start
SAFE_PATH = "PYTHONSAFEPATH"

Common = TypeVar("Common")
Item = TypeVar("Item")
Result = TypeVar("Result")


class Killed(UserError):
    """A worker process was ended before its work was done; by what, in one line."""


def workers_for(items: int, *, each: int = 1) -> int:
    """How many processes so many items are worth, with at least ``each`` for one."""
    return min(_processors(), items // each, MOST_WORKERS)


def after_a_while(
    do: Callable[[Common, Item], Result],
    common: Common,
    items: Sequence[Item],
    *,
    instead: Callable[[Item, Exception], Result] | None = None,
) -> Iterator[Result]:
    """``in_processes`` for what is left after a second; until then in this one."""
    start = time.monotonic()
    for done, item in enumerate(items):
        if time.monotonic() - start > PARALLEL_AFTER_SECONDS:
            workers = workers_for(len(items) - done)
            if workers > 1:
                yield from in_processes(do, common, items[done:], workers, instead=instead)
                return
        yield do(common, item)


def in_processes(
    do: Callable[[Common, Item], Result],
    common: Common,
    items: Sequence[Item],
    workers: int,
    *,
    size: int = 1,
    instead: Callable[[Item, Exception], Result] | None = None,
) -> Iterator[Result]:
    """What ``do``, a function of a module, makes of each item, in their order.

    ``size`` items are handed to a worker at once. Where one is killed, what is left is done by one
    process after the other. ``instead`` is asked for the result of an item with which such a one
    is killed too; without it, raises Killed.
    """
    chunks = [items[at : at + size] for at in range(0, len(items), size)]
    try:
        for results in _results(do, common, chunks, workers):
            yield from results
            chunks = chunks[1:]
    except Killed:
        left = [item for chunk in chunks for item in chunk]
    else:
        return
    while left:
        try:
            for results in _results(do, common, [[item] for item in left], 1):
                yield from results
                left = left[1:]
        except Killed as error:  # noqa: PERF203 (once for each that cannot be done)
            if instead is None:
                raise
            yield instead(left[0], error)
            left = left[1:]


def _results(
    do: Callable[[Common, Item], Result],
    common: Common,
    chunks: Sequence[Sequence[Item]],
    workers: int,
) -> Iterator[list[Result]]:
    """The results of each chunk: from a pool, and from this process if the pool has none.

    Raises Killed if a worker was ended from outside.
    """
    pool = _in_pool((do, common), chunks, workers)
    for chunk in chunks:
        try:
            results = next(pool)
        except Killed:
            raise
        except Exception:  # no worker can be started, or told what to do
            pool, results = repeat(None), None
        yield [do(common, item) for item in chunk] if results is None else results


def _in_pool(
    given: object, chunks: Sequence[Sequence[Item]], workers: int
) -> Iterator[list[Any] | None]:
    """The results of each chunk, None for one that fails there. Raises Killed."""
    import multiprocessing
    import pickle
    from concurrent.futures import ProcessPoolExecutor
    from concurrent.futures.process import BrokenProcessPool

    told = pickle.dumps(given)
    # Never plain fork: the progress bar and the pool itself run threads.
    methods = multiprocessing.get_all_start_methods()
    context = multiprocessing.get_context("forkserver" if "forkserver" in methods else "spawn")
    with _safe_path():
        pool = ProcessPoolExecutor(workers, context, _start, (told,))
        try:
            with writing.waiting():  # a process that is half begun cannot be ended
                futures = [pool.submit(_do, pickle.dumps(chunk)) for chunk in chunks]
                begun = multiprocessing.active_children()
            for future in futures:
                results = future.result()
                yield None if results is None else pickle.loads(results)
        except BrokenProcessPool as error:
            pool.shutdown()  # its thread joins them: of two that do one reads no status
            raise Killed(_ended([each.exitcode for each in begun])) from error
        except BaseException:  # nobody waits for what takes seconds to be read
            for each in multiprocessing.active_children():
                each.terminate()
            raise
        finally:
            pool.shutdown(cancel_futures=True)


def _ended(codes: Sequence[int | None]) -> str:
    """Why the work was not done, by how its processes ended: the pool terminates the others."""
    numbers = {-code for code in codes if code is not None and code < 0}
    number = min(numbers - {signal.SIGTERM} or numbers, default=0)
    if not number:
        return "the process that checked it ended too early"
    told = f"the process that checked it was killed by {signal.Signals(number).name}"
    if number == getattr(signal, "SIGKILL", None):
        return f"{told}: this machine may have too little memory (RAM) for it"
    return told


def _processors() -> int:
    if hasattr(os, "sched_getaffinity"):  # a container may be given fewer than the machine has
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


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


_told = b""  # what all of a worker's items have in common, as it was sent


def _start(told: bytes) -> None:
    """Tell a worker, once, what all of its items have in common."""
    import gc

    from nanolint.cli.main import COLLECT_EVERY

    global _told
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends the pool
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    gc.set_threshold(COLLECT_EVERY)
    _told = told
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """End this process once its parent has: one that was killed could tell its pool nothing."""
    import multiprocessing

    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


@in_one_piece
def _do(items: bytes) -> bytes | None:
    """The results, pickled; None if anything fails, which the parent finds out for itself."""
    import pickle

    try:
        do, common = _unpacked(_told)
        return pickle.dumps([do(common, item) for item in pickle.loads(items)])
    except Exception:
        return None


@cache
def _unpacked(told: bytes) -> tuple[Callable[[Any, Any], Any], Any]:
    import pickle

    given: tuple[Callable[[Any, Any], Any], Any] = pickle.loads(told)
    return given
