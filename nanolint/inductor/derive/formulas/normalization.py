"""Normalisation (torch/_decomp/decompositions.py, native_layer_norm, native_group_norm and
_fused_rms_norm)."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from nanolint.inductor.derive.formulas.reductions import reduce
from nanolint.tape.torch import RMS_NORM_FLOAT32_SINCE
from nanolint.tensors.autograd import record_all
from nanolint.tensors.device import NotDerived
from nanolint.tensors.dtypes import FLOAT32
from nanolint.tensors.layout import is_contiguous
from nanolint.tensors.ops import registry as ops
from nanolint.tensors.ops.conversion import to_float32
from nanolint.tensors.ops.creation import full_of
from nanolint.tensors.ops.normalization import LEAST, is_written_out, written_out
from nanolint.tensors.ops.pointwise import add, div, mul, neg, sub
from nanolint.tensors.ops.unary import pow, rsqrt
from nanolint.tensors.ops.views import cast, contiguous, reshape, unsqueeze

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from nanolint.inductor.derive.capture import Capture, Formulas
    from nanolint.tensors.dtypes import Dtype
    from nanolint.tensors.role import Role
    from nanolint.tensors.tensor import Tensor

EPSILON = 1e-5


def layer_norm(
    t: Capture,
    x: Tensor,
    normalized_shape: Sequence[int],
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = EPSILON,
) -> Tensor:
    """``native_layer_norm``: float32 under autocast."""
    shift = None if bias is None else to_float32(bias)
    scale = None if weight is None else to_float32(weight)
    source = to_float32(x)
    dims = len(normalized_shape)
    over = tuple(range(x.ndim - dims, x.ndim))
    outer = tuple(range(x.ndim - dims))
    inner = prod(x.shape[x.ndim - dims :])
    needs = [each is not None and each.requires_grad for each in (source, scale, shift)]
    roles = [None if each is None else each.role.gradient for each in (source, scale, shift)]
    dtype = source.dtype
    with t.device.no_grad():
        wide = cast(contiguous(source), FLOAT32)
        rows = (*x.shape[: x.ndim - dims], *(1 for _ in range(dims)))
        stats = x.role.made("LayerNorm variance"), x.role.made("LayerNorm mean")
        results = [(rows, None, FLOAT32, role) for role in stats]
        variance, mean = t.several(ops.VAR_MEAN, (wide,), results, over, True, 0)
        variance.made.cost = ops.VAR_MEAN.steps
        rstd = rsqrt(add(variance, eps, role=x.role.made("LayerNorm rstd")))
        rstd.role = x.role.made("LayerNorm rstd")
        hat = mul(sub(wide, mean), rstd, role=x.role.made("normalised input", x.role.dims))
        out = hat if scale is None else mul(hat, scale)
        if shift is not None:
            out = add(out, shift)
        out = cast(out, dtype, x.role.made("LayerNorm output", x.role.dims))
        if out is hat:  # nothing was added: the result is another tensor
            out = hat.detach()

    def backward(
        g: Tensor,
        _mean: None,
        _rstd: None,
        x: Tensor,
        scale: Tensor | None,
        mean: Tensor,
        rstd: Tensor,
    ) -> list[Tensor | None]:
        wide, flow = cast(x, FLOAT32), cast(g, FLOAT32)
        hat = mul(sub(wide, mean), rstd, role=wide.role.made("normalised input", wide.role.dims))
        of_hat = flow if scale is None else mul(flow, scale)
        found: list[Tensor | None] = [None, None, None]
        if needs[0]:
            scaled = mul(of_hat, float(inner))
            plain = reduce(t, ops.SUM, of_hat, over, True)
            weighted = reduce(t, ops.SUM, mul(of_hat, hat), over, True)
            below = mul(hat, weighted)
            between = sub(sub(scaled, plain), below)
            found[0] = mul(div(rstd, float(inner)), between, role=roles[0])
        if needs[1]:
            product = mul(flow, hat)
            found[1] = reduce(t, ops.SUM, product, outer, False) if outer else product
        if needs[2]:
            found[2] = reduce(t, ops.SUM, flow, outer, False) if outer else flow
        return _as_given(found, dtype, roles)

    inputs = source, scale, shift
    return record_all((out, mean, rstd), inputs, backward, source, scale, mean, rstd)[0]


def rms_norm(
    t: Capture,
    x: Tensor,
    normalized_shape: Sequence[int],
    weight: Tensor | None = None,
    eps: float | None = None,
) -> Tensor:
    """``_fused_rms_norm``: float32 under autocast from torch 2.12 on."""
    casts = t.device.release >= RMS_NORM_FLOAT32_SINCE
    scale = to_float32(weight) if weight is not None and casts else weight
    source = to_float32(x) if casts else x
    dims = len(normalized_shape)
    if is_written_out(source, scale):
        return cast(written_out(source, dims, scale, eps), source.dtype)
    over = tuple(range(x.ndim - dims, x.ndim))
    outer = tuple(range(x.ndim - dims))
    inner = prod(x.shape[x.ndim - dims :])
    needs = [each is not None and each.requires_grad for each in (source, scale)]
    roles = [None if each is None else each.role.gradient for each in (source, scale)]
    dtype = source.dtype
    with t.device.no_grad():
        wide = cast(source, FLOAT32)
        squares = reduce(t, ops.MEAN, pow(wide, 2), over, True)
        rstd = rsqrt(add(squares, LEAST if eps is None else eps))
        rstd.role = x.role.made("RMSNorm rstd")
        out = mul(wide, rstd, role=x.role.made("normalised input", x.role.dims))
        if scale is not None:
            out = mul(out, scale)
        if not _is_channels_last(source):
            out = contiguous(out)
        out = cast(out, dtype, x.role.made("RMSNorm output", x.role.dims))

    def backward(
        g: Tensor, _rstd: None, x: Tensor, scale: Tensor | None, rstd: Tensor
    ) -> list[Tensor | None]:
        wide, flow = cast(x, FLOAT32), cast(g, FLOAT32)
        of_hat = flow if scale is None else mul(flow, cast(scale, FLOAT32))
        hat = mul(wide, rstd, role=wide.role.made("normalised input", wide.role.dims))
        found: list[Tensor | None] = [None, None]
        if needs[0]:
            weighted = reduce(t, ops.SUM, mul(hat, of_hat), over, True)
            below = mul(div(hat, float(inner)), weighted)
            found[0] = mul(sub(of_hat, below), rstd, role=roles[0])
        if needs[1]:
            product = mul(flow, hat)
            found[1] = reduce(t, ops.SUM, product, outer, False) if outer else product
        return _as_given(found, dtype, roles)

    inputs = source, scale
    return record_all((out, rstd), inputs, backward, source, scale, rstd)[0]


def group_norm(
    t: Capture,
    x: Tensor,
    num_groups: int,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = EPSILON,
) -> Tensor:
    """``native_group_norm``: float32 under autocast. Raises NotDerived for images, whose channels
    may move fastest."""
    if x.ndim > 3:
        raise NotDerived("group_norm")
    shift = None if bias is None else to_float32(bias)
    scale = None if weight is None else to_float32(weight)
    source = contiguous(to_float32(x))
    batch, channels, *space = x.shape
    size = prod(space)
    grouped = batch, num_groups, channels // num_groups
    beside = (1, channels, *(1 for _ in space))
    needs = [each is not None and each.requires_grad for each in (source, scale, shift)]
    roles = [None if each is None else each.role.gradient for each in (source, scale, shift)]
    dtype = source.dtype
    with t.device.no_grad():
        wide = reshape(cast(source, FLOAT32), (*grouped, size))
        stats = x.role.made("GroupNorm variance"), x.role.made("GroupNorm mean")
        results = [((batch, num_groups, 1, 1), None, FLOAT32, role) for role in stats]
        moments, middle = t.several(ops.VAR_MEAN, (wide,), results, (2, 3), True, 0)
        moments.made.cost = ops.VAR_MEAN.steps
        root = rsqrt(add(moments, eps, role=x.role.made("GroupNorm rstd")))
        hat = mul(sub(wide, middle), root, role=x.role.made("normalised input", x.role.dims))
        out = reshape(hat, x.shape)
        if scale is not None:
            out = mul(out, reshape(scale, beside))
        if shift is not None:
            out = add(out, reshape(shift, beside))
        out = cast(out, dtype, x.role.made("GroupNorm output", x.role.dims))
        mean, rstd = (reshape(cast(each, dtype), grouped[:2]) for each in (middle, root))

    def backward(
        g: Tensor,
        _mean: None,
        _rstd: None,
        x: Tensor,
        scale: Tensor | None,
        mean: Tensor,
        rstd: Tensor,
    ) -> list[Tensor | None]:
        shape = x.shape
        x, g, mean, rstd = (cast(each, FLOAT32) for each in (x, g, mean, rstd))
        rows = batch, channels, size
        weighted = reduce(t, ops.SUM, reshape(mul(g, x), rows), (2,), False)
        plain = reduce(t, ops.SUM, reshape(g, rows), (2,), False)
        found: list[Tensor | None] = [None, None, None]
        if needs[0]:
            share = 1.0 / (size * grouped[2])
            factors = None if scale is None else unsqueeze(cast(scale, FLOAT32), 0)
            of_weighted, of_plain = (
                reduce(
                    t,
                    ops.SUM,
                    reshape(each if factors is None else mul(each, factors), grouped),
                    (2,),
                    False,
                )
                for each in (weighted, plain)
            )
            own = (
                full_of(t.device, (1, *grouped[1:]), FLOAT32, rstd.role, 1)
                if factors is None
                else reshape(factors, (1, *grouped[1:]))
            )
            slope = mul(unsqueeze(rstd, -1), own)
            cube = mul(mul(sub(mul(of_plain, mean), of_weighted), rstd), rstd)
            by = mul(mul(cube, rstd), share)
            rest = sub(mul(neg(by), mean), mul(mul(of_plain, rstd), share))
            apart = (*grouped, size)
            moved = mul(reshape(g, apart), unsqueeze(slope, -1))
            scaled = mul(reshape(x, apart), reshape(by, (*grouped[:2], 1, 1)))
            whole = add(add(moved, scaled), reshape(rest, (*grouped[:2], 1, 1)))
            found[0] = reshape(whole, shape)
        if needs[1]:
            mean, rstd = unsqueeze(mean, -1), unsqueeze(rstd, -1)
            centred = sub(reshape(weighted, grouped), mul(reshape(plain, grouped), mean))
            summed = reduce(t, ops.SUM, mul(centred, rstd), (0,), False)
            found[1] = reshape(summed, (channels,))
        if needs[2]:
            found[2] = reduce(t, ops.SUM, plain, (0,), False)
        return _as_given(found, dtype, roles)

    inputs = source, scale, shift
    return record_all((out, mean, rstd), inputs, backward, source, scale, mean, rstd)[0]


def _as_given(
    found: Iterable[Tensor | None], dtype: Dtype, roles: Iterable[Role | None]
) -> list[Tensor | None]:
    """Gradients in the type of what they are of."""
    return [
        None if each is None else cast(each, dtype, role)
        for each, role in zip(found, roles, strict=True)
    ]


def _is_channels_last(x: Tensor) -> bool:
    """``suggest_memory_format``: whether an image lies pixel by pixel."""
    if x.ndim not in {4, 5} or is_contiguous(x.shape, x.strides):
        return False
    order = (0, *range(2, x.ndim), 1)
    shape, strides = (tuple(each[dim] for dim in order) for each in (x.shape, x.strides))
    return is_contiguous(shape, strides)


FORMULAS: Formulas = {"group_norm": group_norm, "layer_norm": layer_norm, "rms_norm": rms_norm}
