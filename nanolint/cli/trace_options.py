"""The options of ``nanolint trace``."""

from __future__ import annotations

from argparse import ArgumentTypeError
from pathlib import Path

from nanolint.cli.options import add_settings_options
from nanolint.cli.parser import Parser, positive

DESCRIPTION = """\
Run the first optimizer steps of a training script on a simulated CUDA device
that only counts allocations, and show where its memory would go on a card.
It needs Linux, a CUDA build of PyTorch and cc, but no GPU. It is the only
command that runs your code. Your code gets no network and cannot write to your
files.

  nanolint trace --gpu rtx-4070 -- python train.py config/train_shakespeare.py
  nanolint trace --python .venv/bin/python -- \\
    torchrun --nproc_per_node=8 -m scripts.base_train"""

DEFAULT_SECONDS, DEFAULT_HOST_GIB = 600, 8
DEFAULT_TRACES = 60


def parser() -> Parser:
    """The options of the words before ``--``."""
    made = Parser("nanolint trace", "[OPTION]... -- COMMAND...", DESCRIPTION)
    made.add_argument(
        "--python", metavar="PATH", help="Python interpreter that has your PyTorch (default: the "
        "one in the command, in .venv or VIRTUAL_ENV, else python3)",
    )  # fmt: skip
    made.add_argument(
        "--before", type=Path, metavar="FILE", help="Python file to run first: stand-ins for data, "
        "downloads, tokenizers",
    )  # fmt: skip
    made.add_argument(
        "--steps", type=positive, metavar="N", help="optimizer steps to run (default: until two "
        "reserve the same, including evaluations and samples up to step 50; with --profile: 3)",
    )  # fmt: skip
    made.add_argument("--timeout", type=positive, default=DEFAULT_SECONDS, metavar="SECONDS",
                        help=f"stop after so many seconds (default: "
                        f"{DEFAULT_SECONDS})")  # fmt: skip
    made.add_argument("--host-memory", type=positive, default=DEFAULT_HOST_GIB, metavar="GIB",
                        help=f"stop if it takes more memory of this machine (default: "
                        f"{DEFAULT_HOST_GIB})")  # fmt: skip
    made.add_argument("--yes", action="store_true", help="run the code without asking")
    made.add_argument(
        "--unprotected", action="store_true", help="run it even if the sandbox is not available: "
        "the script may use the network and write files",
    )  # fmt: skip
    made.add_argument(
        "--try", type=_tried, dest="try_values", metavar="KEY=N,N",
        help="also trace these values of an option of the script: batch_size=8,4",
    )  # fmt: skip
    made.add_argument(
        "--profile", action="store_true", help="trace several micro-batches, and save a profile "
        "of them in .nanolint/ for the other commands",
    )  # fmt: skip
    made.add_argument(
        "--most-traces", type=positive, default=DEFAULT_TRACES, metavar="N",
        help=f"traces of a profile at most (default: {DEFAULT_TRACES})",
    )  # fmt: skip
    made.add_argument("--format", choices=("text", "json"), default="text")
    made.add_argument(
        "--snapshot", type=Path, metavar="OUT.pickle",
        help="write the allocator's history for pytorch.org/memory_viz",
    )  # fmt: skip
    made.add_argument(
        "--plot", type=Path, metavar="OUT.svg|png",
        help="draw live memory over the events of one step (needs nanolint[plot])",
    )  # fmt: skip
    made.add_argument("--color", choices=("auto", "always", "never"), default="auto")
    group = made.add_argument_group("the machine")
    group.add_argument("--gpu", action="append", metavar="NAME|SIZE|auto",
                       help="target GPU; repeat it to check several")  # fmt: skip
    group.add_argument(
        "--in-use", metavar="SIZE", help="memory already used on the card, such as 2GiB"
    )
    group.add_argument("--world-size", type=positive, metavar="N", help="number of processes")
    group.add_argument("--platform", choices=("linux", "windows", "wsl"),
                       help="system of the run")  # fmt: skip
    group.add_argument(
        "--allocator", choices=("default", "expandable"),
        help="expandable: as PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True does",
    )  # fmt: skip
    add_settings_options(made)
    return made


def _tried(text: str) -> tuple[str, tuple[str, ...]]:
    """``batch_size=8,4`` as a key and its values."""
    key, _, values = text.partition("=")
    found = tuple(value.strip() for value in values.split(",") if value.strip())
    if not (key.strip("-") and found):
        raise ArgumentTypeError(f"{text!r} is not a key with its values, such as batch_size=8,4")
    return key.lstrip("-"), found
