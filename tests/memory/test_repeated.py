"""A layer whose events are copied writes what it would write if it were interpreted itself."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import TYPE_CHECKING

import pytest

from nanolint.memory.model.module import LayerNorm, Module
from nanolint.memory.model.repeated import Plans, Repeated
from nanolint.memory.recording import write
from nanolint.memory.shapes import Shapes
from nanolint.memory.tape import Component, Tape
from nanolint.memory.tensors.device import Device
from nanolint.memory.tensors.dtypes import FLOAT32
from nanolint.memory.tensors.ops.activations import gelu
from nanolint.memory.tensors.role import role
from nanolint.memory.tensors.tensor import Tensor, empty
from nanolint.run.run import Attention, Dialect
from tests.support.runs import SMALL

if TYPE_CHECKING:
    from nanolint.run.run import Run


def random_run(seed: int) -> Run:
    choose = Random(seed).choice
    heads = choose((1, 2, 3))
    return replace(
        SMALL,
        compile=False,
        dialect=Dialect.PER_GPU,
        batch_size=choose((1, 2, 8, 80)),
        block_size=choose((1, 64, 200, 1024)),
        n_layer=choose((1, 2, 3, 5)),
        n_head=heads,
        n_embd=heads * choose((8, 33, 64, 136, 264)),
        vocab_size=choose((65, 1003, 50304)),
        dropout=choose((0.0, 0.1)),
        bias=choose((True, False)),
        dtype=choose(("float32", "bfloat16", "float16")),
        attention=choose(tuple(Attention)),
        gradient_accumulation_steps=choose((1, 2, 3, 5)),
        world_size=choose((1, 2)),
        init_from=choose(("scratch", "resume")),
        eval_only=choose((True, False, False, False)),
        max_iters=choose((0, 1, 100)),
        eval_interval=choose((0, 1)),
        eval_iters=choose((1, 2, 5)),
        training_deletes_logits=choose((True, False)),
    )


def tape_of(run: Run) -> Tape:
    tape = Tape()
    write(run, Shapes.of(run), tape, compiled=False)
    return tape


def entries(tape: Tape) -> list[object]:
    """Allocations, and between two the releases, whose order among themselves is left open."""
    found: list[object] = []
    released: list[int] = []
    for event in tape.events:
        if event < 0:
            released.append(~event)
            continue
        found.append(sorted(released))
        released = []
        found.append((event, tape.sizes[event], tape.names[event], tape.components[event]))
    return [*found, sorted(released)]


@pytest.mark.parametrize("seed", range(40))
def test_copied_layers_are_as_interpreted_ones(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    run = random_run(seed)
    copied = tape_of(run)
    monkeypatch.setattr(Repeated, "forward", lambda self, x: self.layer(x))
    interpreted = tape_of(run)
    assert entries(copied) == entries(interpreted)
    assert copied.phases == interpreted.phases


class Layer(Module):
    """Two operations that save their input."""

    def __init__(self, device: Device) -> None:
        self.norm = LayerNorm(device, "norm", 64, bias=True)

    def forward(self, x: Tensor) -> Tensor:
        return gelu(self.norm(x))


def test_a_pass_that_is_never_run_backward_keeps_nothing() -> None:
    device = Device(Tape())
    plans = Plans(Layer)
    layers = [Repeated(Layer(device), plans) for _ in range(3)]
    for layer in layers:
        for each in layer.state():
            each.move()
    x = empty(device, (512, 64), FLOAT32, role("x", Component.ACTIVATIONS))
    before = len(device.tape.sizes)
    y = x
    for layer in layers:
        y = layer(y)
    allocated = set(range(before, len(device.tape.sizes)))
    del y
    assert {~event for event in device.tape.events if event < 0} == allocated
