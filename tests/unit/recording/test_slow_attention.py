"""Attention multiplied out by hand, where its scores are what a run peaks at."""

from __future__ import annotations

import pytest

from nanolint.recording.recording import allocated_peak
from nanolint.tape.allocator.play import play
from nanolint.tape.tape import Phase, summits
from validation.accuracy import recorded, tape_of

NARROW = {"batch_size": 32, "block_size": 1024, "vocab_size": 2, "attention": "math"}


def narrow_row() -> dict[str, object]:
    (row,) = [row for row in recorded("eager") if NARROW.items() <= row.items()]
    return row


def test_the_softmax_backward_multiplies_gradient_and_weights_in_a_buffer_of_its_own() -> None:
    """The two figures are those of a CUDA build of torch 2.13, as its own allocator reported them
    without a card. Without the buffer of SoftMax.cu the run would be judged 22.7 % too small."""
    tape = tape_of(narrow_row(), "eager")
    assert allocated_peak(tape) == 1_114_412_032
    assert play(tape).peak_reserved_bytes == 1_610_612_736
    _, summit = summits(tape, len(tape.events))[Phase.BACKWARD]
    assert tape.names[tape.events[summit]].startswith("gradient times softmax")


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
def test_that_buffer_is_float32_and_dies_with_the_kernel(dtype: str) -> None:
    tape = tape_of({**narrow_row(), "dtype": dtype}, "eager")
    products = [n for n, name in enumerate(tape.names) if "gradient times softmax" in name]
    assert products
    for product in products:
        assert tape.sizes[product] == 4 * 32 * 2 * 1024 * 1024  # B, H, T, T
        assert tape.events[tape.events.index(product) + 1] == ~product
