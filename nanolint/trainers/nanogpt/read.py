"""A run whose script is read from its source, and the values that stand in for what it tells."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from nanolint.gpus.abilities import has_bfloat16
from nanolint.run.capability import attention_kernel
from nanolint.source.values import Known

if TYPE_CHECKING:
    from nanolint.gpus.gpu import Gpu
    from nanolint.run.program import ReadScript
    from nanolint.run.run import Run


def read_run(run: Run, program: ReadScript, gpu: Gpu | None) -> Run:
    """``run`` with a model of its own: nothing of nanoGPT's is said of it but what it follows."""
    dtype = "bfloat16" if has_bfloat16(gpu) else "float16"
    kernel = attention_kernel(gpu, dtype=dtype, head_size=64, dropout=False)
    known = program.follows
    return replace(
        run,
        program=program,
        attention=kernel,
        n_layer=run.n_layer if "n_layer" in known else 0,
        n_head=run.n_head if "n_head" in known else 0,
        n_embd=run.n_embd if "n_embd" in known else 0,
        dropout=run.dropout if "dropout" in known else 0.0,
        bias=run.bias and "bias" in known,
    )


# What a run needs of the shape of nanoGPT's own model; a value that stands in for what it lacks.
STAND_INS = {
    "n_layer": Known(1),
    "n_head": Known(1),
    "n_embd": Known(8),
    "dropout": Known(0.0),
    "bias": Known(value=False),
}
# The same for what is not known, where the whole script is read.
WHOLE_STAND_INS = {
    "block_size": Known(1),
    "vocab_size": Known(1),
    "init_from": Known("scratch"),
    "compile": Known(value=True),  # it is read whether the script does
}
