"""``torch.compile`` of functions that are no model: steps of an optimizer, blocks of a model."""

from __future__ import annotations

from typing import Any

import pytest

from nanolint.inductor.derive.formulas import FORMULAS
from nanolint.inductor.derive.joint import simplify
from nanolint.inductor.derive.passes import capture
from nanolint.inductor.derive.program import CompiledFunction
from nanolint.inductor.inductor import Inductor
from nanolint.tape.tape import Component, Tape
from nanolint.tensors.autograd import run_backward
from nanolint.tensors.device import Device
from nanolint.tensors.dtypes import FLOAT32
from nanolint.tensors.names import FUNCTIONAL, FUNCTIONS, METHODS
from nanolint.tensors.ops import registry as ops
from nanolint.tensors.ops.activations import tanh
from nanolint.tensors.ops.creation import tensor as made
from nanolint.tensors.ops.inplace import add_, mul_
from nanolint.tensors.ops.linear import linear
from nanolint.tensors.ops.pointwise import add, div, lerp, mul
from nanolint.tensors.ops.reductions import sum as total
from nanolint.tensors.ops.unary import pow as power
from nanolint.tensors.ops.unary import sqrt, square
from nanolint.tensors.parameter import Parameter
from nanolint.tensors.role import role
from nanolint.tensors.tensor import Tensor, empty

SHAPE = (1024, 1024)


def tensor(device: Device, shape: tuple[int, ...] = SHAPE) -> Tensor:
    return empty(device, shape, FLOAT32, role("tensor", Component.PARAMETERS))


def adam(p: Tensor, *rest: Tensor) -> None:
    grad, mean, squares, rate = rest
    mul_(p, mul(rate, rate))
    add_(mean, lerp(mean, grad, rate))
    add_(squares, square(grad))
    add_(p, div(mean, add(sqrt(squares), 1e-8)), alpha=-1)


def test_a_compiled_step_writes_into_its_arguments_and_allocates_nothing() -> None:
    device, host = Device(Tape()), Device(Tape())
    given = [tensor(device) for _ in range(4)]
    rate = tensor(host, ())
    before = len(device.tape.events)
    with device.no_grad(), host.no_grad():
        adam(*given, rate)
        assert len(device.tape.events) > before
        before = len(device.tape.events)
        compiled = CompiledFunction(adam, device, host=host)
        for _ in range(2):
            assert compiled(*given, rate) is None
    assert device.tape.doubts == []
    assert len(device.tape.events) == before


class Blocks:
    """Blocks of a residual network, each compiled for itself or not."""

    def __init__(self, device: Device, count: int, *, compiles: bool) -> None:
        self.weights = [Parameter(device, "weight", (1024, 1024)) for _ in range(count)]
        for each in self.weights:
            each.move()
        self.blocks: list[Any] = []
        for weight in self.weights:

            def block(x: Tensor, weight: Tensor = weight) -> Tensor:
                return add(x, square(linear(x, weight)))

            self.blocks.append(CompiledFunction(block, device) if compiles else block)

    def __call__(self, x: Tensor) -> Tensor:
        for each in self.blocks:
            x = each(x)
        loss: Tensor = total(x)
        return loss


def peak_of(*, compiles: bool) -> int:
    """The most bytes of a forward and a backward pass; all of them are given back in the end."""
    device = Device(Tape())
    model = Blocks(device, 3, compiles=compiles)
    x = tensor(device)
    for _ in range(2):
        loss = model(x)
        run_backward(loss, tensor(device, ()))
        del loss
        assert all(each.leaf.gradient is not None for each in model.weights)
        for each in model.weights:
            each.leaf.gradient = None
    assert device.tape.doubts == []
    sizes, events = device.tape.sizes, device.tape.events
    freed = [~event for event in events if event < 0]
    assert len(freed) == len(set(freed))
    live = peak = 0
    for event in events:
        live += sizes[event] if event >= 0 else -sizes[~event]
        peak = max(peak, live)
    assert live == 4 * x.nbytes  # three weights and the input
    return peak


