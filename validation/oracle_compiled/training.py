"""nanoGPT's train.py with compile=True on the pretend card, from evaluation to evaluation.

The loop keeps train.py's order and the names that keep tensors alive. Of the optimizer it keeps
Adam's two moments, which stay; what its step allocates for itself is the eager oracle's matter.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import attention
import compiler
import torch

from validation.counting.nanogpt import (
    DEVICE,
    accept_the_card,
    autocast,
    batch,
    build,
    estimate_loss,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from validation.counting.config import Config

STEPS = 3  # Adam's state appears after the first; what is reserved settles after the second
MICRO_STEPS = 4  # of a step, at most: the rest are like the ones before


def train(config: Config, nanogpt: Path, start_phase: Callable[[str], None]) -> None:
    """Run the loop and say when each phase starts."""
    accept_the_card()
    compiler.accept_the_card()
    kernels = attention.install()  # noqa: F841 - they last as long as the name
    model = build(config, nanogpt)
    start_phase("init")
    model.to(DEVICE)
    compiled = torch.compile(model)

    start_phase("eval")
    X, Y = batch(config)  # noqa: N806
    estimate_loss(compiled, config)
    moments: list[torch.Tensor] = []
    for _ in range(STEPS):
        for _ in range(min(config.grad_accum, MICRO_STEPS)):
            start_phase("forward")
            with autocast(config):
                logits, loss = compiled(X, Y)  # noqa: RUF059 - the name keeps the logits
            scaled = loss / config.grad_accum
            start_phase("backward")
            X, Y = batch(config)  # noqa: N806
            scaled.cpu().backward()
        start_phase("optimizer")
        if not moments:
            moments = [torch.empty_like(p) for p in model.parameters() for _ in range(2)]
        model.zero_grad(set_to_none=True)
    start_phase("eval_late")
    estimate_loss(compiled, config)
    start_phase("end")
