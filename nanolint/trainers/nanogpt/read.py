"""A run whose script is read from its source."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from nanolint.gpus.abilities import has_bfloat16
from nanolint.run.capability import attention_kernel

if TYPE_CHECKING:
    from nanolint.gpus.gpu import Gpu
    from nanolint.run.program import ReadScript
    from nanolint.run.run import Run


def read_run(run: Run, program: ReadScript, gpu: Gpu | None) -> Run:
    """``run`` with a model of its own: nothing of nanoGPT's is said of it but what it follows."""
    dtype = "bfloat16" if has_bfloat16(gpu) else "float16"
    kernel = attention_kernel(gpu, dtype=dtype, head_size=None, dropout=False)
    known = program.follows
    return replace(
        run,
        program=program,
        attention=kernel,
        n_layer=run.n_layer if "n_layer" in known else None,
        n_head=run.n_head if "n_head" in known else None,
        n_embd=run.n_embd if "n_embd" in known else None,
        dropout=run.dropout if "dropout" in known else None,
        bias=run.bias if "bias" in known else None,
    )
