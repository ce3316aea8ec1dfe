"""Tensors live as long as somebody holds them, and nobody holds more than PyTorch does.

These take seconds each.
"""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING

import pytest

from nanolint.recording.events import write_own
from nanolint.recording.kernels import Kernels
from nanolint.recording.recording import card_of
from nanolint.script.played import representative
from nanolint.tape.tape import Tape
from nanolint.tensors.device import Asked

if TYPE_CHECKING:
    from nanolint.run.run import Run
from tests.unit.tensors.test_lifetimes import HELD, runs


@pytest.mark.parametrize(
    "run", list(runs(40)), ids=lambda run: f"{run.dtype}-{run.attention.value}"
)
def test_memory_comes_back_without_the_garbage_collector(run: Run) -> None:
    """A circle of references would keep memory until a collection that CUDA does not wait for.

    At a script's end only what its globals hold is there: the model, the optimizer, a batch.
    """
    gc.disable()
    try:
        tape = Tape()
        write_own(representative(run), Kernels.of(run), Asked(card_of()), tape, compiled=False)
    finally:
        gc.enable()
    released = {~event for event in tape.events if event < 0}
    held = {tape.components[event] for event in tape.events if event >= 0 and event not in released}
    assert held <= HELD
