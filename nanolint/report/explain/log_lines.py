"""The lines that the script itself prints about a run, for comparison with a log."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from nanolint.recording.recording import recorded
from nanolint.report.printer import printable
from nanolint.run.program import ReadScript

if TYPE_CHECKING:
    from nanolint.gpus.gpu import Gpu
    from nanolint.run.run import Run

MATRICES = 4  # of each block: c_attn, c_proj, c_fc, c_proj
VECTORS = 2  # of each block: its norms' weights
BIASES = 6  # of each block: of the matrices and of the norms

MOST = 8  # lines of a script's own
_NUMBER = re.compile(r"(?<![\w.-])\d")  # not those of a name: gpt-2, bf16


def log_lines(run: Run, gpu: Gpu | None = None) -> tuple[str, list[str]]:
    """Who prints, and what it prints before the first iteration, word for word.

    Of a script that is read those lines that have a number and are known. No line where the model
    alone is read. Raises Unread.
    """
    if isinstance(run.program, ReadScript):
        known = recorded(run, gpu).tape.printed if run.on_gpu else []
        lines = [each for each in dict.fromkeys(known) if _NUMBER.search(each)]
        name = run.program.modules[0].path.rpartition("/")[2]
        return printable(name), [printable(each.strip()) for each in lines[:MOST]]
    return "nanoGPT", [] if run.program is not None else _of_nanogpt(run)


def _of_nanogpt(run: Run) -> list[str]:
    """What its own train.py and model.py print."""
    c, layers = run.n_embd, run.n_layer
    decayed = (run.vocab_size + run.block_size) * c + layers * 12 * c * c
    matrices = 2 + MATRICES * layers
    vectors = 1 + VECTORS * layers + (1 + BIASES * layers) * run.bias
    return [
        f"tokens per iteration will be: {run.tokens_per_iter:,}",
        f"number of parameters: {run.parameters_reported / 1e6:.2f}M",
        f"num decayed parameter tensors: {matrices}, with {decayed:,} parameters",
        f"num non-decayed parameter tensors: {vectors}, "
        f"with {run.parameters - decayed:,} parameters",
    ]