def test_blocks_that_are_compiled_one_by_one_hand_each_other_gradients() -> None:
    assert peak_of(compiles=True) <= peak_of(compiles=False)


def test_sizes_that_change_are_doubted_unless_each_has_a_graph_of_its_own() -> None:
    for dynamic, doubts in ((False, 0), (None, 1), (True, 1)):
        device = Device(Tape())
        compiled = CompiledFunction(square, device, name="step", dynamic=dynamic)
        for rows in (4, 8, 16):
            compiled(tensor(device, (rows, 4)))
        assert len(device.tape.assumed) == doubts, dynamic


def test_more_graphs_than_pytorch_makes_are_doubted() -> None:
    for ways, most, doubts in ((8, 8, 0), (9, 8, 1), (9, 64, 0)):
        device = Device(Tape())
        compiled = CompiledFunction(square, device, most=lambda most=most: most)  # type: ignore[misc]
        for rows in range(1, ways + 1):
            compiled(tensor(device, (rows, 4)))
        assert len(device.tape.doubts) == doubts, (ways, most)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (lambda x: METHODS["__lt__"](x, 0.5), lambda x: METHODS["__gt__"](x, 0.5)),
        (lambda x: power(x, 2), lambda x: power(x, 3)),
        (FUNCTIONS["isnan"], FUNCTIONS["logical_not"]),
        (FUNCTIONS["log2"], FUNCTIONS["log1p"]),
        (FUNCTIONS["log2"], FUNCTIONS["log10"]),
        (FUNCTIONS["erf"], FUNCTIONS["erfc"]),
        (FUNCTIONS["sinh"], FUNCTIONS["cosh"]),
        (FUNCTIONS["floor"], FUNCTIONS["ceil"]),
        (FUNCTIONS["round"], FUNCTIONS["trunc"]),
        (FUNCTIONS["round"], lambda x: METHODS["round"](x, decimals=2)),
        (FUNCTIONS["amin"], FUNCTIONS["amax"]),
        (FUNCTIONS["argmin"], FUNCTIONS["argmax"]),
        (FUNCTIONS["any"], FUNCTIONS["all"]),
        (
            lambda x: FUNCTIONS["tril"](METHODS["narrow"](x, 0, 0, 512)),
            lambda x: FUNCTIONS["triu"](METHODS["narrow"](x, 0, 0, 512)),
        ),
        (lambda x: METHODS["min"](x, 1)[0], lambda x: METHODS["max"](x, 1)[0]),
        (lambda x: METHODS["var"](x, 1), lambda x: METHODS["var"](x, 1, unbiased=False)),
        (
            lambda x: METHODS["std"](x, 1, correction=0),
            lambda x: METHODS["std"](x, 1, correction=2),
        ),
        (lambda x: METHODS["sort"](x)[0], lambda x: METHODS["sort"](x, descending=True)[0]),
        (
            lambda x: METHODS["topk"](x, 2)[0],
            lambda x: METHODS["topk"](x, 2, largest=False)[0],
        ),
        (
            lambda x: FUNCTIONAL["pad"](x, (1, 0)),
            lambda x: FUNCTIONAL["pad"](x, (1, 0), value=1.0),
        ),
        (lambda x: METHODS["clamp"](x, min=0.5), lambda x: METHODS["clamp"](x, max=0.5)),
        (lambda x: FUNCTIONS["minimum"](x, x), lambda x: FUNCTIONS["maximum"](x, x)),
        (lambda x: FUNCTIONS["remainder"](x, 2), lambda x: FUNCTIONS["fmod"](x, 2)),
        (lambda x: power(2, x), lambda x: power(3, x)),
        *(
            (FUNCTIONAL[name], lambda x, name=name, given=given: FUNCTIONAL[name](x, *given))
            for name, given in (
                ("leaky_relu", [0.2]),
                ("softplus", [2]),
                ("elu", [0.5]),
                ("celu", [0.5]),
                ("hardtanh", [0.0, 6.0]),
            )
        ),
        (FUNCTIONAL["selu"], FUNCTIONAL["celu"]),
        (
            lambda x: FUNCTIONAL["threshold"](x, 0.5, 0.0),
            lambda x: FUNCTIONAL["threshold"](x, 0.5, 1.0),
        ),
    ],
)
def test_operations_of_one_kind_are_one_only_where_they_are_the_same(
    first: Any, second: Any
) -> None:
    device = Device(Tape())
    x = tensor(device)

    def distinct(*functions: Any) -> int:
        def forward() -> list[Tensor]:
            return [mul(each(x), 3) for each in functions]

        found = capture(device, forward, (x,), FORMULAS)
        simplify(found.graph, Inductor())
        return len({each.of for each in found.graph.outputs})

    assert (distinct(first, first), distinct(first, second)) == (1, 2)


