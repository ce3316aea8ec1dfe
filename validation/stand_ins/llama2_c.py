"""Run before llama2.c's train.py: batches instead of pretokenized stories."""

import sys
import types

import torch


def batches(batch_size, device, num_workers=0, max_seq_len=256, **_):
    """As ``Task.iter_batches``: pairs (batch_size, max_seq_len) on the device."""
    while True:
        x, y = (torch.zeros((batch_size, max_seq_len), dtype=torch.long) for _ in range(2))
        yield (
            x.pin_memory().to(device, non_blocking=True),
            y.pin_memory().to(device, non_blocking=True),
        )


task = types.SimpleNamespace(iter_batches=batches)
sys.modules["tinystories"] = types.SimpleNamespace(Task=task)
