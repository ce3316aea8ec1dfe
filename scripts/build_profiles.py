"""Trace popular trainers as they are published, and write the profiles that come with nanolint.

    scripts/build_profiles.py --python .venv-cuda/bin/python build-nanogpt=path/to/checkout

Each is ``nanolint trace --profile`` in the checkout, whose ``.nanolint`` folder is then moved to
``nanolint/trainers/recorded``. What stands in for data and downloads is in validation/stand_ins.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
TARGET = ROOT / "nanolint" / "trainers" / "recorded"
STAND_INS = ROOT / "validation" / "stand_ins"


class Trainer(NamedTuple):
    """What is traced: the launch line, the cards, and what runs before it."""

    words: str
    gpus: tuple[str, ...]
    before: str | None = None


TRAINERS = {
    "autoresearch": Trainer("python train.py", ("h100-80gb",), "autoresearch.py"),
    "build-nanogpt": Trainer("python train_gpt2.py", ("a100-80gb",), "build_nanogpt.py"),
    "llama2.c": Trainer("python train.py", ("a100-40gb", "rtx-4090"), "llama2_c.py"),
    "llm.c": Trainer(
        "python train_gpt2.py --write_tensors 0 --model d12 --sequence_length 1024 --batch_size 4 "
        "--total_batch_size 4096 --dtype bfloat16 --flash 1",
        ("a100-40gb", "rtx-4090"),
        "llm_c.py",
    ),
    "nanochat-d12": Trainer(
        "python -m scripts.base_train --depth=12", ("h100-80gb",), "nanochat.py"
    ),
}


def main() -> int:
    """Build those that are named; the exit status is that of the last which fails."""
    options = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    options.add_argument("trainers", nargs="+", metavar="NAME=CHECKOUT")
    options.add_argument("--python", required=True, help="that has a CUDA build of PyTorch")
    given = options.parse_args()
    TARGET.mkdir(exist_ok=True)
    status = 0
    for name, _, checkout in (each.partition("=") for each in given.trainers):
        trainer = TRAINERS[name]
        words = [sys.executable, "-m", "nanolint", "trace", "--profile", "--yes"]
        words += ["--python", given.python, "--timeout", "3600"]
        words += [word for gpu in trainer.gpus for word in ("--gpu", gpu)]
        if trainer.before:
            words += ["--before", str(STAND_INS / trainer.before)]
        done = subprocess.run([*words, "--", *trainer.words.split()], cwd=checkout, check=False)
        status = done.returncode or status
        for profile in sorted((Path(checkout) / ".nanolint").glob("*.json")):
            _, dash, card = profile.name.rpartition("-sm")
            profile.rename(TARGET / f"{name}{dash}{card}")
    return status


if __name__ == "__main__":
    raise SystemExit(main())
