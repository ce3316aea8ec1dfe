"""How long a replay and the search for a micro-batch take, in process.

    python benchmarks/replay.py

Every figure is the median of repeated calls, each with the replay's own memory of earlier runs
emptied, so that nothing is answered from a cache.
"""

from __future__ import annotations

import statistics
import sys
import time
from dataclasses import replace
from typing import TYPE_CHECKING

from nanolint.gpus.lookup import find
from nanolint.trainers.nanogpt.resolve import default_run
from nanolint.verdict.replay import replay
from nanolint.verdict.search import best_micro_batch
from nanolint.verdict.verdict import judge

if TYPE_CHECKING:
    from collections.abc import Callable

    from nanolint.run.run import Run

REPEATS = 25

DEFAULT = default_run()


def milliseconds(call: Callable[[], object]) -> float:
    """The median time of ``call`` with empty caches, in milliseconds."""
    times = []
    for _ in range(REPEATS):
        empty_caches()
        start = time.perf_counter()
        call()
        times.append(1000 * (time.perf_counter() - start))
    return statistics.median(times)


def empty_caches() -> None:
    """Forget everything that the memory model remembers between calls."""
    for name, module in list(sys.modules.items()):
        if name.startswith("nanolint."):
            for value in vars(module).values():
                clear = getattr(value, "cache_clear", None)
                if clear is not None:
                    clear()


def measure(name: str, run: Run) -> None:
    """Print the figures of one program."""
    card = find("rtx-3070")
    figures = {
        "replay": lambda: replay(run),
        "judge on an RTX 3070": lambda: judge(run, card),
        "search on an RTX 3070": lambda: best_micro_batch([(run, card)]),
    }
    for what, call in figures.items():
        print(f"{what}, default 124M, {name}: {milliseconds(call):.1f} ms")


def main() -> None:
    """Measure both programs."""
    measure("compiled", DEFAULT)
    measure("eager", replace(DEFAULT, compile=False))


if __name__ == "__main__":
    main()
