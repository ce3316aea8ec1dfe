"""``F.linear_cross_entropy`` in chunks: torch/nn/modules/linear_cross_entropy.py, from 2.13 on."""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING

from nanolint.memory.tape import Component
from nanolint.memory.tensors.autograd import record
from nanolint.memory.tensors.dtypes import FLOAT32, INT64
from nanolint.memory.tensors.role import role
from nanolint.memory.tensors.tensor import empty
from nanolint.memory.tensors.tracing import traced
from nanolint.memory.tensors.unknown import NotModelled
from nanolint.memory.tensors.work import of_product

if TYPE_CHECKING:
    from nanolint.memory.tensors.tensor import Tensor


LOGITS = role("logits of a chunk", Component.LOGITS_AND_LOSS)


def chunk_rows(rows: int, width: int, words: int) -> int:
    """The rows whose logits take what all rows' inputs do: LinearCrossEntropyOptions' "auto".

    >>> chunk_rows(16 * 1024, 768, 50304)
    256
    """
    wanted = ceil(rows / ceil(words / width))
    most = max(1, rows * words // (4 * width))
    return min(1 << (wanted - 1).bit_length(), rows, most)


@traced
def linear_cross_entropy(x: Tensor, weight: Tensor, target: Tensor) -> Tensor:
    """The loss of x (N, C), weight (V, C) and classes, with LinearCrossEntropyOptions().

    Autocast does not reach it. Where a gradient is wanted, those of x and weight are made with the
    loss, and autograd hands them on; the logits of a chunk live to the end.
    """
    if x.ndim != 2 or target.dtype is not INT64:
        raise NotModelled("F.linear_cross_entropy of other than rows and their classes")
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
