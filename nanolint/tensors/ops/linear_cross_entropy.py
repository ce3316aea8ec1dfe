"""``F.linear_cross_entropy``, from 2.13 on: in chunks if it is given options, as
torch/nn/modules/linear_cross_entropy.py has it; else a product and its loss, as any other."""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING

from nanolint.tape.tape import Component
from nanolint.tensors.autograd import record
from nanolint.tensors.dtypes import FLOAT32, INT64
from nanolint.tensors.ops.linear import linear
from nanolint.tensors.ops.loss import cross_entropy
from nanolint.tensors.role import role
from nanolint.tensors.tensor import empty
from nanolint.tensors.tracing import traced
from nanolint.tensors.unknown import NotModelled
from nanolint.tensors.work import of_product

if TYPE_CHECKING:
    from nanolint.tensors.role import Role
    from nanolint.tensors.tensor import Tensor

NOT_GIVEN = -100  # the class that cross_entropy ignores
CHUNKED = "torch.nn.LinearCrossEntropyOptions()"

LOGITS = role("logits of a chunk", Component.LOGITS_AND_LOSS)


def chunk_rows(rows: int, width: int, words: int) -> int:
    """The rows whose logits take what all rows' inputs do: LinearCrossEntropyOptions' "auto".

    >>> chunk_rows(16 * 1024, 768, 50304)
    256
    """
    wanted = ceil(rows / ceil(words / width))
    most = max(1, rows * words // (4 * width))
    return min(1 << (wanted - 1).bit_length(), rows, most)


def linear_cross_entropy(
    input: Tensor,
    linear_weight: Tensor,
    target: Tensor,
    *,
    linear_bias: Tensor | None = None,
    weight: Tensor | None = None,
    reduction: str = "mean",
    ignore_index: int | None = None,
    label_smoothing: float = 0.0,
    options: str | None = None,
    role: Role | None = None,
) -> Tensor:
    """The loss of input (N, C), linear_weight (V, C) and classes; ``options`` are CHUNKED or None.

    ``role`` is that of the logits, if it makes them.
    """
    if input.ndim != 2 or linear_weight.ndim != 2:
        raise NotModelled("F.linear_cross_entropy of other than rows and their classes")
    if options is None or label_smoothing or target.dtype is not INT64:
        logits = linear(input, linear_weight, linear_bias, role)
        ignored = NOT_GIVEN if ignore_index is None else ignore_index
        return cross_entropy(
            logits,
            target,
            weight,
            ignore_index=ignored,
            reduction=reduction,
            label_smoothing=label_smoothing,
        )
    types = {each.dtype for each in (input, linear_weight)}
    if types != {FLOAT32} or linear_bias is not None or weight is not None or reduction != "mean":
        raise NotModelled("F.linear_cross_entropy in chunks of other than float32's mean")
    return linear_cross_entropy_in_chunks(input, linear_weight, target)


@traced
def linear_cross_entropy_in_chunks(x: Tensor, weight: Tensor, target: Tensor) -> Tensor:
    """With LinearCrossEntropyOptions().

    Autocast does not reach it. If a gradient is wanted, those of x and weight are made with the
    loss, and autograd hands them on; the logits of a chunk live to the end.
    """
    device, (rows, width), words = x.device, x.shape, weight.shape[0]
    chunk = empty(device, (chunk_rows(rows, width, words), words), FLOAT32, LOGITS)
    loss = empty(device, (), FLOAT32, LOGITS.made("loss"))
    gradients: tuple[Tensor, ...] = ()
    if device.grad_enabled:
        gradients = tuple(
            empty(device, each.shape, each.dtype, each.role.gradient) for each in (x, weight)
        )
    device.multiply()
    device.compute(x.dtype, of_product((rows, words), width) * (1 + len(gradients)))
    del chunk

    def backward(_g: Tensor, *gradients: Tensor) -> list[Tensor | None]:
        return list(gradients)

    return record(loss, (x, weight), backward, *gradients)
