"""Run training scripts on the card in this machine: validation/recorded/gpu/NAME-scripts.json.

    python validation/measure_scripts.py composed:540-600 variations --out FILE --events FILE

Needs torch with CUDA, nothing else. ``composed:A-B`` are scripts of composed.py, every one of
``STEP`` from A up to B (``composed:A-B:STEP``); ``variations`` and ``variations:TABLE`` those of
variations/; a path is a script of anyone's. Each runs in a process of its own, from a folder of
its own. With ``--events``, what the allocator was asked for is kept, too (``card.seen``).
"""

from __future__ import annotations

import argparse
import json
import lzma
import os
import runpy
import sys
import tempfile
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))  # the root of the repository
from validation.card import Runs, described, peaks, requested, seen, timed_until, watch, write
from validation.record_variations import digest_of

SCRIPT_TIMEOUT = 150  # seconds


def texts(chosen: list[str]) -> dict[str, str]:
    """The scripts' texts by name."""
    found: dict[str, str] = {}
    for each in chosen:
        kind, _, which = each.partition(":")
        if kind == "composed":
            from validation.composed import composed

            numbers, _, step = which.partition(":")
            first, _, last = numbers.partition("-")
            for number in range(int(first), int(last or first) + 1, int(step or 1)):
                found[f"composed: {number}"] = composed(number)
        elif kind == "variations":
            from validation.variations import TEXTS

            found |= {name: text for name, text in TEXTS.items() if name.startswith(which)}
        else:
            found[each] = Path(each).read_text(encoding="utf-8")
    return found


def measure(script: str, events: str) -> dict[str, Any]:
    """Run a script to its end; its peaks in bytes, or how it ended.

    ``requested`` is the most that was requested at once; ``settled`` the same, once torch.compile
    has timed all of its kernels.
    """
    watch()
    sys.argv = [script]
    failure = None
    try:
        runpy.run_path(script, run_name="__main__")
    except BaseException as error:
        failure = f"{type(error).__name__}: {error}"[:400]
    found, history = peaks(), seen()
    if events:
        Path(events).write_text(json.dumps(history), encoding="utf-8")
    timed = timed_until(history, described()["l2_bytes"])
    found["requested"], found["settled"] = requested(history), requested(history, timed)
    return {**found, "failure": failure}


def main() -> None:
    """Measure the named scripts, one process each."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("scripts", nargs="+")
    parser.add_argument("--out", type=Path, help="the JSON file to write")
    parser.add_argument("--events", default="", help="the file (.json.xz) for what was asked for")
    parser.add_argument("--budget", type=float, default=540, help="seconds (default 540)")
    parser.add_argument("--together", type=int, default=1, help="scripts at a time (default 1)")
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        sys.stdout, printed = sys.stderr, sys.stdout  # what a script prints is not its result
        print(json.dumps(measure(options.scripts[0], options.events)), file=printed)
        sys.stdout.flush()
        printed.flush()
        os._exit(0)
    kept = texts(options.scripts)
    with tempfile.TemporaryDirectory() as made:
        commands, history = dict[str, list[str]](), dict[str, Path]()
        for number, (name, text) in enumerate(kept.items()):
            folder = Path(made) / str(number)
            folder.mkdir()
            (folder / "train.py").write_text(text, encoding="utf-8")
            history[name] = folder / "events.json"
            commands[name] = [
                *(sys.executable, __file__, str(folder / "train.py"), "--one"),
                *(("--events", str(history[name])) if options.events else ()),
            ]
        rows, all_events = dict[str, Any](), dict[str, list[int]]()
        runs = Runs(options.budget, options.together, SCRIPT_TIMEOUT)
        for name, found in runs.every(commands, lambda found: bool(found.get("retries"))):
            rows[name] = {"text": digest_of(kept[name]), **found}
            print(name, found.get("error") or found.get("failure") or "ok", flush=True)
            if history[name].exists():
                all_events[name] = json.loads(history[name].read_text(encoding="utf-8"))
            write(options.out, described(), "scripts", rows)
    if options.events:
        with lzma.open(options.events, "wt", encoding="utf-8") as file:
            json.dump(all_events, file)


if __name__ == "__main__":
    main()
