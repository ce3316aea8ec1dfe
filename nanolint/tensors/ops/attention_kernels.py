"""The kernels of fused attention (aten/src/ATen/native/transformers/cuda).

PyTorch prefers cuDNN's on Hopper and on Blackwell's data-centre cards: attention.cu there, and
aten/src/ATen/native/cudnn/MHA.cpp. What cuDNN takes for itself is its own: the formulas are of the
calls that were measured on an H200 (validation/recorded/gpu/h200-attention.json). q (B, H, T, D),
k and v (B, H or fewer, S, D).

FlashAttention 3 is as the package of that name and the ``kernels`` hub hand it out:
hopper/flash_api.cpp, ``mha_fwd`` and ``mha_bwd``. q (B, T, H, D), k and v (B, S, H or fewer, D).
"""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING, Any

from nanolint.tape.torch import (
    CUDNN_DROPOUT_IN_SIXTEENTHS_SINCE,
    CUDNN_WIDE_HEADS_SINCE,
    EFFICIENT_STATE_FIRST_SINCE,
    EFFICIENT_STATE_ON_CARD_SINCE,
    FLASH_STATE_ON_CARD_SINCE,
    prefers_cudnn_attention,
)
from nanolint.tensors.autograd import record
from nanolint.tensors.dtypes import FLOAT32, INT64, UINT8
from nanolint.tensors.layout import like_strides
from nanolint.tensors.ops.parts import sliced
from nanolint.tensors.ops.views import contiguous
from nanolint.tensors.tensor import autograd_follows, empty
from nanolint.tensors.tracing import traced
from nanolint.tensors.work import of_attention, swapped

if TYPE_CHECKING:
    from nanolint.tape.torch import Version
    from nanolint.tensors.device import Card, Device
    from nanolint.tensors.layout import Shape
    from nanolint.tensors.role import Role
    from nanolint.tensors.tensor import Tensor

FLASH_WIDTHS = 8  # flash takes heads of a multiple of this; others are padded
BIAS_ALIGNMENT = 16  # elements of a row of a bias's gradient


@traced
def padded_heads(x: Tensor) -> Tensor:
    """Returns each head with zeros after it, in order."""
    width = x.shape[-1]
    shape = (*x.shape[:-1], _up(width, FLASH_WIDTHS))
    out = empty(x.device, shape, x.dtype, x.role.made("padded q, k or v"))
    role = x.role.gradient

    def backward(g: Tensor) -> list[Tensor | None]:
        unpadded = (*g.shape[:-1], width)
        strides = like_strides(unpadded, g.strides)
        return [empty(g.device, unpadded, g.dtype, role, strides)]

    return record(out, (x,), backward)


def _like_swapped(x: Tensor, role: Role) -> Tensor:
    """A new tensor, laid out as ``empty_like`` lays out (B, T, H, D)."""
    swapped = _swap(x)
    strides = like_strides(swapped.shape, swapped.strides)
    return _swap(empty(x.device, swapped.shape, x.dtype, role, strides))


def _swap(x: Tensor) -> Tensor:
    """Heads and tokens change places inside a kernel, where autograd sees no view."""
    order = (0, 2, 1, 3)
    shape, strides = (tuple(sizes[dim] for dim in order) for sizes in (x.shape, x.strides))
    out = x.view(shape, strides, x.role.reshaped)
    out.is_view = x.is_view
    return out


