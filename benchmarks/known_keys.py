"""What a keystroke takes whose run is known, and what it would without what was done for it.

    python benchmarks/known_keys.py [CONFIG] [--gpu rtx-4070]

Other values of ``max_iters`` are typed into a config that sets it, in one process, with and without
each thing in turns; told are medians of the processor's time. Without a config it is nanoGPT's of
GPT-2 (124M), whose run fits on that card and not on an rtx-4060.
"""

from __future__ import annotations

import argparse
import gc
import re
import statistics
import sys
import tempfile
import time
from collections import defaultdict
from contextlib import AbstractContextManager, nullcontext
from itertools import count
from pathlib import Path
from unittest.mock import patch

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "rules")]

from benchmarks.lsp import CONFIG  # noqa: E402
from nanolint.lsp import serving  # noqa: E402
from nanolint.lsp.session import Session  # noqa: E402
from nanolint.settings import schema  # noqa: E402
from nanolint.tape import numbers  # noqa: E402
from tests.support.project_tree import write_project  # noqa: E402

ROUNDS, WARM_UP = 40, 10
STEPS = re.compile(r"^max_iters\s*=\s*(\d+)", re.MULTILINE)


def ways() -> dict[str, AbstractContextManager[object]]:
    """By what it is called, what is undone while it lasts."""
    return {
        "with everything": nullcontext(),
        "with each text parsed whole": patch.object(numbers, "_changed", lambda *_: None),
        "with a validator made for each": patch.object(
            schema, "_adapter", schema._adapter.__wrapped__
        ),
    }


def main() -> None:
    """Measure what the command line says."""
    parser = argparse.ArgumentParser(description="Keystrokes whose runs are known")
    parser.add_argument("config", type=Path, nargs="?")
    parser.add_argument("--gpu", default="rtx-4070")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        own = write_project(Path(folder), {"config/a.py": CONFIG}) / "config" / "a.py"
        measure(arguments.config or own, arguments.gpu)


def measure(config: Path, gpu: str) -> None:
    """Type into a config, and print what each takes."""
    text = config.read_text(encoding="utf-8")
    found = STEPS.search(text)
    if found is None:
        raise SystemExit(f"{config} sets no max_iters")
    gc.set_threshold(serving.YOUNG, serving.MIDDLE, serving.OLD)
    session = Session({}, sys.exit)
    session.set_target(gpu)
    session.open("config", config.resolve(), text, is_python=True)
    document = session.document("config")
    if document is None or document.judged is None:
        raise SystemExit("it cannot be judged")
    taken = defaultdict[str, list[float]](list)
    values = count(20_000, 50)
    for _ in range(WARM_UP + ROUNDS):
        for name, way in ways().items():
            value = str(next(values))
            with way:
                session.change("config", text[: found.start(1)] + value + text[found.end(1) :])
                started = time.process_time()
                assert document.judged is not None
                taken[name].append(1000 * (time.process_time() - started))
    for name, times in taken.items():
        print(f"{statistics.median(times[WARM_UP:]):.1f} ms {name}")


if __name__ == "__main__":
    main()
