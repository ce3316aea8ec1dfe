"""GPT-2 on a node of A100 40GB, as the video's script trains it: 16 sequences fit, 32 in eight
processes do not.

The script is of build-nanogpt's kind, with biases, logits that are kept, and DDP; what people say
of that one is the same (its pull request 30). `nanolint trace --gpu a100-40gb -- python
train_gpt2.py`, and `--gpu 8xa100-40gb -- torchrun --nproc_per_node=8 train_gpt2.py`, with PyTorch
2.13.0, give what is expected here of 32 sequences.

These take seconds each.
"""

from __future__ import annotations

import pytest

from tests.unit.trainers.test_on_a_node import folder, in_gib, judged


@pytest.mark.parametrize("processes", [1, 8])
def test_sixteen_sequences_fit(processes: int) -> None:
    run = judged(16, processes)
    assert run["fits"] is True
    assert run["peak"]["reserved_bytes"] < run["gpu"]["usable_bytes"] * 6 // 10


def test_thirty_two_fit_alone_by_half_a_gibibyte_and_not_in_eight_processes() -> None:
    """By DDP's buckets, and what they break into pieces."""
    alone, of_eight = judged(32, 1), judged(32, 8)
    assert (alone["fits"], of_eight["fits"]) == (True, False)
    assert in_gib(alone["peak"]["reserved_bytes"]) == 38.45
    assert in_gib(alone["gpu"]["usable_bytes"]) == 38.96
    assert in_gib(of_eight["peak"]["reserved_bytes"]) == 41.89
    assert in_gib(of_eight["gpu"]["usable_bytes"]) == 38.51


__all__ = ["folder"]  # fixtures
