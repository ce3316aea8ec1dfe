"""A run whose script is read from its source."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from nanolint.gpus.abilities import has_bfloat16
from nanolint.run.capability import attention_kernel
from nanolint.run.run import MODEL

if TYPE_CHECKING:
    from nanolint.gpus.gpu import Gpu
    from nanolint.run.program import ReadScript
    from nanolint.run.run import Run


def read_run(run: Run, program: ReadScript, gpu: Gpu | None) -> Run:
    """``run`` with a model of its own: nothing of nanoGPT's is said of it but what it follows."""
    dtype = "bfloat16" if has_bfloat16(gpu) else "float16"
    kernel = attention_kernel(gpu, dtype=dtype, head_size=None, dropout=False)
    others = dict.fromkeys(MODEL - program.follows)
    return replace(run, program=program, attention=kernel).having(**others)
