"""New tensors (aten/src/ATen/native/TensorFactories.cpp, cuda/RangeFactories.cu).

Values are not known; a number that a tensor is filled with takes nothing.
"""

from __future__ import annotations

from math import ceil, log, log2
from typing import TYPE_CHECKING, Any

from nanolint.tape.tape import Component
from nanolint.tensors.dtypes import DEFAULTS, FLOAT32, FLOATING, INT32, INT64, UINT8, kind_of
from nanolint.tensors.layout import like_strides
from nanolint.tensors.ops import registry as ops
from nanolint.tensors.ops.sums import radix_sort_bytes
from nanolint.tensors.ops.views import cast, sizes_of
from nanolint.tensors.role import role as role_of
from nanolint.tensors.tensor import Tensor, empty
from nanolint.tensors.tracing import tracer_at
from nanolint.tensors.unknown import NotModelled

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nanolint.tensors.device import Device
    from nanolint.tensors.dtypes import Dtype, Number
    from nanolint.tensors.layout import Shape
    from nanolint.tensors.ops.registry import Op
    from nanolint.tensors.role import Role

MADE = role_of("tensor", Component.ACTIVATIONS)
# Keys of randperm have as many bits as leave nine in ten of its results without two alike.
ALIKE, KEY_BITS = log(0.9) * 12, 32


def create(
    device: Device,
    shape: Shape,
    dtype: Dtype,
    role: Role,
    op: Op = ops.ARANGE,
    value: object = None,
) -> Tensor:
    """A new tensor; two that are ``op``, and of one ``value``, may be one in a compiled graph."""
    tracer = tracer_at(device)
    if tracer is not None:
        made = tracer.create(op, shape, dtype, role, None if value is None else repr(value))
        made.device = device
        return made
    return empty(device, shape, dtype, role)


def full_of(device: Device, shape: Shape, dtype: Dtype, role: Role, value: object = 0) -> Tensor:
    """A tensor of one number, in the type that it has there: a graph has one of each."""
    return create(device, shape, dtype, role, ops.FULL, number_in(value, dtype))


def number_in(value: object, dtype: Dtype) -> object:
    """A number as it is in a tensor of some type."""
    exact = isinstance(value, int) and type(value) in {bool, int}
    return float(value) if exact and dtype.kind >= FLOATING else value  # type: ignore[arg-type]


def filled(like: Tensor, shape: Shape | None = None) -> Tensor:
    """A zero, or a tensor of them, as PyTorch makes it on the way: of the type and role of
    ``like``, and of its shape if none is given."""
    return full_of(like.device, like.shape if shape is None else shape, like.dtype, like.role)


def zeros(
    *size: int | Sequence[int],
    device: Device,
    dtype: Dtype | None = None,
    fill_value: Number | None = 0,
    **_options: Any,
) -> Tensor:
    """``torch.zeros``, ``ones``, ``empty``: the default type if nothing is said."""
    return full_of(device, sizes_of(size), dtype or device.floats, MADE, fill_value)


def rand(
    *size: int | Sequence[int], device: Device, dtype: Dtype | None = None, **_options: Any
) -> Tensor:
    """``torch.rand`` and ``randn``."""
    return _random(device, sizes_of(size), dtype or device.floats, MADE)


def normal(
    mean: float | Tensor,
    std: float | Tensor = 1.0,
    size: Sequence[int] | None = None,
    *,
    device: Device,
    dtype: Dtype | None = None,
    **_options: Any,
) -> Tensor:
    """``torch.normal`` of two numbers and a size."""
    of_numbers = not isinstance(mean, Tensor) and not isinstance(std, Tensor)
    if size is None or not of_numbers or tracer_at(device) is not None:
        raise NotModelled("torch.normal of tensors, or in a graph")
    return empty(device, tuple(size), dtype or device.floats, MADE)


def _random(device: Device, shape: Shape, dtype: Dtype, role: Role) -> Tensor:
    """No two of them are one; in a compiled graph they are drawn in float32
    (torch/_inductor/fx_passes/replace_random.py)."""
    if tracer_at(device) is None:
        return empty(device, shape, dtype, role)
    return cast(create(device, shape, FLOAT32, role, ops.RANDOM), dtype)


