"""About what nanoGPT's own run takes with other sizes: where a search for one that fits begins."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.tape.tape import Component
from nanolint.verdict.replay import replay

if TYPE_CHECKING:
    from nanolint.gpus.gpu import Gpu
    from nanolint.run.run import Run

STATE = (Component.PARAMETERS, Component.GRADIENTS, Component.OPTIMIZER)
OF_LAYERS = (Component.ACTIVATIONS, Component.WEIGHT_COPIES)


def about(run: Run, other: Run, gpu: Gpu) -> int:
    """What ``other`` reserves, by what ``run`` does: as much more or less of each part as there are
    parameters, numbers in the layers, or tokens."""
    peak = replay(run, gpu).peak
    parts = dict(replay(run, gpu).components)
    state = sum(parts[each] for each in STATE)
    layers = sum(parts[each] for each in OF_LAYERS)
    rest = peak.allocated_bytes - state - layers
    tokens = other.batch_size * other.block_size / (run.batch_size * run.block_size)
    numbers = tokens * (other.n_layer * other.n_embd) / (run.n_layer * run.n_embd)
    allocated = state * other.parameters / run.parameters + layers * numbers + rest * tokens
    return int(allocated * peak.reserved_bytes / peak.allocated_bytes)
