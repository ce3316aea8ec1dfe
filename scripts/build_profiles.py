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
    """What is traced: the launch line as it is published, the cards, what runs before it, and on
    how many traces at most, for a compiled run takes half a minute of CPU each and more."""

    words: str
    gpus: tuple[str, ...]
    before: str
    most_traces: int


TRAINERS = {
    "autoresearch": Trainer("python train.py", ("h100-80gb",), "autoresearch.py", 24),
    "build-nanogpt": Trainer("python train_gpt2.py", ("a100-80gb",), "build_nanogpt.py", 60),
    "llama2.c": Trainer("python train.py", ("a100-40gb",), "llama2_c.py", 16),
    # scripts/pyrun_gpt2_124M.sh, without what a profile does not depend on
    "llm.c": Trainer(
        "torchrun --standalone --nproc_per_node=8 train_gpt2.py "
        "--input_bin dev/data/fineweb10B/fineweb_train_*.bin "
        "--input_val_bin dev/data/fineweb10B/fineweb_val_*.bin "
        "--val_loss_every 250 --sample_every 0 --output_dir pylog_gpt2_124M --write_tensors 0 "
        "--model d12 --batch_size 32 --sequence_length 1024 --total_batch_size 524288 "
        "--dtype bfloat16 --compile 1 --tensorcores 1 --flash 1 --num_iterations 18865 "
        "--weight_decay 0.1 --zero_stage 1 --learning_rate 0.0006 --warmup_iters 700 "
        "--learning_rate_decay_frac 0.0 --overfit_single_batch 0",
        ("8xa100-80gb",),
        "llm_c.py",
        16,
    ),
    # runs/miniseries.sh on one card. The total is what the script takes by itself at this depth;
    # said in words, it can be set to fewer micro-steps.
    "nanochat-d12": Trainer(
        "python -m scripts.base_train --depth=12 --total-batch-size=524288",
        ("rtx-4090",),
        "nanochat.py",
        4,
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
        words += ["--before", str(STAND_INS / trainer.before)]
        words += ["--most-traces", str(trainer.most_traces)]
        done = subprocess.run([*words, "--", *trainer.words.split()], cwd=checkout, check=False)
        status = done.returncode or status
        for profile in sorted((Path(checkout) / ".nanolint").glob("*.json")):
            _, dash, card = profile.name.rpartition("-sm")
            profile.rename(TARGET / f"{name}{dash}{card}")
    return status


if __name__ == "__main__":
    raise SystemExit(main())