def full(
    size: Sequence[int],
    fill_value: Number | Tensor,
    *,
    device: Device,
    dtype: Dtype | None = None,
    **_options: Any,
) -> Tensor:
    """``torch.full``: of the number's type if nothing is said."""
    found = device.floats if isinstance(fill_value, Tensor) else _type_of(fill_value, device)
    return full_of(device, tuple(size), dtype or found, MADE, fill_value)


def _type_of(number: Number, device: Device) -> Dtype:
    """The type that a number is made a tensor of."""
    found = DEFAULTS[kind_of(number)]
    return device.floats if found is FLOAT32 else found


def arange(
    *bounds: Number,
    device: Device,
    dtype: Dtype | None = None,
    start: Number = 0,
    end: Number | None = None,
    step: Number = 1,
    **_options: Any,
) -> Tensor:
    """``torch.arange(start, end, step)``: integers if all of them are."""
    first, last, by = start, end, step
    if len(bounds) == 1:
        last = bounds[0]
    elif bounds:
        first, last, by = (*bounds, step)[:3]
    assert last is not None
    assert not isinstance(first, complex)
    assert not isinstance(last, complex)
    assert not isinstance(by, complex)
    whole = all(isinstance(each, int) for each in (first, last, by))
    count = max(0, ceil((last - first) / by))
    kind = dtype or (INT64 if whole else device.floats)
    return _numbered(device, count, kind, "arange", (count, first, by))


def linspace(
    start: Number,
    end: Number,
    steps: int,
    *,
    device: Device,
    dtype: Dtype | None = None,
    **_options: Any,
) -> Tensor:
    """``torch.linspace`` and ``logspace``."""
    return _numbered(device, steps, dtype or device.floats, "linspace", (start, end, steps))


def _numbered(
    device: Device, count: int, dtype: Dtype, name: str, given: tuple[Number, ...]
) -> Tensor:
    """So many numbers in a row; where there is a tracer, by the operation of this name."""
    tracer = tracer_at(device)
    if tracer is None:
        return empty(device, (count,), dtype, MADE)
    found: Tensor = tracer.call(name, given, {"dtype": dtype})
    found.device = device
    return found


def eye(
    n: int, m: int | None = None, *, device: Device, dtype: Dtype | None = None, **_options: Any
) -> Tensor:
    """``torch.eye``."""
    return create(device, (n, n if m is None else m), dtype or device.floats, MADE, ops.EYE)


def randint(*bounds: Any, device: Device, dtype: Dtype | None = None, **options: Any) -> Tensor:
    """``torch.randint(low, high, size)``; the last one is the size."""
    size = options["size"] if "size" in options else bounds[-1]
    return empty(device, tuple(size), dtype or INT64, MADE)


def randperm(n: int, *, device: Device, dtype: Dtype | None = None, **_options: Any) -> Tensor:
    """``torch.randperm``: on the card the numbers are sorted by keys that are drawn for them
    (cuda/Randperm.cu). A graph has as many of them as are asked for."""
    kind, tracer = dtype or INT64, tracer_at(device)
    if tracer is not None:
        found: Tensor = tracer.call("randperm", (n,), {"dtype": kind})
        return found
    out = empty(device, (n,), kind, MADE)
    number = empty(device, (kind.itemsize,), UINT8, MADE)
    del number  # of the numbers that arange lays out then
    parts = [empty(device, (size,), UINT8, MADE) for size in sorting_bytes(device, n, kind)]
    while parts:
        parts.pop()
    return out


def sorting_bytes(device: Device, n: int, kind: Dtype) -> tuple[int, ...]:
    """Bytes that randperm holds in addition to its result: numbers, keys, sorted keys, the sort's
    own."""
    bits = ceil(log2(n - (6 * n * n + 1) / ALIKE)) if n else 0
    key = INT32 if bits <= KEY_BITS else INT64
    pair = key.itemsize, kind.itemsize
    sorting = radix_sort_bytes(n, (1 << bits) - 1, device.tuned_for, pair_bytes=pair)
    return n * kind.itemsize, n * key.itemsize, n * key.itemsize, sorting


