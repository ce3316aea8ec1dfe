"""Trace popular trainers as they are published, and write the profiles that come with nanolint.

    scripts/build_profiles.py --python .venv-cuda/bin/python build-nanogpt=path/to/checkout

Each is ``nanolint trace --profile`` in the checkout, whose ``.nanolint`` folder is then moved to
``nanolint/profiles/recorded``. What stands in for data and downloads is in validation/stand_ins.
Several of one checkout are written one after the other: ``llm.c=llm.c llm.c-alone=llm.c``. Then, or
with ``--check`` alone, the launch line is read as its users have it read: it must have the profile.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from argparse import Namespace
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from nanolint.cli.profile import config_of  # noqa: E402
from nanolint.cli.streams import Streams  # noqa: E402
from nanolint.gpus.lookup import find  # noqa: E402
from nanolint.run.profile_file import read, write  # noqa: E402
from nanolint.run.program import Profiled  # noqa: E402

TARGET = ROOT / "nanolint" / "profiles" / "recorded"
STAND_INS = ROOT / "validation" / "stand_ins"


class Trainer(NamedTuple):
    """What is traced: the launch line as it is published, the card, what runs before it, and on
    how many traces at most, for a compiled run takes half a minute of CPU each and more."""

    words: str
    gpu: str
    before: str
    most_traces: int
    assumes: tuple[str, ...] = ()  # what a stand-in decides, and may be otherwise


# scripts/pyrun_gpt2_124M.sh, which says that the same goes without torchrun
LLM_C = (
    "train_gpt2.py --input_bin dev/data/fineweb10B/fineweb_train_*.bin "
    "--input_val_bin dev/data/fineweb10B/fineweb_val_*.bin "
    "--val_loss_every 250 --sample_every 0 --output_dir pylog_gpt2_124M --write_tensors 0 "
    "--model d12 --batch_size 32 --sequence_length 1024 --total_batch_size 524288 "
    "--dtype bfloat16 --compile 1 --tensorcores 1 --flash 1 --num_iterations 18865 "
    "--weight_decay 0.1 --zero_stage 1 --learning_rate 0.0006 --warmup_iters 700 "
    "--learning_rate_decay_frac 0.0 --overfit_single_batch 0"
)
# runs/miniseries.sh, which says at which depth it takes which batch
NANOCHAT_MINISERIES = (
    "--depth={depth} --run=dummy --core-metric-every=999999 --core-metric-max-per-task=-1 "
    "--sample-every=-1 --save-every=-1 --device-batch-size={batch}"
)
NANOCHAT_D12 = NANOCHAT_MINISERIES.format(depth=12, batch=32)
MINISERIES = {12: 32, 14: 32, 16: 32, 18: 32, 20: 16, 22: 16, 24: 16, 26: 16}
# runs/speedrun.sh
NANOCHAT_SPEEDRUN = (
    "--depth=24 --target-param-data-ratio=8 --device-batch-size=16 --fp8 --run=dummy"
)
# nanochat/flash_attention.py takes PyTorch's where the package is not there; runs/*.sh train the
# tokenizer; the CORE metric has data of its own, and it and samples come later than the third step
NANOCHAT = (
    "FlashAttention 3 is taken to be installed, by the package kernels",
    "the tokenizer is taken to have 32,768 tokens, as scripts.tok_train makes it",
    "the CORE metric and samples are taken to need less than training",
)
TORCHRUN = "torchrun --standalone --nproc_per_node="

TRAINERS = {
    "autoresearch": Trainer("python train.py", "h100-80gb", "autoresearch.py", 22),
    "build-nanogpt": Trainer("python train_gpt2.py", "a100-80gb", "build_nanogpt.py", 60),
    "build-nanogpt-8": Trainer(f"{TORCHRUN}8 train_gpt2.py", "8xa100-80gb", "build_nanogpt.py", 30),
    "llama2.c": Trainer("python train.py", "a100-40gb", "llama2_c.py", 16),
    "llm.c": Trainer(f"{TORCHRUN}8 {LLM_C}", "8xa100-80gb", "llm_c.py", 4),
    "llm.c-alone": Trainer(f"python {LLM_C}", "a100-80gb", "llm_c.py", 7),
    "nanochat-speedrun": Trainer(
        f"{TORCHRUN}8 -m scripts.base_train -- {NANOCHAT_SPEEDRUN}",
        "8xh100-80gb",
        "nanochat_flash.py",
        4,
        NANOCHAT,
    ),
    "nanochat-d12-torchrun": Trainer(
        f"{TORCHRUN}1 -m scripts.base_train -- {NANOCHAT_D12}",
        "h100-80gb",
        "nanochat_flash.py",
        4,
        NANOCHAT,
    ),
    "nanochat-d12-alone": Trainer(
        f"python -m scripts.base_train {NANOCHAT_D12}",
        "h100-80gb",
        "nanochat_flash.py",
        4,
        NANOCHAT,
    ),
}
# $NPROC_PER_NODE is 8 unless somebody sets it
TRAINERS |= {
    f"nanochat-d{depth}": Trainer(
        f"{TORCHRUN}8 -m scripts.base_train -- "
        + NANOCHAT_MINISERIES.format(depth=depth, batch=batch),
        "8xh100-80gb",
        "nanochat_flash.py",
        5,
        NANOCHAT,
    )
    for depth, batch in MINISERIES.items()
}


def main() -> int:
    """Build those that are named; the exit status is that of the last which fails."""
    options = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    options.add_argument("trainers", nargs="+", metavar="NAME=CHECKOUT")
    options.add_argument("--python", help="that has a CUDA build of PyTorch")
    options.add_argument("--check", action="store_true", help="trace nothing: is it taken?")
    given = options.parse_args()
    if not given.check and given.python is None:
        options.error("--python is needed to trace")
    TARGET.mkdir(exist_ok=True)
    status = 0
    for name, _, checkout in (each.partition("=") for each in given.trainers):
        trainer, folder = TRAINERS[name], Path(checkout).resolve()
        if not given.check:
            status = _build(name, trainer, folder, given.python) or status
        status = _is_taken(name, trainer, folder) or status
    return status


def _build(name: str, trainer: Trainer, folder: Path, python: str) -> int:
    """Trace it and put what was written where it comes with nanolint; the exit status."""
    words = [sys.executable, "-m", "nanolint", "trace", "--profile", "--yes"]
    words += ["--python", python, "--timeout", "3600"]
    words += ["--gpu", trainer.gpu, "--before", str(STAND_INS / trainer.before)]
    words += ["--most-traces", str(trainer.most_traces)]
    done = subprocess.run([*words, "--", *trainer.words.split()], cwd=folder, check=False)
    for profile in sorted((folder / ".nanolint").glob("*.json")):
        _, dash, card = profile.name.rpartition("-sm")
        found = read(profile.read_bytes())
        kinds = (replace(kind, name=_within(kind.name)) for kind in found.kinds)
        content = write(replace(found, kinds=tuple(kinds), assumes=trainer.assumes))
        (TARGET / f"{name}{dash}{card}").write_bytes(content)
        profile.unlink()
    return done.returncode


def _is_taken(name: str, trainer: Trainer, folder: Path) -> int:
    """Say whether its launch line has a profile, and what is in doubt; the exit status."""
    os.chdir(folder)
    options, streams = (
        Namespace(isolated=True, config=None),
        Streams(sys.stdin, sys.stdout, sys.stderr),
    )
    found = config_of(trainer.words, options, streams).config.resolved(find(trainer.gpu))
    taken = found.run is not None and isinstance(found.run.program, Profiled)
    doubts = "; ".join(str(each.text) for each in found.doubts)
    print(f"{name}: {'has' if taken else 'has not'} its profile: {found.trust.value} {doubts}")
    return 0 if taken else 1


def _within(name: str) -> str:
    """The line of a stand-in, wherever this repository lies."""
    return name.removeprefix(f"{ROOT}/")


if __name__ == "__main__":
    raise SystemExit(main())
