"""Hold nanoGPT's own versions to our text of it: each that is recognised is read whole, too.

    python validation/own_versions.py CHECKOUT

takes a git checkout of karpathy/nanoGPT and goes through every commit that changed train.py or
model.py. Where nanolint knows the files for nanoGPT's own, it takes our text in their place; here
the files themselves are read as those of any project, and both must allocate the same in each phase
and reserve the same. Prints a line for each commit and run, and ends with 1 if any is not equal.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING
from unittest.mock import patch

from nanolint.files.notes import forget
from nanolint.gpus.lookup import find
from nanolint.memory.verdict.replay import replay
from nanolint.run.settled import Options
from nanolint.run.trust import Trust
from nanolint.source.values import Known
from nanolint.trainers.nanogpt.project import find_project
from nanolint.trainers.nanogpt.recognition import models, pieces
from nanolint.trainers.nanogpt.resolve import resolve

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from nanolint.memory.verdict.replay import Replay
    from nanolint.source.values import Plain

CARD = "rtx-3090"
FILES = ("train.py", "model.py", "configurator.py")
SHORT = {"n_layer": 3, "batch_size": 8, "gradient_accumulation_steps": 5, "max_iters": 10}
RUNS: tuple[Mapping[str, Plain], ...] = (
    SHORT,
    {**SHORT, "compile": False},
    {**SHORT, "dropout": 0.1, "dtype": "float16", "compile": False},
    {**SHORT, "eval_only": True, "init_from": "gpt2", "compile": False},
)


def main() -> int:
    """Compare, and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("checkout", type=Path)
    checkout: Path = parser.parse_args().checkout
    known = pieces.known_pieces()
    counts = dict.fromkeys(("equal", "not equal", "not recognised"), 0)
    for commit in _git(checkout, "log", "--format=%h", "--", *FILES[:2]).split():
        if not set(FILES) <= set(_git(checkout, "ls-tree", "--name-only", commit).split()):
            continue  # before there was a configurator
        with tempfile.TemporaryDirectory() as name:
            for file in FILES:
                text = _git(checkout, "show", f"{commit}:{file}")
                Path(name, file).write_text(text, encoding="utf-8")
            for at, run in enumerate(RUNS):
                found = _compared(Path(name, "train.py"), run, known)
                print(f"{commit} {at}: {found}")
                counts[found.partition(":")[0]] += 1
    print(", ".join(f"{count} {verdict}" for verdict, count in counts.items()))
    return 1 if counts["not equal"] else 0


def _compared(
    script: Path, run: Mapping[str, Plain], known: Mapping[str, Mapping[str, str]]
) -> str:
    target, project = find(CARD), find_project(None, train_script=script)
    overrides = tuple((key, Known(each)) for key, each in run.items() if key in project.defaults)
    options = Options(overrides=overrides)
    own = resolve(None, project, options, target)
    if own.run is None or own.trust is not Trust.EXACT:
        why = next((each.text for each in own.doubts), "")
        return f"not recognised: {why}"
    with _recognising_nothing(known):
        project = find_project(None, train_script=script)
        found = resolve(None, project, options, target)
    if found.read is None or found.read.run is None:
        return "not equal: its files are not read"
    ours, theirs = (replay(each, target.gpu) for each in (own.run, found.read.run))
    differences = list(_differences(ours, theirs))
    return "equal" if not differences else f"not equal: {', '.join(differences)}"


def _differences(ours: Replay, theirs: Replay) -> Iterator[str]:
    pairs = [("reserved", ours.peak.reserved_bytes, theirs.peak.reserved_bytes)]
    read = dict(theirs.phases)
    pairs += [(phase.value, nbytes, read.get(phase, 0)) for phase, nbytes in ours.phases]
    for name, own, other in pairs:
        if own != other:
            yield f"{name} {own:,} and {other:,}"


@contextmanager
def _recognising_nothing(known: Mapping[str, Mapping[str, str]]) -> Iterator[None]:
    """No piece is known for nanoGPT's while it lasts: what is read then is the project's text."""
    nothing: dict[str, dict[str, str]] = {name: {} for name in known}
    forget()
    with (
        patch.object(pieces, "known_pieces", return_value=nothing),
        patch.object(models, "known_pieces", return_value=nothing),
    ):
        yield
    forget()


def _git(checkout: Path, *words: str) -> str:
    command = ["git", "-C", str(checkout), *words]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


if __name__ == "__main__":
    sys.exit(main())
