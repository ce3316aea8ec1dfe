"""The sizes of a run's batches, and what the kernels of its card take."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.frozen import dataclass
from nanolint.inductor.inductor import Inductor
from nanolint.tape import torch

if TYPE_CHECKING:
    from nanolint.gpus.gpu import Gpu
    from nanolint.run.run import Attention, Run


@dataclass(frozen=True, slots=True)
class Shapes:
    """The sizes of a run's batches, in nanoGPT's own words, and how its products are computed."""

    batch_size: int  # B
    block_size: int  # T
    vocab_size: int  # V
    dtype: str  # "float32" | "bfloat16" | "float16": autocast's dtype, off for float32
    attention: Attention
    workspace_bytes: int = 0  # cuBLAS's; 0 leaves it out
    keeps_workspace: bool = True  # each thread for good; else each product while it is launched
    inductor: Inductor = Inductor()

    @classmethod
    def of(cls, run: Run, gpu: Gpu | None = None) -> Shapes:
        """The shapes of ``run`` on ``gpu``."""
        return cls(
            batch_size=run.batch_size,
            block_size=run.block_size,
            vocab_size=run.vocab_size,
            dtype=run.dtype,
            attention=run.attention,
            workspace_bytes=torch.workspace_bytes(run.torch, gpu),
            keeps_workspace=torch.keeps_workspace(run.torch),
            inductor=Inductor.of(run.torch, gpu.compute_capability if gpu else None),
        )

    @property
    def half(self) -> bool:
        """Whether autocast computes in two bytes."""
        return self.dtype != "float32"

    @property
    def itemsize(self) -> int:
        """Bytes per element of a matrix product's result."""
        return 2 if self.half else 4

    @property
    def tokens(self) -> int:
        """B*T: rows of every activation matrix."""
        return self.batch_size * self.block_size

    @property
    def logits_bytes(self) -> int:
        """The (B*T, V) logits in the dtype of the products."""
        return self.itemsize * self.tokens * self.vocab_size

    @property
    def index_bytes(self) -> int:
        """One (B, T) int64 batch: X, or Y."""
        return 8 * self.tokens
