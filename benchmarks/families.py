"""How many readings cover the micro-batches of a config: another holds where every guard does.

python benchmarks/families.py CONFIG [KEY=VALUE ...] [--gpu rtx-4090] [--most 199]
"""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import replace
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "rules")]

from nanolint.gpus.lookup import find  # noqa: E402
from nanolint.lsp.session import Session  # noqa: E402
from nanolint.recording import recording, symbolic_cache, tape_answers  # noqa: E402


def main() -> None:
    """Count them, and time the first reading and the others."""
    parser = argparse.ArgumentParser(description="Readings and what they cover")
    parser.add_argument("config", type=Path)
    parser.add_argument("settings", nargs="*", default=())
    parser.add_argument("--gpu", default="rtx-4090")
    parser.add_argument("--most", type=int, default=199)
    arguments = parser.parse_args()
    symbolic_cache.COMPILED_FIRST = 1
    session = Session({}, sys.exit)
    session.set_target(arguments.gpu)
    text = "\n".join([arguments.config.read_text(encoding="utf-8"), *arguments.settings, ""])
    session.open("config", arguments.config.resolve(), text, is_python=True)
    document = session.document("config")
    context = document.context if document else None
    run = context.run if context else None
    if run is None:
        raise SystemExit("no run is known of that config")
    gpu = find(arguments.gpu).gpu
    tape_answers._of_any_card.cache_clear()
    symbolic_cache._families.clear()
    read: list[int] = []
    write = recording._Recipe.write

    def noted(recipe: recording._Recipe, *given: object) -> None:
        read.append(recipe.run.batch_size)
        write(recipe, *given)  # type: ignore[arg-type]

    recording._Recipe.write = noted  # type: ignore[method-assign]
    reading, working_out = list[float](), list[float]()
    for batch_size in range(2, arguments.most + 1):
        before, started = len(read), time.process_time()
        recording.record(replace(run, batch_size=batch_size), gpu)
        taken = time.process_time() - started
        (reading if len(read) > before else working_out).append(taken)
    print(f"{len(read)} readings, of the micro-batches {read}")
    for what, times in (("a reading", reading), ("what needs none", working_out)):
        if times:
            print(f"{what}: {1000 * sorted(times)[len(times) // 2]:.0f} ms of the processor")


if __name__ == "__main__":
    main()
