"""The lines that nanoGPT itself prints about a run, for comparison with a log."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nanolint.run.run import Run

MATRICES = 4  # of each block: c_attn, c_proj, c_fc, c_proj
VECTORS = 2  # of each block: its norms' weights
BIASES = 6  # of each block: of the matrices and of the norms


def log_lines(run: Run) -> list[str]:
    """What train.py and model.py print before the first iteration, word for word.

    Nothing where the model is not nanoGPT's own.
    """
    if run.program is not None:
        return []
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
