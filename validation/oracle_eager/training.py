"""nanoGPT's train.py on the pretend card: an evaluation, then steps of its training loop.

The loop keeps train.py's order and the names that keep tensors alive (``logits`` of the last
forward pass, ``X`` and ``Y`` of the next), since the peak depends on both.
"""

from __future__ import annotations

import contextlib
import io
from typing import TYPE_CHECKING

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

STEPS = 2  # Adam's state appears after the first; from the second on, every step is the same


def train(config: Config, nanogpt: Path, start_phase: Callable[[str], None]) -> None:
    """Run the loop and say when each phase starts."""
    accept_the_card()
    model = build(config, nanogpt)
    start_phase("init")
    model.to(DEVICE)
    scaler = torch.amp.GradScaler(DEVICE, enabled=config.dtype == "float16")
    with contextlib.redirect_stdout(io.StringIO()):
        optimizer = model.configure_optimizers(0.1, 6e-4, (0.9, 0.95), DEVICE)
    context = autocast(config)

    start_phase("setup")
    X, Y = batch(config)  # noqa: N806
    for step in range(STEPS):
        if step == 0:
            start_phase("eval")
            estimate_loss(model, config)
        for _ in range(config.grad_accum):
            start_phase("train_forward")
            with context:
                logits, loss = model(X, Y)  # noqa: RUF059 - the name keeps the logits
                loss = loss / config.grad_accum
            X, Y = batch(config)  # noqa: N806
            start_phase("train_backward")
            scaler.scale(loss).backward()
        start_phase("optimizer")
        scaler.unscale_(optimizer)
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad(set_to_none=True)
        loss.item()
    start_phase("end")
