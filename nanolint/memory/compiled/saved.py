"""What a training forward of the compiled GPT keeps for its backward."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from nanolint.memory.compiled.graph import Buffer


class Norm(NamedTuple):
    """What one LayerNorm saves: x_hat (B, T, C) float32, 1/std (B, T) and its dropout's mask."""

    hat: Buffer
    deviation: Buffer
    mask: Buffer | None


class Embedding(NamedTuple):
    """What the embeddings and the first LayerNorm save in place of a Norm."""

    token: Buffer  # (B, T, C) float32, gathered
    position: Buffer  # (T, C) float32
    mean: Buffer  # (B, T)
    deviation: Buffer  # (B, T)
    mask: Buffer | None


class Layer(NamedTuple):
    """What one block saves; the copies of its weights are there in half precision only."""

    ln_1: Norm | Embedding  # Embedding: at the first layer, where it is saved instead
    ln_1_out: Buffer  # (B, T, C)
    qkv: Buffer  # (B, T, 3C): q, k and v are views of it
    attention: tuple[Buffer, ...]  # output (B, H, T, D), log-sum-exp (B, H, T), flash's seeds
    ln_2: Norm
    ln_2_out: Buffer
    fc: Buffer  # (B, T, 4C), before GELU
    gelu: Buffer  # (B, T, 4C)
    c_attn: Buffer | None
    attn_proj: Buffer | None
    c_fc: Buffer | None
    mlp_proj: Buffer | None


class Saved(NamedTuple):
    """All that a training forward keeps for its backward."""

    x: Buffer
    y: Buffer
    positions: Buffer  # (T,) int64
    layers: tuple[Layer, ...]
    ln_f: Norm
    ln_f_out: Buffer
    head: Buffer | None  # half copy of wte, (V, C)
    logits: Buffer
    statistics: tuple[Buffer, ...]  # of the loss: amax (B*T), log-sum-exp (B*T), token count
