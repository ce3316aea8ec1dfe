"""What a compiled model keeps for its backward pass, derived from its operations.

nanoGPT's is known by heart: it was read from Inductor's own code, and every recorded row holds it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from nanolint.memory.compiled.derive.formulas import FORMULAS
from nanolint.memory.compiled.derive.joint import simplify
from nanolint.memory.compiled.derive.operations import INPUT, VIEW
from nanolint.memory.compiled.derive.partition import Parts, partition
from nanolint.memory.compiled.derive.passes import capture
from nanolint.memory.compiled.forward import Forward
from nanolint.memory.model.gpt import GPT
from nanolint.memory.shapes import Shapes
from nanolint.memory.tape import Component, Tape
from nanolint.memory.tensors.autograd import Leaf
from nanolint.memory.tensors.device import Device, NotTraced
from nanolint.memory.tensors.dtypes import DTYPES, INT64
from nanolint.memory.tensors.role import role
from nanolint.memory.tensors.tensor import empty
from nanolint.run.run import Attention
from validation import accuracy

if TYPE_CHECKING:
    from nanolint.memory.compiled.derive.capture import Capture
    from nanolint.memory.tensors.tensor import Tensor

ROWS = accuracy.recorded("compiled")
DEEPEST = 4  # layers are alike
PADDED = {"odd-everything"}  # Inductor lays its masks out with gaps


def shapes_of(row: dict[str, Any]) -> Shapes:
    """The shapes of a recorded row."""
    return Shapes(
        batch_size=row["batch_size"],
        block_size=row["block_size"],
        n_layer=row["n_layer"],
        n_head=row["n_head"],
        n_embd=row["n_embd"],
        vocab_size=row["vocab_size"],
        dropout=row["dropout"] > 0,
        bias=row["bias"],
        dtype=row["dtype"],
        attention=Attention(row["attention"]),
        attention_state=row["attention"] == "flash",  # on the card in torch 2.13
    )


def with_logits(found: tuple[Tensor | None, Tensor]) -> tuple[Tensor, Tensor]:
    logits, loss = found
    assert logits is not None
    return logits, loss


def cut(shapes: Shapes, model: type[GPT] = GPT) -> tuple[Capture, Parts]:
    """nanoGPT's joint graph, cut in two."""
    device = Device(Tape(), attention_state=shapes.attention_state)
    gpt = model(device, shapes)
    x, y = (
        empty(device, (shapes.batch_size, shapes.block_size), INT64, role(name, Component.INPUTS))
        for name in "XY"
    )
    with device.autocast(DTYPES[shapes.dtype] if shapes.half else None):
        found = capture(device, lambda: with_logits(gpt.forward(x, y)), (x, y), FORMULAS)
    assert len(device.tape.events) == 2  # nothing but the batch was allocated
    simplify(found.graph, shapes.inductor)
    parameters = {made for each, made in found.inputs if isinstance(each.node, Leaf)}
    return found, partition(found.graph, parameters)


def kept_bytes(found: Capture, parts: Parts) -> int:
    """What the forward pass makes and hands over, views by what they look at."""
    memory = {}
    for each in (*parts.saved, *found.graph.outputs):
        base = each
        while base.kind == VIEW:
            (base,) = base.of
        if base.kind != INPUT:
            memory[base] = base.nbytes
    return sum(memory.values())


@pytest.mark.parametrize("row", ROWS, ids=lambda row: str(row["name"]))
def test_the_cut_keeps_what_pytorch_keeps(row: dict[str, Any]) -> None:
    if row["name"] in PADDED:
        pytest.skip("its masks lie with gaps, which the cut does not know")
    shapes = shapes_of(row)
    shapes = replace(shapes, n_layer=min(shapes.n_layer, DEEPEST))
    by_heart = Forward(shapes, training=True)
    kept = {each for node in by_heart.graph.nodes for each in node.writes if each.kept}
    assert kept_bytes(*cut(shapes)) == sum(each.nbytes for each in kept)


def test_every_parameter_gets_a_gradient_of_its_own_shape() -> None:
    found, _ = cut(shapes_of(ROWS[0]))
    gradients = [each for each in found.graph.gradients if each is not None]
    assert len(gradients) == len(found.graph.gradients) == 2 + 3 * 6 + 1
    assert gradients[0].shape == (512, 128) and gradients[0].dtype.name == "float32"


def test_a_narrow_model_keeps_the_embeddings_only_where_that_is_less() -> None:
    """The distance from the backward pass weighs: two sequences tip between 672 and 704."""
    shapes = replace(shapes_of(ROWS[0]), batch_size=2, n_head=1, n_layer=1, n_embd=672)
    narrow = {each.name for each in cut(shapes)[1].saved}
    wide = {each.name for each in cut(replace(shapes, n_embd=704))[1].saved}
    assert "embedding" not in narrow and "embedding" in wide


class Unformulated(GPT):
    """A model with an operation that no formula is written for."""

    def forward(self, idx: Tensor, targets: Tensor) -> tuple[Tensor | None, Tensor]:
        from nanolint.memory.tensors.ops.sorting import Chosen, cummax

        found = cummax(idx, -1)
        assert isinstance(found, Chosen)
        return super().forward(found.values, targets)


def test_an_operation_that_is_not_known_is_named_and_leaves_the_device_as_it_was() -> None:
    shapes = shapes_of(ROWS[0])
    device = Device(Tape())
    gpt = Unformulated(device, shapes)
    x = empty(device, (4, 128), INT64, role("X", Component.INPUTS))
    with pytest.raises(NotTraced, match="cummax"):
        capture(device, lambda: with_logits(gpt.forward(x, x)), gpt.parameters(), FORMULAS)
    assert device.tracer is None