@traced
def flash(q: Tensor, k: Tensor, v: Tensor, dropout: float = 0.0) -> Tensor:
    """flash_attn/flash_api.cpp, ``mha_fwd`` and ``mha_bwd``."""
    device = q.device
    b, h, n, d = q.shape
    made = q.role.made
    out = _like_swapped(q, made("attention output"))
    lse = empty(device, (b, h, n), FLOAT32, made("attention logsumexp", "(B, H, T)"))
    count = 1 if dropout else device.asked.ask(splits, b * h * -(-n // 64), k.shape[2], d)
    parts = [
        empty(device, (count, *shape), FLOAT32, made("attention of split keys"))
        for shape in ((b, h, n), (b, h, n, _up(d, 32)))
        if count > 1 and not dropout
    ]
    # What would hold the pattern of the dropout, were it asked for.
    pattern = empty(device, (1,), q.dtype, made("dropout pattern")) if dropout else None
    state = _random_state(
        device, FLASH_STATE_ON_CARD_SINCE, ((2,), ()), made("attention random state")
    )
    del pattern, parts
    device.compute(q.dtype, of_attention(q.shape, k.shape, v.shape))
    roles = [each.role.gradient for each in (q, k, v)]

    def backward(
        g: Tensor, q: Tensor, k: Tensor, v: Tensor, out: Tensor, *_saved: Tensor
    ) -> list[Tensor | None]:
        device.compute(q.dtype, of_attention(q.shape, k.shape, v.shape, backward=True))
        copies = contiguous(_swap(g)), contiguous(_swap(out))
        found = [_like_swapped(x, role) for x, role in zip((q, k, v), roles, strict=True)]
        rows = _up(n, 128)
        sums = empty(device, (b, h, rows), FLOAT32, made("row sums"))
        columns = _up(d, 32 if d <= 128 else 64)
        total = empty(device, (b, rows, h, columns), FLOAT32, made("accumulator of q's gradient"))
        wide = (b, k.shape[2], h, d)  # of keys and values that several heads share
        shared = k.shape[1] != h
        expanded = [empty(device, wide, q.dtype, made("gradient by heads")) for _ in "kv" if shared]
        del expanded, total, sums, copies
        return [*found]

    return record(out, (q, k, v), backward, q, k, v, out, lse, *state)


def _random_state(
    device: Device, since: Version, shapes: tuple[Shape, ...], role: Role
) -> tuple[Tensor, ...]:
    """The seed and the offset, where they are not the host's: ``since`` a release of torch."""
    if not has_state_on_card(device, since):
        return ()
    return tuple(empty(device, shape, INT64, role) for shape in shapes)


def has_state_on_card(device: Device, since: Version) -> bool:
    """Whether a kernel's random state lies on the card: ``since`` a release of torch."""
    return device.release >= since


def splits(card: Card, blocks: int, keys: int, width: int) -> int:
    """Into how many parts the keys are split, so that few sequences keep the card busy.

    flash_api.cpp, ``num_splits_heuristic``: the fewest that reach 85 % of the best use of the
    multiprocessors, two blocks on each.
    """
    slots = 2 * card.multiprocessors
    if blocks >= 0.8 * slots:
        return 1
    tiles = -(-keys // (256 if width <= 64 else 128 if width <= 128 else 64))
    uses = {}
    for count in range(1, min(128, slots, tiles) + 1):
        if count == 1 or -(-tiles // count) != -(-tiles // (count - 1)):
            waves = blocks * count / slots
            uses[count] = waves / ceil(waves)
    best = max(uses.values(), default=0.0)
    return next((count for count, use in uses.items() if use >= 0.85 * best), 1)


# attention_backward.cu, ``_efficient_attention_backward``: heads of all sequences, times parts of
# the keys whose gradients are staged.
MOST_STAGED = 200


@traced
def efficient(
    q: Tensor, k: Tensor, v: Tensor, bias: Tensor | None = None, dropout: float = 0.0
) -> Tensor:
    """attention.cu, attention_backward.cu and mem_eff_attention/kernel_{forward,backward}.h."""
    device = q.device
    b, h, n, _ = q.shape
    d = v.shape[-1]
    made = q.role.made
    half = q.dtype.itemsize == 2
    learns = autograd_follows(device, (q, k, v))
    shapes: tuple[Shape, ...] = () if dropout else ((), ())

    def random_state() -> tuple[Tensor, ...]:
        role = made("attention random state")
        return _random_state(device, EFFICIENT_STATE_ON_CARD_SINCE, shapes, role)

    state_first = device.release >= EFFICIENT_STATE_FIRST_SINCE
    state = random_state() if state_first else ()
    out = _swap(empty(device, (b, n, h, d), q.dtype, made("attention output")))
    lse = None
    if learns:
        lse = empty(device, (b, h, _up(n, 32)), FLOAT32, made("attention logsumexp"))
    if half and d > 128:
        empty(device, (b, n, h, d), FLOAT32, made("attention output accumulator"))
    if not state_first:
        state = random_state()
    device.compute(q.dtype, of_attention(q.shape, k.shape, v.shape))
    roles = [each.role.gradient for each in (q, k, v)]

    learns_bias = bias is not None and bias.requires_grad

    def backward(
        g: Tensor, q: Tensor, k: Tensor, v: Tensor, bias: Tensor | None, *_saved: Tensor | None
    ) -> list[Tensor | None]:
        device.compute(q.dtype, of_attention(q.shape, k.shape, v.shape, backward=True))
        copied = contiguous(_swap(g))
        found: list[Tensor | None] = []
        for x, role in zip((q, k, v), roles, strict=True):
            heads, tokens, width = x.shape[1:]
            found.append(_swap(empty(device, (b, tokens, heads, width), x.dtype, role)))
        shared = [
            empty(device, (b, x.shape[2], h, x.shape[3]), x.dtype, made("gradient by heads"))
            for x in (k, v)
            if x.shape[1] != h
        ]
        of_bias = None
        if learns_bias and bias is not None:
            columns = bias.shape[-1]
            wide = (*bias.shape[:-1], _up(columns, BIAS_ALIGNMENT))
            padded = empty(device, wide, bias.dtype, bias.role.gradient)
            of_bias = sliced(padded, -1, columns, start=0) if wide != bias.shape else padded
            del padded
        product = sums = None
        if not half:
            product = empty(device, (b, n, h, d), FLOAT32, made("gradient times attention output"))
            sums = empty(device, (b, n, h), FLOAT32, made("row sums"))
        turned = half or (h > 1 and n > 1)  # else they lie by heads as they do by tokens
        delta = empty(device, (b, h, n), FLOAT32, made("row sums")) if turned else sums
        del product, sums
        nbytes = efficient_workspace_bytes(b * h, n, d, half=half, keys=k.shape[2])
        workspace = empty(device, (nbytes,), UINT8, made("workspace of q's gradient"))
        del workspace, delta, shared, copied
        return [*found, of_bias]

    return record(out, (q, k, v, bias), backward, q, k, v, bias, out, lse, *state)


def efficient_workspace_bytes(
    heads: int,
    tokens: int,
    width: int,
    *,
    half: bool,
    keys: int | None = None,
    small: bool = False,
    dropout: bool = False,
) -> int:
    """Bytes that memory-efficient attention's backward kernel takes for gradients that it sums up.

    Those of the queries, in tiles; halves of heads wider than 128 elements those of ``keys`` (the
    ``tokens``, if nothing is said) and values, too. With ``small``, a card with 100 KiB of shared
    memory, the kernels of 65 to 128 elements have smaller tiles, and most of them do the same.
    """
    rows, columns = 64, 64
    if width > 64:
        rows, columns = 128, 128 if half else 64
    wide = half and width > 128
    sums = wide
    if small and half and 64 < width <= 128:
        sums = dropout or width > 96
        rows, columns = (64 if sums else 128), 64
    tiles = -(-tokens // rows) * -(-width // columns)
    of_queries = tiles * ((32 if wide else 16) + 4 * rows * columns)
    of_keys = 0
    if sums:  # in as many parts as there are blocks of keys, but few where there are many heads
        parts = max(1, min(-(-(keys or tokens) // 64), MOST_STAGED // heads))
        of_keys = 2 * 4 * 64 * parts * (width if wide else _up(width, 64))
    return heads * _up(of_queries + of_keys, 16)


def _up(n: int, multiple: int) -> int:
    return -(-n // multiple) * multiple


ALIGNMENT = 8  # elements of a head
WIDEST = 256
WIDEST_OF_ANY = 128  # wider ones that learn have 256 elements, in newer releases
STEPS_OF_DROPOUT = 16
WORKSPACE_BYTES = 256  # of the forward pass, and in the backward pass beside what is summed there


def is_cudnn(q: Tensor, k: Tensor, v: Tensor, dropout: float, enable_gqa: bool) -> bool:
    """sdp_utils.cpp, ``can_use_cudnn_attention``, if it comes first, of dense arguments."""
    device = q.device
    learns = autograd_follows(device, (q, k, v))
    return (
        device.asked.ask(prefers_cudnn, device.release)
        and q.dtype.itemsize == 2
        and (enable_gqa or q.shape[1] == k.shape[1])
        and k.shape[-2] != 1
        and (not dropout or q.shape[-2] != 1)
        and is_able(q.shape[-1], v.shape[-1], dropout, device.release, learns=learns)
    )


def is_able(width: int, of_values: int, dropout: float, release: Version, *, learns: bool) -> bool:
    """Whether it takes heads so wide, with so much dropout."""
    if not all(each % ALIGNMENT == 0 and each <= WIDEST for each in (width, of_values)):
        return False
    if learns and release >= CUDNN_WIDE_HEADS_SINCE and not _learns(width, of_values):
        return False
    return release < CUDNN_DROPOUT_IN_SIXTEENTHS_SINCE or dropout * STEPS_OF_DROPOUT % 1 == 0


def prefers_cudnn(card: Card, release: Version) -> bool:
    """Whether it comes before all others on the card."""
    return prefers_cudnn_attention(release, card.generation)


def _learns(width: int, of_values: int) -> bool:
    """Whether heads so wide have a backward pass."""
    narrow = width <= WIDEST_OF_ANY and of_values <= WIDEST_OF_ANY
    return narrow or (width, of_values) in ((192, 128), (256, 256))


def backward_workspace_bytes(q: Shape, k: Shape) -> int:
    """Bytes that cuDNN's backward pass takes for itself.

    The gradient of the queries and a number for each of them, in float32, and, if heads share
    keys, the gradients of keys and values by heads, in half precision.
    """
    b, h, n, d = q
    by_heads = 2 * 2 * b * h * k[2] * d if k[1] != h else 0
    return 4 * b * h * n * d + 4 * b * h * n + by_heads + WORKSPACE_BYTES


def _like(x: Tensor, role: Role) -> Tensor:
    return empty(x.device, x.shape, x.dtype, role, like_strides(x.shape, x.strides))


@traced
def cudnn(q: Tensor, k: Tensor, v: Tensor, bias: Tensor | None, dropout: float) -> Tensor:
    """``_scaled_dot_product_cudnn_attention`` and its backward call; a bias has no gradient."""
    device = q.device
    b, h, n, _ = q.shape
    made = q.role.made
    learns = autograd_follows(device, (q, k, v))
    state = [empty(device, (), INT64, made("attention random state")) for _ in range(2)]
    wide = (b, h, n, v.shape[-1])
    strides = like_strides(wide, q.strides)
    out = empty(device, wide, q.dtype, made("attention output"), strides)
    lse = None
    if learns:
        lse = empty(device, (b, h, n, 1), FLOAT32, made("attention logsumexp", "(B, H, T, 1)"))
    empty(device, (WORKSPACE_BYTES,), UINT8, made("cuDNN's workspace"))
    device.compute(q.dtype, of_attention(q.shape, k.shape, v.shape))
    roles = [each.role.gradient for each in (q, k, v)]

    def backward(
        g: Tensor, q: Tensor, k: Tensor, v: Tensor, *_saved: Tensor | None
    ) -> list[Tensor | None]:
        device.compute(q.dtype, of_attention(q.shape, k.shape, v.shape, backward=True))
        found = [_like(x, role) for x, role in zip((q, k, v), roles, strict=True)]
        copied = g if g.strides[-1] == 1 else contiguous(g)
        nbytes = backward_workspace_bytes(q.shape, k.shape)
        workspace = empty(device, (nbytes,), UINT8, made("cuDNN's workspace"))
        del workspace, copied
        return [*found, None]

    return record(out, (q, k, v, bias), backward, q, k, v, out, lse, *state, bias)


ROWS = 128  # of queries and keys: sums lie in whole tiles
COLUMNS = 32  # of a head


def flash_attn_func(q: Tensor, k: Tensor, v: Tensor, *_settings: Any, **_options: Any) -> Tensor:
    """``flash_attn_func``: masks and windows change no size."""
    return flash_three(q, k, v)


@traced
def flash_three(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """The output, like q; kept are all of them and the sums of the softmax."""
    device = q.device
    b, n, h, _ = q.shape
    made = q.role.made
    out = empty(
        device, q.shape, q.dtype, made("attention output"), like_strides(q.shape, q.strides)
    )
    lse = empty(device, (b, h, n), FLOAT32, made("attention log-sum-exp", "(B, H, T)"))
    device.compute(q.dtype, of_attention(*(swapped(each.shape) for each in (q, k, v))))
    roles = [each.role.gradient for each in (q, k, v)]

    def backward(g: Tensor, *saved: Tensor) -> list[Tensor | None]:
        shapes = [swapped(each.shape) for each in saved[:3]]
        device.compute(q.dtype, of_attention(*shapes, backward=True))
        flow = contiguous(g)
        found = [
            empty(device, x.shape, x.dtype, role, like_strides(x.shape, x.strides))
            for x, role in zip(saved[:3], roles, strict=True)
        ]
        scratch = [
            empty(device, (elements,), FLOAT32, made(label))
            for label, elements in backward_scratch(saved[0].shape, saved[1].shape)
        ]
        del scratch, flow
        return [*found]

    return record(out, (q, k, v), backward, q, k, v, out, lse)


def backward_scratch(q: Shape, k: Shape) -> list[tuple[str, int]]:
    """Returns the scratch memory of the backward pass: elements of float32, by label."""
    b, n, h, d = q
    rows, width = b * h * _next(n, ROWS), _next(d, COLUMNS)
    found = [("row sums", rows), ("log-sum-exp", rows), ("dq_accum", rows * width)]
    if k[2] != h:  # several heads add to one of keys and values
        each = b * k[2] * _next(k[1], ROWS) * width
        found += [("dk_accum", each), ("dv_accum", each)]
    return found


def _next(n: int, multiple: int) -> int:
    return -(-n // multiple) * multiple
