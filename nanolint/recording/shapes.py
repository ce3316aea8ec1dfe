"""The numbers that decide the size of every tensor of a nanoGPT run."""

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
    """The numbers that decide every tensor's size. B, T, L, H, C, V in nanoGPT's own words."""

    batch_size: int  # B
    block_size: int  # T
    n_layer: int  # L
    n_head: int  # H
    n_embd: int  # C
    vocab_size: int  # V
    dropout: bool
    bias: bool
    dtype: str  # "float32" | "bfloat16" | "float16": autocast's dtype, off for float32
    attention: Attention
    workspace_bytes: int = 0  # cuBLAS's; 0 leaves it out
    bias_workspace_bytes: int = 0  # cuBLASLt's own, 0 where it has none
    keeps_workspace: bool = True  # each thread for good; else each product while it is launched
    inductor: Inductor = Inductor()

    @classmethod
    def of(cls, run: Run, gpu: Gpu | None = None) -> Shapes:
        """The shapes of ``run`` on ``gpu``."""
        return cls(
            batch_size=run.batch_size,
            block_size=run.block_size,
            n_layer=run.n_layer,
            n_head=run.n_head,
            n_embd=run.n_embd,
            vocab_size=run.vocab_size,
            dropout=run.dropout > 0,
            bias=run.bias,
            dtype=run.dtype,
            attention=run.attention,
            workspace_bytes=torch.workspace_bytes(run.torch, gpu),
            bias_workspace_bytes=torch.bias_workspace_bytes(run.torch) if run.bias else 0,
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
