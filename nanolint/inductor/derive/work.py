"""How many operations the matrix products of a graph take (``tensors/work.py``)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.inductor.derive.operations import BIASED, PRODUCTS
from nanolint.tensors.work import of_attention, of_convolution, of_product, swapped

if TYPE_CHECKING:
    from collections.abc import Iterable

    from nanolint.inductor.derive.operations import Operation
    from nanolint.tensors.device import Device

ATTENTION = frozenset({"flash", "efficient", "flash_three", "cudnn"})
BACKWARD = " backward"


def flops_of(operations: Iterable[Operation], device: Device) -> dict[str, int]:
    """By what they compute in."""
    found: dict[str, int] = {}
    for each in operations:
        flops = _flops(each)
        if flops:
            kind = device.kind_of(each.of[-1 if each.name in BIASED else 0].dtype)
            found[kind] = found.get(kind, 0) + flops
    return found


def _flops(each: Operation) -> int:
    shapes = [source.shape for source in each.of]
    if each.name in PRODUCTS:
        return of_product(each.shape, shapes[1 if each.name in BIASED else 0][-1])
    called = each.name.removesuffix(BACKWARD)
    is_backward = called != each.name
    if called in ATTENTION:
        q, k, v = shapes[1:4] if is_backward else shapes[:3]
        if called == "flash_three":
            q, k, v = swapped(q), swapped(k), swapped(v)
        return of_attention(q, k, v, backward=is_backward)
    if called == "convolution":
        if not is_backward:
            return of_convolution(each.shape, shapes[1])
        return len(each.parts) * of_convolution(shapes[0], shapes[2])
    return 0
