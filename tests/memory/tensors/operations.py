"""What validation/operations.py asks torch, asked of the pretend tensors."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from nanolint.memory.tape import Component, Tape, rounded
from nanolint.memory.tensors.autograd import run_backward
from nanolint.memory.tensors.device import Device
from nanolint.memory.tensors.dtypes import BFLOAT16, DTYPES, FLOAT32, INT64
from nanolint.memory.tensors.layout import like_strides
from nanolint.memory.tensors.ops import (
    dropout,
    embedding,
    indexing,
    joining,
    linear,
    loss,
    normalization,
    pointwise,
    reductions,
    unary,
    views,
)
from nanolint.memory.tensors.ops.attention import attend
from nanolint.memory.tensors.parameter import Parameter
from nanolint.memory.tensors.role import role
from nanolint.memory.tensors.tensor import Tensor, empty

if TYPE_CHECKING:
    from collections.abc import Callable

    from validation.operations import Case

ARGUMENTS = "xywbnmacielkqvgh"  # the order in which operations take their inputs
WHATEVER = role("whatever", Component.ACTIVATIONS)


def half_of(x: Tensor) -> Tensor:
    return views.narrow(x, -1, x.shape[-1] // 2)


def rest_of(x: Tensor) -> Tensor:
    return views.narrow(x, -1, x.shape[-1] - x.shape[-1] // 2)


def gated(x: Tensor) -> Tensor:
    a, b = views.chunk(x, 2, -1)
    del x
    return pointwise.mul(unary.silu(a), b)


def rms(x: Tensor) -> Tensor:
    squares = reductions.mean(unary.power(x, 2), (-1,), keepdim=True)
    shifted = pointwise.add(squares, 1e-5)
    del squares
    scale = unary.rsqrt(shifted)
    del shifted
    return pointwise.mul(x, scale)


OPERATIONS: dict[str, Callable[..., Tensor]] = {
    "add": lambda x, y: pointwise.add(x, y),
    "add a number": lambda x: pointwise.add(x, 1.5),
    "sub": lambda x, y: pointwise.sub(x, y),
    "mul": lambda x, y: pointwise.mul(x, y),
    "mul by a number": lambda x: pointwise.mul(x, 0.5),
    "mul by itself": lambda x: pointwise.mul(x, x),
    "div": lambda x, y: pointwise.div(x, y),
    "div by a number": lambda x: pointwise.div(x, 3.0),
    "neg": pointwise.neg,
    "exp": unary.exp,
    "log": unary.log,
    "sqrt": unary.sqrt,
    "rsqrt": unary.rsqrt,
    "sigmoid": unary.sigmoid,
    "tanh": unary.tanh,
    "relu": unary.relu,
    "relu squared": lambda x: unary.power(unary.relu(x), 2),
    "silu": unary.silu,
    "gelu": unary.gelu,
    "gelu by tanh": unary.gelu,
    "sin": unary.sin,
    "cos": unary.cos,
    "abs": unary.abs_,
    "reciprocal": unary.reciprocal,
    "pow 2": lambda x: unary.power(x, 2),
    "pow 3": lambda x: unary.power(x, 3),
    "softplus": unary.softplus,
    "softcap": lambda x: pointwise.mul(unary.tanh(pointwise.div(x, 15.0)), 15),
    "clamp": unary.clamp,
    "comparison": pointwise.compare,
    "where": lambda x, y: pointwise.where(pointwise.compare(x, 0), x, y),
    "masked fill": lambda x, y: pointwise.masked_fill(x, pointwise.compare(y, 0)),
    "tril": unary.triangle,
    "softmax": loss.softmax,
    "log softmax": loss.log_softmax,
    "sum": reductions.total,
    "sum of a dimension": lambda x: reductions.total(x, (-1,)),
    "mean": reductions.mean,
    "mean of a dimension": lambda x: reductions.mean(x, (-1,), keepdim=True),
    "maximum of a dimension": lambda x: reductions.maximum(x, (-1,)),
    "logsumexp": lambda x: reductions.logsumexp(x, -1),
    "cumsum": lambda x: reductions.cumsum(x, -1),
    "rms norm written out": rms,
    "to float32": lambda x: views.cast(x, FLOAT32),
    "to bfloat16": lambda x: views.cast(x, BFLOAT16),
    "contiguous": views.contiguous,
    "transpose and copy": lambda x: views.contiguous(views.transpose(x, -1, -2)),
    "flatten": lambda x: views.reshape(x, (-1,)),
    "slice": lambda x: pointwise.mul(half_of(x), 2.0),
    "rotate": lambda x: joining.cat((pointwise.neg(rest_of(x)), half_of(x)), -1),
    "cat": lambda x: joining.cat((x, x), -1),
    "stack": lambda x: joining.stack((x, x)),
    "chunk": lambda x: views.chunk(x, 2, -1)[0],
    "unbind": lambda x: views.unbind(x)[0],
    "split and multiply": gated,
    "expand": lambda x: pointwise.mul(views.expand(views.unsqueeze(x, 0), (3, *x.shape)), 2.0),
    "repeat": lambda x: joining.repeat(x, (2, *[1] * (x.ndim - 1))),
    "repeat interleave": lambda x: joining.repeat_interleave(x, 2, 0),
    "roll": joining.roll,
    "pad": lambda x: joining.pad(x, (1, 2)),
    "dropout": lambda x: dropout.dropout(x, 0.1, True),
    "linear": linear.linear,
    "linear without bias": linear.linear,
    "matmul": lambda x, w: linear.matmul(x, views.t(w)),
    "layer norm": lambda x, n, m: normalization.layer_norm(x, 1, n, m),
    "layer norm without bias": lambda x, n: normalization.layer_norm(x, 1, n, None),
    "rms norm": lambda x, n: normalization.rms_norm(x, 1, n),
    "rms norm without weight": lambda x: normalization.rms_norm(x, 1, None),
    "bmm": linear.matmul,
    "scores": lambda a: pointwise.mul(linear.matmul(a, views.transpose(a, -2, -1)), 0.125),
    "embedding": lambda i, e: embedding.embedding(i, e),
    "cross entropy": lambda l, k: loss.cross_entropy(l, k),  # noqa: E741
    "cross entropy in float32": lambda l, k: loss.cross_entropy(views.cast(l, FLOAT32), k),  # noqa: E741
    "cross entropy of parts": lambda l, k: reductions.mean(loss.cross_entropy(l, k, reduces=False)),  # noqa: E741
    "gather": lambda x: indexing.gather(x, empty(x.device, x.shape, INT64, WHATEVER)),
    "grouped attention": lambda q, g, h: attend(q, g, h, flash=True),
    "flash attention": lambda q, v: attend(q, q, v, flash=True),
}


def entries(case: Case) -> list[Any]:
    """Allocations in order, and between two the releases."""
    device = Device(Tape())
    inputs = {name: _input(device, *each) for name, each in case["inputs"].items()}
    start = device.tape.mark()
    operation = OPERATIONS[case["name"]]
    with ExitStack() as stack:
        if "no_grad" in case["mode"]:
            stack.enter_context(device.no_grad())
        if "autocast" in case["mode"]:
            stack.enter_context(device.autocast(BFLOAT16))
        out = operation(*(inputs[name] for name in ARGUMENTS if name in inputs))
    if out.requires_grad:
        quiet = Device(Tape())
        gradient = empty(
            quiet, out.shape, out.dtype, WHATEVER, like_strides(out.shape, out.strides)
        )
        gradient.device = device
        run_backward(out, gradient)
    del out
    events = device.tape.events[start.events :]
    sizes = device.tape.sizes
    return grouped(
        [
            (each - start.allocations, sizes[each]) if each >= 0 else (~each - start.allocations,)
            for each in events
        ]
    )


def _input(device: Device, shape: list[int], order: list[int], dtype: str, learns: bool) -> Tensor:
    whole = tuple(shape)
    if learns:
        parameter = Parameter(device, "x", whole, DTYPES[dtype])
        parameter.move()
        made: Tensor = parameter
    else:
        made = empty(device, whole, DTYPES[dtype], WHATEVER)
    return views.permute(made, order) if order != sorted(order) else made


def recorded_entries(case: Case) -> list[Any]:
    """The same of what was recorded."""
    return grouped([(each[0], *map(rounded, each[1:])) for each in case["events"]])


def grouped(events: list[tuple[int, ...]]) -> list[Any]:
    found: list[Any] = []
    released: list[int] = []
    for event in events:
        if len(event) == 1:
            released.append(event[0])
            continue
        if released:
            found.append(sorted(released))
            released = []
        found.append(event)
    return [*found, sorted(released)]