def tensor(data: Any, *, device: Device, dtype: Dtype | None = None, **_options: Any) -> Tensor:
    """``torch.tensor`` of a number or of nested lists of numbers, or of rows of an array.

    Raises NotModelled for rows of one element.
    """
    if isinstance(data, Tensor):  # copied
        return empty(device, data.shape, dtype or data.dtype, MADE)
    shape, inner = [], data
    while isinstance(inner, (list, tuple)):
        shape.append(len(inner))
        inner = inner[0] if inner else 0.0
    if not isinstance(inner, Tensor):
        found = dtype or _type_of(_widest(data), device)
        return create(device, tuple(shape), found, MADE, ops.FULL, data)
    if inner.numel == 1 and inner.shape:
        raise NotModelled("torch.tensor of rows of one element")  # numpy's stay rows, PyTorch's not
    shape += inner.shape
    return create(device, tuple(shape), dtype or inner.dtype, MADE, ops.FULL, data)


def _widest(data: Any) -> Any:
    """The number among nested lists whose type holds all of them: 2.5 of ``[1, 2.5]``."""
    if isinstance(data, (list, tuple)):
        return max(map(_widest, data), key=kind_of) if data else 0.0
    return data


def zeros_like(
    x: Tensor,
    *,
    dtype: Dtype | None = None,
    device: Device | None = None,
    fill_value: Number | Tensor | None = 0,
    **_options: Any,
) -> Tensor:
    """``torch.zeros_like``, ``ones_like``, ``empty_like``."""
    role = x.role.made(x.role.label)
    strides = like_strides(x.shape, x.strides)
    where = device or x.device
    if tracer_at(where) is not None:
        return full_of(where, x.shape, dtype or x.dtype, role, fill_value)
    return empty(where, x.shape, dtype or x.dtype, role, strides)


def full_like(
    x: Tensor,
    fill_value: Number | Tensor,
    *,
    dtype: Dtype | None = None,
    device: Device | None = None,
    **_options: Any,
) -> Tensor:
    """``torch.full_like``."""
    return zeros_like(x, dtype=dtype, device=device, fill_value=fill_value)


def rand_like(
    x: Tensor, *, dtype: Dtype | None = None, device: Device | None = None, **_options: Any
) -> Tensor:
    """``torch.rand_like`` and ``randn_like``."""
    where = device or x.device
    if tracer_at(where) is None:
        return zeros_like(x, dtype=dtype, device=device)
    return _random(where, x.shape, dtype or x.dtype, x.role.made(x.role.label))


def randint_like(x: Tensor, *_bounds: Any, **options: Any) -> Tensor:
    """``torch.randint_like``."""
    given = {name: each for name, each in options.items() if name in ("dtype", "device")}
    return zeros_like(x, **given)


def new_zeros(
    x: Tensor,
    *size: int | Sequence[int],
    dtype: Dtype | None = None,
    device: Device | None = None,
    fill_value: Number | Tensor | None = 0,
    **_options: Any,
) -> Tensor:
    """``x.new_zeros``, ``new_ones``, ``new_empty``."""
    role = x.role.made("tensor")
    return full_of(device or x.device, sizes_of(size), dtype or x.dtype, role, fill_value)


def new_tensor(
    x: Tensor,
    data: Any,
    *,
    dtype: Dtype | None = None,
    device: Device | None = None,
    **_options: Any,
) -> Tensor:
    """``x.new_tensor``: of numbers, in the type of ``x``."""
    where = device or x.device
    if tracer_at(where) is not None:
        raise NotModelled("Tensor.new_tensor in a graph")
    return tensor(data, device=where, dtype=dtype or x.dtype)


def new_full(
    x: Tensor,
    size: Sequence[int],
    fill_value: Number | Tensor,
    *,
    dtype: Dtype | None = None,
    device: Device | None = None,
    **_options: Any,
) -> Tensor:
    """``x.new_full``."""
    return new_zeros(x, size, dtype=dtype, device=device, fill_value=fill_value)


def tril_indices(
    row: int, col: int, offset: int = 0, *, device: Device, dtype: Dtype | None = None
) -> Tensor:
    """``torch.tril_indices``."""
    count = sum(max(0, min(col, each + 1 + offset)) for each in range(row))
    return empty(device, (2, count), dtype or INT64, MADE)


def triu_indices(
    row: int, col: int, offset: int = 0, *, device: Device, dtype: Dtype | None = None
) -> Tensor:
    """``torch.triu_indices``."""
    count = sum(max(0, col - max(0, each + offset)) for each in range(row))
    return empty(device, (2, count), dtype or INT64, MADE)
