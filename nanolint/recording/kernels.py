"""What the kernels of a run take on its card."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from nanolint.inductor.inductor import Inductor
from nanolint.tape import torch

if TYPE_CHECKING:
    from nanolint.gpus.gpu import Gpu
    from nanolint.run.run import Run


class Kernels(NamedTuple):
    """What the products of a run take on its card, and what torch.compile makes for it."""

    workspace_bytes: int  # cuBLAS's; 0 leaves it out
    keeps_workspace: bool  # each thread for good; else each product while it is launched
    inductor: Inductor

    @classmethod
    def of(cls, run: Run, gpu: Gpu | None = None) -> Kernels:
        """Those of ``run`` on ``gpu``."""
        return cls(
            workspace_bytes=torch.workspace_bytes(run.torch, gpu),
            keeps_workspace=torch.keeps_workspace(run.torch),
            inductor=Inductor.of(run.torch, gpu.compute_capability if gpu else None),
        )
