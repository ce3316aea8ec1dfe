"""nanoGPT on the pretend card: the checkout's own model, and batches. Nothing is computed."""

from __future__ import annotations

import contextlib
import io
import sys
import unittest.mock
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from validation.counting.config import Config

Batch = tuple[torch.Tensor, torch.Tensor]

DEVICE = "cuda"
EVAL_ITERS = 2  # from its second batch on, every evaluation pass is the same


def accept_the_card() -> None:
    """Answer for the card where torch's Python asks the CUDA that it was not built with."""
    torch.set_num_threads(1)
    torch.cuda._lazy_init = lambda: None
    torch.cuda.is_bf16_supported = lambda *_args, **_kwargs: True
    torch.cuda.amp.common.amp_definitely_not_available = lambda: False


def build(config: Config, nanogpt: Path) -> Any:
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


def batch(config: Config) -> Batch:
    """X and Y, with whatever memory holds."""
    x = torch.empty((config.batch_size, config.block_size), dtype=torch.int64)
    y = torch.empty((config.batch_size, config.block_size), dtype=torch.int64)
    x, y = x.to(DEVICE, non_blocking=True), y.to(DEVICE, non_blocking=True)
    return x, y


def autocast(config: Config) -> Any:
    """train.py's context of the forward pass."""
    return torch.amp.autocast(device_type=DEVICE, dtype=getattr(torch, config.dtype))


@torch.no_grad()
def estimate_loss(model: Any, config: Config) -> None:
    """train.py's function of the same name, whose locals keep a batch and its logits."""
    model.eval()
    for _split in ("train", "val"):
        for _ in range(EVAL_ITERS):
            X, Y = batch(config)  # noqa: N806
            with autocast(config):
                logits, loss = model(X, Y)  # noqa: RUF059 - the name keeps the logits
            loss.item()
    model.train()


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
