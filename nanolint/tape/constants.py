"""Every measured or copied constant of the memory model, with where it comes from. Bytes."""

from __future__ import annotations

MIB = 1 << 20

# An A100's streaming multiprocessors and their threads, for a card that is only a size. They
# decide nothing but LayerNorm's partial sums beyond 65,536 tokens and those of biases' gradients.
DEFAULT_SM_COUNT = 108
DEFAULT_SM_THREADS = 2048

# aten/src/ATen/native/cuda/layer_norm_kernel.cu: beyond so many rows, narrow layers sum the
# gradients of weight and bias in partial blocks of 32 rows.
LAYER_NORM_PARTIAL_TOKENS = 64 * 1024

# aten/src/ATen/native/cuda/Embedding.cu: up to so many indices no sorting is needed.
EMBEDDING_SORT_TOKENS = 3072

# aten/src/ATen/native/cuda/ForeachReduceOp.cu: clip_grad_norm_ reduces chunks of so many elements.
GRAD_NORM_CHUNK = 65_536

# torch/nn/parallel/distributed.py: bucket_cap_mb, and a first bucket of 1 MiB so that the
# reduction starts early.
DDP_FIRST_BUCKET_BYTES = 1 * MIB
DDP_BUCKET_BYTES = 25 * MIB

# The context in MiB, measured with kernels loaded (out-of-memory messages: in use - reserved) or
# right after initialisation, and each card's SMs: T4 135 (40), RTX 3060 115-245 (28), RTX 4060
# Laptop 160 (24), RTX 4060 Ti 245 (34), RTX 4070 250 compiled, 197 forward only (46), L4 255 (58),
# RTX 3090 255-315 (82), V100 319 (80), RTX 4090 384 bare, 460-500 training (128), RTX 6000 Ada 426
# bare (142), RTX 5090 506 bare, 595-670 training (170), H100 614 (132), H200 665, and 742-767 with
# PyTorch 2.11 (132; validation/recorded/gpu/h200.json), B200 710 (148). Each lies within 3 MiB
# (large dies 4.5) per SM plus the interval for kernels.
CONTEXT_PER_SM_BYTES = 3 * MIB
CONTEXT_PER_SM_BYTES_LARGE = 9 * MIB // 2
CONTEXT_KERNELS_BYTES = (0, 112 * MIB, 165 * MIB)  # least, expected, most
CONTEXT_KERNELS_BYTES_LARGE = (0, 112 * MIB, 175 * MIB)
SM_PER_GIB = 4  # of consumer cards, for a card that is only a size; an estimate

# NCCL's buffers per process: 8 ranks on A100 hold 860 MiB in all, on H100 1504-1519 MiB. An
# estimate: no oracle covers NCCL. Least, expected, most.
NCCL_CONTEXT_BYTES = (300 * MIB, 460 * MIB, 900 * MIB)

# Windows and WSL report the whole card, but WDDM keeps part of it. An estimate.
WDDM_KEPT_PERCENT = 5

# What the replay may be off on reserved bytes: eager differs from a GPU by kernel scratch only,
# compiled by Inductor's choices.
MODEL_ERROR_EAGER_PERCENT = 2
MODEL_ERROR_COMPILED_PERCENT = 5
# Of published peaks of real cards: see the table in docs/trace.md.
TRACE_ERROR_PER_MILLE = 2
