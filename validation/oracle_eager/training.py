"""nanoGPT's train.py on the pretend card: an evaluation, then steps of its training loop.

The loop keeps train.py's order and the names that keep tensors alive (``logits`` of the last
forward pass, ``X`` and ``Y`` of the next), since the peak depends on both. Nothing is computed:
weights are not initialised and batches are whatever memory holds.
"""

from __future__ import annotations

import contextlib
import io
import sys
import unittest.mock
from typing import TYPE_CHECKING, Any, NamedTuple

import torch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

Batch = tuple[torch.Tensor, torch.Tensor]

STEPS = 2  # Adam's state appears after the first; from the second on, every step is the same
EVAL_ITERS = 2  # likewise: from its second batch on, every evaluation pass is the same
DEVICE = "cuda"


class Config(NamedTuple):
    """What train.py's settings say about memory."""

    batch_size: int
    block_size: int
    n_layer: int
    n_head: int
    n_embd: int
    vocab_size: int
    dropout: float
    bias: bool
    dtype: str
    grad_accum: int
    attention: str  # flash, efficient, or math: model.py's own, written out


def train(config: Config, nanogpt: Path, start_phase: Callable[[str], None]) -> None:
    """Run the loop and say when each phase starts."""
    _accept_the_card()
    model = _build(config, nanogpt)
    start_phase("init")
    model.to(DEVICE)
    scaler = torch.amp.GradScaler(DEVICE, enabled=config.dtype == "float16")
    with contextlib.redirect_stdout(io.StringIO()):
        optimizer = model.configure_optimizers(0.1, 6e-4, (0.9, 0.95), DEVICE)
    context = torch.amp.autocast(device_type=DEVICE, dtype=getattr(torch, config.dtype))

    start_phase("setup")
    X, Y = _batch(config)  # noqa: N806
    for step in range(STEPS):
        if step == 0:
            start_phase("eval")
            _estimate_loss(model, context, config)
        for _ in range(config.grad_accum):
            start_phase("train_forward")
            with context:
                logits, loss = model(X, Y)  # noqa: RUF059 - the name keeps the logits
                loss = loss / config.grad_accum
            X, Y = _batch(config)  # noqa: N806
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


@torch.no_grad()
def _estimate_loss(model: Any, context: Any, config: Config) -> None:
    model.eval()
    for _split in ("train", "val"):
        for _ in range(EVAL_ITERS):
            X, Y = _batch(config)  # noqa: N806
            with context:
                logits, loss = model(X, Y)  # noqa: RUF059 - the name keeps the logits
            loss.item()
    model.train()


def _batch(config: Config) -> Batch:
    x = torch.empty((config.batch_size, config.block_size), dtype=torch.int64)
    y = torch.empty((config.batch_size, config.block_size), dtype=torch.int64)
    x, y = x.to(DEVICE, non_blocking=True), y.to(DEVICE, non_blocking=True)
    return x, y


def _accept_the_card() -> None:
    """Answer for the card where torch's Python asks the CUDA that it was not built with."""
    torch.set_num_threads(1)
    torch.cuda._lazy_init = lambda: None
    torch.cuda.is_bf16_supported = lambda *_args, **_kwargs: True
    torch.cuda.amp.common.amp_definitely_not_available = lambda: False


def _build(config: Config, nanogpt: Path) -> Any:
    """The checkout's GPT, on the host and without the time it takes to draw its weights."""
    sys.path.insert(0, str(nanogpt))
    with contextlib.ExitStack() as stack:
        stack.enter_context(contextlib.redirect_stdout(io.StringIO()))
        for draw in ("normal_", "uniform_", "kaiming_uniform_", "zeros_"):
            keep = unittest.mock.patch.object(torch.nn.init, draw, _kept)
            stack.enter_context(keep)
        stack.enter_context(unittest.mock.patch.object(torch.Tensor, "normal_", _kept))
        if config.attention == "math":
            stack.enter_context(_no_fused_attention())
        from model import GPT, GPTConfig

        shape = ("block_size", "vocab_size", "n_layer", "n_head", "n_embd", "dropout", "bias")
        return GPT(GPTConfig(**{name: getattr(config, name) for name in shape}))


def _kept(tensor: torch.Tensor, *_args: Any, **_kwargs: Any) -> torch.Tensor:
    return tensor


@contextlib.contextmanager
def _no_fused_attention() -> Iterator[None]:
    """Hide the function whose absence makes model.py write attention out."""
    functional = torch.nn.functional
    fused = functional.scaled_dot_product_attention
    del functional.scaled_dot_product_attention
    try:
        yield
    finally:
        functional.scaled_dot_product_attention = fused
