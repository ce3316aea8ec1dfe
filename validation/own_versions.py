"""Hold nanoGPT's own versions to our text of it, which configs without a script are read with.

    python validation/own_versions.py CHECKOUT

takes a git checkout of karpathy/nanoGPT and goes through every commit that changed train.py or
model.py. Its files are read as those of any project, and both must allocate the same in each phase
and reserve the same. Prints a line for each commit and run, and how many are equal: versions
before 553f949f do not divide the loss, those before 594068e7 write their GELU out.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from nanolint.gpus.lookup import find
from nanolint.interpreter.values import Unread
from nanolint.run.settled import Options
from nanolint.source.values import Known
from nanolint.trainers.nanogpt.project import NANOGPT, find_project
from nanolint.trainers.nanogpt.resolve import resolve
from nanolint.verdict.replay import replay

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from nanolint.source.values import Plain
    from nanolint.verdict.replay import Replay

CARD = "rtx-3090"
FILES = ("train.py", "model.py", "configurator.py")
# Nothing is left to what a version has for a default.
SIZES: dict[str, Plain] = {
    "n_layer": 3, "n_head": 12, "n_embd": 768, "block_size": 1024, "bias": False,
    "batch_size": 8, "gradient_accumulation_steps": 5, "max_iters": 10,
    "dataset": "openwebtext", "dtype": "bfloat16", "compile": True, "dropout": 0.0,
}  # fmt: skip
RUNS: tuple[Mapping[str, Plain], ...] = (
    SIZES,
    {**SIZES, "compile": False},
    {**SIZES, "dropout": 0.1, "dtype": "float16", "compile": False},
    {**SIZES, "eval_only": True, "init_from": "gpt2", "compile": False},
)


def main() -> int:
    """Compare, and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("checkout", type=Path)
    checkout: Path = parser.parse_args().checkout
    counts: Counter[str] = Counter()
    for commit in _git(checkout, "log", "--format=%h", "--", *FILES[:2]).split():
        if not set(FILES) <= set(_git(checkout, "ls-tree", "--name-only", commit).split()):
            continue  # before there was a configurator
        with tempfile.TemporaryDirectory() as name:
            for file in FILES:
                text = _git(checkout, "show", f"{commit}:{file}")
                Path(name, file).write_text(text, encoding="utf-8")
            for at, run in enumerate(RUNS):
                found = _compared(Path(name, "train.py"), run)
                print(f"{commit} {at}: {found}")
                counts[found.partition(":")[0]] += 1
    print(", ".join(f"{count} {verdict}" for verdict, count in counts.items()))
    return 0


def _compared(script: Path, run: Mapping[str, Plain]) -> str:
    target, project = find(CARD), find_project(None, train_script=script)
    theirs = {key: each for key, each in run.items() if key in project.defaults}
    found = resolve(None, project, _given(theirs), target).read
    own = resolve(None, NANOGPT, _given(run), target).run
    if found is None or found.run is None or own is None:
        return "not read: its settings are not known"
    try:
        read = replay(found.run, target.gpu)
    except Unread as error:
        return f"not read: {error}"
    differences = list(_differences(replay(own, target.gpu), read))
    return "equal" if not differences else f"not equal: {', '.join(differences)}"


def _given(run: Mapping[str, Plain]) -> Options:
    return Options(overrides=tuple((key, Known(each)) for key, each in run.items()))


def _differences(ours: Replay, theirs: Replay) -> Iterator[str]:
    pairs = [("reserved", ours.peak.reserved_bytes, theirs.peak.reserved_bytes)]
    read = dict(theirs.phases)
    pairs += [(phase.value, nbytes, read.get(phase, 0)) for phase, nbytes in ours.phases]
    for name, own, other in pairs:
        if own != other:
            yield f"{name} {own:,} and {other:,}"


def _git(checkout: Path, *words: str) -> str:
    command = ["git", "-C", str(checkout), *words]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


if __name__ == "__main__":
    sys.exit(main())
