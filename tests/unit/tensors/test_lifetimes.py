"""Tensors live as long as somebody holds them, and nobody holds more than PyTorch does."""

from __future__ import annotations

import ast
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from nanolint.interpreter.alike import Layers
from nanolint.recording.events import write_own
from nanolint.recording.kernels import Kernels
from nanolint.recording.recording import card_of
from nanolint.run.run import Attention
from nanolint.script.played import representative
from nanolint.tape.tape import Component, Tape
from nanolint.tensors.autograd import Operation, run_backward
from nanolint.tensors.device import Asked, Device, Storage
from nanolint.tensors.dtypes import FLOAT32, INT64
from nanolint.tensors.ops.linear import linear
from nanolint.tensors.ops.loss import nll_loss
from nanolint.tensors.ops.pointwise import add, mul
from nanolint.tensors.parameter import Parameter
from nanolint.tensors.role import role
from nanolint.tensors.tensor import Node, Tensor, empty
from nanolint.tensors.unknown import Refused
from tests.support.repository import ROOT
from tests.support.runs import SMALL

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from nanolint.run.run import Run

OPS = ROOT / "nanolint" / "tensors" / "ops"
HELD = {
    Component.PARAMETERS, Component.OPTIMIZER, Component.INPUTS, Component.LOGITS_AND_LOSS,
    Component.WORKSPACE,
}  # fmt: skip
WHATEVER = role("whatever", Component.ACTIVATIONS)


def runs(count: int) -> Iterator[Run]:
    choose = Random(3).choice
    for _ in range(count):
        heads = choose((1, 2, 3))
        yield SMALL.having(
            compile=False,
            batch_size=choose((1, 2, 8)),
            block_size=choose((1, 64, 200)),
            n_head=heads,
            n_embd=heads * choose((8, 33, 64, 136)),
            dropout=choose((0.0, 0.1)),
            bias=choose((True, False)),
            dtype=choose(("float32", "bfloat16", "float16")),
            attention=choose(tuple(Attention)),
            gradient_accumulation_steps=choose((1, 3)),
            init_from=choose(("scratch", "resume")),
        )


def tensors_in(value: Any, depth: int = 0) -> Iterator[Any]:
    """The tensors and storages that a function's closure holds."""
    if isinstance(value, (Tensor, Storage)):
        yield value
    elif callable(value) and getattr(value, "__closure__", None):
        for cell in value.__closure__:
            yield from tensors_in(cell.cell_contents, depth + 1)
    elif isinstance(value, (list, tuple)) and depth < 4:
        for each in value:
            yield from tensors_in(each, depth + 1)


def nodes(root: Node) -> Iterator[Node]:
    seen, unseen = {root}, [root]
    while unseen:
        node = unseen.pop()
        yield node
        for edge in node.edges:
            if edge is not None and edge[0] not in seen:
                seen.add(edge[0])
                unseen.append(edge[0])


@pytest.mark.parametrize("attention", Attention)
def test_an_operation_keeps_what_it_says_that_it_saves_and_nothing_else(
    attention: Attention, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Layers, "look_at", lambda *_: None)
    found: list[Operation] = []

    def looked_at(loss: Tensor, *arguments: Any, **named: Any) -> None:
        assert loss.node is not None
        for node in nodes(loss.node):
            if isinstance(node, Operation):
                assert not list(tensors_in(node.backward)), node.backward
                found.append(node)
        run_backward(loss, *arguments, **named)

    monkeypatch.setattr("nanolint.interpreter.torch.methods.run_backward", looked_at)
    run = SMALL.having(compile=False, dropout=0.1, bias=True, attention=attention)
    write_own(representative(run), Kernels.of(run), Asked(card_of()), Tape(), compiled=False)
    assert len(found) > 50


@pytest.mark.parametrize("path", sorted(OPS.glob("*.py")), ids=lambda path: path.stem)
def test_no_operation_lets_go_of_an_argument_before_its_end(path: Path) -> None:
    """As in C++, where the caller holds it: a parameter never gets another value."""
    for function in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if not isinstance(function, ast.FunctionDef):
            continue
        arguments = (*function.args.args, *function.args.kwonlyargs)
        tensors = {
            each.arg
            for each in arguments
            if each.annotation and ast.unparse(each.annotation) in ("Tensor", "Tensor | None")
        }
        inner = {
            node
            for nested in ast.walk(function)
            if isinstance(nested, ast.FunctionDef) and nested is not function
            for node in ast.walk(nested)
        }
        for node in set(ast.walk(function)) - inner:
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                assert node.id not in tensors, f"{function.name} gives {node.id} another value"


def parameter(device: Device, *shape: int) -> Parameter:
    made = Parameter(device, "weight", shape)
    made.move()
    return made


def live(device: Device) -> int:
    """Bytes, rounded up."""
    tape = device.tape
    return sum(tape.sizes[event] if event >= 0 else -tape.sizes[~event] for event in tape.events)


def test_a_gradient_is_kept_by_its_parameter_and_later_ones_are_added_to_it() -> None:
    device = Device(Tape())
    weight = parameter(device, 256, 256)
    x = empty(device, (512, 256), FLOAT32, WHATEVER)
    before = live(device)
    for _ in range(3):
        y = linear(x, weight)
        run_backward(y, empty(device, y.shape, FLOAT32, WHATEVER))
        del y
        assert live(device) - before == weight.nbytes
    weight.leaf.gradient = None
    assert live(device) == before


def test_without_gradients_nothing_is_saved() -> None:
    device = Device(Tape())
    weight = parameter(device, 256, 256)
    x = empty(device, (512, 256), FLOAT32, WHATEVER)
    before = live(device)
    with device.no_grad():
        y = mul(linear(mul(x, 2.0), weight), 0.5)
    assert live(device) - before == y.nbytes
    y = mul(linear(mul(x, 2.0), weight), linear(x, weight))
    # Both factors, and the input of the first, wait for the backward pass.
    assert live(device) - before == 4 * y.nbytes


def test_a_tensor_that_two_inputs_share_gets_one_sum() -> None:
    device = Device(Tape())
    x = parameter(device, 1024, 1024)
    y = add(x, x)
    run_backward(y, empty(device, y.shape, FLOAT32, WHATEVER))
    assert x.leaf.gradient is not None
    assert len(device.tape.sizes) == 4  # x, y, the gradient of y, and the sum


def test_a_second_backward_pass_through_one_graph_is_refused() -> None:
    device = Device(Tape())
    log = mul(parameter(device, 8, 8), 2.0)
    loss = nll_loss(log, empty(device, (8,), INT64, WHATEVER))
    run_backward(loss, empty(device, (), FLOAT32, WHATEVER))
    with pytest.raises(Refused, match="backward through the graph a second time"):
        run_backward(loss, empty(device, (), FLOAT32, WHATEVER))