def test_two_operations_that_share_a_label_are_two_nodes() -> None:
    """``isinf`` and ``isfinite`` both compare the absolute value."""
    device = Device(Tape())
    x = tensor(device)

    def forward() -> list[Tensor]:
        return [add(METHODS["float"](FUNCTIONS["isinf"](x)), FUNCTIONS["isfinite"](x))]

    graph = capture(device, forward, (x,), FORMULAS).graph
    simplify(graph, Inductor())
    read = {each.op for each in graph.all for of in each.of if of.op is ops.ABS}
    assert read == {ops.EQ, ops.NE} and ops.EQ.label == ops.NE.label


@pytest.mark.parametrize(
    ("first", "second", "op"),
    [
        (
            lambda x: METHODS["__getitem__"](x, [0, 1]),
            lambda x: METHODS["__getitem__"](x, [2, 3]),
            ops.INDEX,
        ),
        (
            lambda x: METHODS["addcmul_"](FUNCTIONS["zeros_like"](x), x, x),
            lambda x: METHODS["addcdiv_"](FUNCTIONS["zeros_like"](x), x, x),
            ops.WRITTEN,
        ),
    ],
)
def test_lists_of_indices_and_writes_of_other_values_are_two_nodes(
    first: Any, second: Any, op: ops.Op
) -> None:
    device = Device(Tape())
    x = tensor(device)
    found = capture(device, lambda: [mul(first(x), 3), mul(second(x), 3)], (x,), FORMULAS)
    simplify(found.graph, Inductor())
    assert sum(each.op is op for each in found.graph.all) == 2


def test_a_number_that_is_a_tensor_is_one_for_all_layers_and_what_it_scales_is_kept() -> None:
    """rasbt's GELU: behind the first product, what reads it may not be computed again."""

    def most(number: Any) -> int:
        device, host = Device(Tape()), Device(Tape())
        weights = [Parameter(device, f"w{layer}", SHAPE, FLOAT32) for layer in range(3)]
        for each in weights:
            each.move()

        def layers(x: Tensor) -> Tensor:
            for weight in weights:
                x = linear(x, weight)
                x = mul(x, add(tanh(mul(x, number(host))), 1))
            return total(x)

        loss = CompiledFunction(layers, device, host=host)(tensor(device))
        assert loss.requires_grad and not device.tape.doubts
        events, sizes = device.tape.events, device.tape.sizes
        return sum(sizes[each] if each >= 0 else -sizes[~each] for each in events)

    shared = most(lambda host: made(0.8, device=host))
    assert shared == most(lambda _: 0.8) + 2 * 4 * SHAPE[0] * SHAPE[1]


def test_another_text_among_the_arguments_is_no_other_size() -> None:
    device = Device(Tape())
    weight = Parameter(device, "weight", (1024, 1024))
    weight.move()

    def function(x: Tensor, mode: str) -> Tensor:
        return linear(x, weight) if mode == "plain" else square(linear(x, weight))

    compiled = CompiledFunction(function, device, dynamic=None)
    for mode in ("plain", "squared", "plain"):
        compiled(tensor(device), mode)
    assert device.tape.assumed == []
    compiled(tensor(device, (512, 1024)), "plain")
    assert len(device.tape.assumed) == 1
