"""What each cache saves: python scripts/measure_caches.py path/to/config.py --gpu rtx-3060

Runs a check, an explain and eight keystrokes, each in a process of its own, with wrapped caches.
Prints the time that its hits have saved, in ms of CPU time: hits times the mean time of a miss.
``--off NAME`` (``nanolint/recording/tape_answers.py:_made``, or ``hold_newest``) prints the seconds
with and without that cache instead, the least of five.
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import io
import os
import subprocess
import sys
import time
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

SCENARIOS = ("check", "explain", "keystrokes")
ROOT = Path(__file__).resolve().parents[1]

seen: dict[str, list[float]] = defaultdict(lambda: [0, 0, 0.0])  # calls, misses, seconds


def wrapped(function: Any, keep: Callable[[Any], Any], off: str | None) -> Any:
    """``keep(function)``, counted; the function itself if it is ``off``."""
    code = getattr(function, "__code__", None)
    if code is None or not code.co_filename.startswith(str(ROOT)):
        return keep(function)
    name = f"{Path(code.co_filename).relative_to(ROOT)}:{function.__name__}"
    if name == off:
        function.cache_clear = lambda: None
        return function
    if off is not None:
        return keep(function)
    count = seen[name]

    @functools.wraps(function)
    def timed(*given: Any, **named: Any) -> Any:
        count[1] += 1
        began = time.process_time()
        try:
            return function(*given, **named)
        finally:
            count[2] += time.process_time() - began

    kept = keep(timed)

    @functools.wraps(function)
    def counted(*given: Any, **named: Any) -> Any:
        count[0] += 1
        return kept(*given, **named)

    counted.cache_clear = getattr(kept, "cache_clear", None)  # type: ignore[attr-defined]
    return counted


def install(off: str | None) -> None:
    """Wrap the caches of all modules that are imported from now on."""
    lru = functools.lru_cache

    def remembering(maxsize: Any = 128, typed: bool = False) -> Any:
        if callable(maxsize):
            return lru(maxsize)
        return lambda function: wrapped(function, lru(maxsize, typed), off)

    functools.lru_cache = remembering  # type: ignore[assignment]
    functools.cache = lambda function: wrapped(function, lru(None), off)  # type: ignore[assignment]
    from nanolint.files import notes
    from nanolint.source import python
    from nanolint.tape import lasting

    for module, name in ((notes, "memo"), (python, "of_node")):
        keep = getattr(module, name)
        setattr(module, name, lambda function, keep=keep: wrapped(function, keep, off))
    if off == "hold_newest":
        lasting.hold_newest = lambda known, *_: known.clear()


def run(scenario: str, config: Path, gpu: str) -> None:
    """Do what the scenario is named for."""
    import nanolint
    from nanolint.cli.main import main

    if scenario == "keystrokes":
        text = config.read_text(encoding="utf-8")
        for count in range(8):
            nanolint.lint_text(f"{text}\nbatch_size = {8 + count}\n", path=config, gpu=gpu)
        return
    with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
        main([scenario, "--gpu", gpu, str(config)])


def child(scenario: str, config: str, gpu: str, off: str = "") -> str:
    """Run a scenario in a process of its own, with an empty disk cache; returns what it prints."""
    command = [sys.executable, __file__, config, "--gpu", gpu, "--scenario", scenario, "--off", off]
    environment = {**os.environ, "NANOLINT_CACHE": ""}
    done = subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE, text=True)
    return done.stdout


def seconds(scenario: str, config: str, gpu: str, off: str) -> float:
    """The least CPU time of five runs of a scenario."""
    return min(float(child(scenario, config, gpu, off).split()[1]) for _ in range(5))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("config")
    parser.add_argument("--gpu", default="rtx-3060")
    parser.add_argument("--off")
    parser.add_argument("--scenario", choices=SCENARIOS, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.scenario:
        install(given.off if given.off else None)
        began = time.process_time()
        run(given.scenario, Path(given.config), given.gpu)
        print("all", time.process_time() - began)
        for name, (calls, misses, spent) in seen.items():
            if misses:
                print(name, (calls - misses) * spent / misses)
    elif given.off:
        for scenario in SCENARIOS:
            times = [
                seconds(scenario, given.config, given.gpu, off) for off in ("nothing", given.off)
            ]
            print(f"{scenario:12} {times[0]:6.2f} s with, {times[1]:6.2f} s without")
    else:
        saved: dict[str, dict[str, float]] = defaultdict(dict)
        for scenario in SCENARIOS:
            for line in child(scenario, given.config, given.gpu).splitlines():
                name, spared = line.rsplit(" ", 1)
                saved[name][scenario] = 1000 * float(spared)
        print("ms saved by".ljust(64), *(each.rjust(12) for each in SCENARIOS))
        for name, each in sorted(saved.items(), key=lambda one: -max(one[1].values())):
            print(name.ljust(64), *(f"{each.get(one, 0):12.1f}" for one in SCENARIOS))


if __name__ == "__main__":
    main()
