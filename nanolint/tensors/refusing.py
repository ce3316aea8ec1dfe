"""Operands that PyTorch refuses, in its words.

A check stands above the first allocation of its operation.

The texts are those of PyTorch 2.15. Releases differ in words, not in the class of the exception.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.tensors.dtypes import BOOL, COMPLEX, FLOAT32, FLOATING, INT32, INT64, UINT8
from nanolint.tensors.layout import normalized
from nanolint.tensors.unknown import Refused

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nanolint.tensors.dtypes import Dtype
    from nanolint.tensors.layout import Shape
    from nanolint.tensors.tensor import Tensor

NAMES = {"float32": "Float", "float64": "Double", "float16": "Half", "bfloat16": "BFloat16"}
NAMES |= {"int64": "Long", "int32": "Int", "int16": "Short", "int8": "Char"}
NAMES |= {"uint8": "Byte", "bool": "Bool"}
LOWER = {"bfloat16": "c10::BFloat16", "float16": "c10::Half", "float64": "double"}
# Operations without a kernel for whole numbers, and what some say of it in words of their own.
KERNELS = dict.fromkeys(("softmax", "log_softmax", "cross_entropy"), "host_softmax")
KERNELS |= {e: e for e in ("gelu", "silu", "layer_norm", "rms_norm", "softplus", "elu")}
OF_FRACTIONS = dict.fromkeys(KERNELS, "")
SPREAD = "std and var only support floating point and complex dtypes"
OF_FRACTIONS |= {"var": SPREAD, "std": SPREAD}
OF_FRACTIONS["mean"] = (
    "mean(): could not infer output dtype. Input dtype must be either a floating point or complex "
    "dtype. Got: {}"
)
AMBIGUOUS = "Boolean value of Tensor with more than one value is ambiguous"


def scalar_name(dtype: Dtype) -> str:
    """``BFloat16``, as PyTorch's messages have it."""
    return NAMES.get(dtype.name, dtype.name)


def sizes(shape: Shape) -> str:
    """``[2, 3]``."""
    return f"[{', '.join(map(str, shape))}]"


def by(shape: Shape) -> str:
    """``2x3``."""
    return "x".join(map(str, shape))


def of_matrices(x: Tensor, y: Tensor) -> None:
    """``mm`` and ``addmm`` of (n, k) and (k, m), of one type."""
    if x.dtype is not y.dtype:
        names = f"{scalar_name(x.dtype)} and {scalar_name(y.dtype)}"
        raise Refused(f"mat1 and mat2 must have the same dtype, but got {names}")
    if x.shape[-1] != y.shape[0]:
        raise Refused(
            f"mat1 and mat2 shapes cannot be multiplied ({by(x.shape)} and {by(y.shape)})"
        )


def of_sum(
    bias: Tensor, x: Tensor, y: Tensor, _role: object = None, _beta: object = None, **_: object
) -> None:
    """``addmm`` of matrices, to which something is added."""
    of_matrices(x, y)
    expanded(bias.shape, (x.shape[0], y.shape[1]))


def of_batches(x: Tensor, y: Tensor) -> None:
    """``bmm`` of (b, n, k) and (b, k, m), of one type."""
    if x.dtype is not y.dtype:
        raise Refused(
            f"expected scalar type {scalar_name(x.dtype)} but found {scalar_name(y.dtype)}"
        )
    if x.shape[-1] != y.shape[1] or x.shape[0] != y.shape[0]:
        raise _unequal_batches(x.shape, y.shape)


def _unequal_batches(x: Shape, y: Shape) -> Refused:
    return Refused(
        "Expected size for first two dimensions of batch2 tensor to be: "
        f"{sizes((x[0], x[-1]))} but got: {sizes(y[:2])}."
    )


def of_vectors(x: Tensor, y: Tensor, _role: object = None) -> None:
    """A product with a vector ``y``."""
    if x.dtype is not y.dtype:
        names = scalar_name(x.dtype), scalar_name(y.dtype)
        if x.ndim == 1:
            words = f"dot : expected both vectors to have same dtype, but found {names[0]} and "
            raise Refused(f"{words}{names[1]}")
        words = f"{names[1]}, {names[0]}, and {names[1]}"
        raise Refused(f"addmv input tensors must have the same dtype, but got {words}")
    if x.shape[-1] == y.shape[0]:
        return
    if x.ndim == 1:
        raise Refused(
            f"inconsistent tensor size, expected tensor {sizes(x.shape)} and src {sizes(y.shape)} "
            f"to have the same number of elements, but got {x.numel} and {y.numel} elements "
            "respectively"
        )
    raise Refused(
        f"size mismatch, got input ({x.shape[0]}), mat ({by(x.shape)}), vec ({y.shape[0]})"
    )


def expanded(shape: Shape, new: Shape) -> None:
    """Whether a tensor of ``shape`` expands to ``new``."""
    missing = len(new) - len(shape)
    if missing < 0:
        raise Refused(
            f"expand(sizes of {sizes(shape)}, size={sizes(new)}): the number of sizes provided "
            f"({len(new)}) must be greater or equal to the number of dimensions in the tensor "
            f"({len(shape)})"
        )
    for dim in range(len(shape) - 1, -1, -1):
        size, wanted = shape[dim], new[missing + dim]
        if size is not wanted and size != wanted and size != 1:
            raise Refused(
                f"The expanded size of the tensor ({wanted}) must match the existing size ({size})"
                f" at non-singleton dimension {missing + dim}.  Target sizes: {sizes(new)}.  "
                f"Tensor sizes: {sizes(shape)}"
            )


def put_at(shape: Shape, chosen: Shape) -> None:
    """Whether values of ``shape`` can be put into what an index chooses, of shape ``chosen``."""
    try:
        expanded(shape, chosen)
    except Refused:
        words = f"shape mismatch: value tensor of shape {sizes(shape)} cannot be broadcast to "
        raise Refused(f"{words}indexing result of shape {sizes(chosen)}") from None


def of_fractions(name: str, x: Tensor) -> None:
    """Whether an operation of ``OF_FRACTIONS`` is given whole numbers."""
    if x.dtype.kind < FLOATING:
        found, words = scalar_name(x.dtype), OF_FRACTIONS[name]
        if words:
            raise Refused(words.format(found))
        raise Refused(f"\"{KERNELS[name]}\" not implemented for '{found}'", NotImplementedError)


def normalized_over(
    x: Tensor, normalized_shape: Sequence[int], *_: object, separator: str = ", ", **__: object
) -> None:
    """The last dimensions of ``x`` are those that are normalized; rms_norm writes no separator."""
    inner = tuple(normalized_shape)
    if x.shape[max(0, x.ndim - len(inner)) :] != inner:
        stars = separator + ", ".join(map(str, inner))
        raise Refused(
            f"Given normalized_shape={sizes(inner)}, expected input with shape [*{stars}], "
            f"but got input of size{sizes(x.shape)}"
        )


def normalized_by_roots(
    x: Tensor, normalized_shape: Sequence[int], *_: object, **__: object
) -> None:
    """The same of ``rms_norm``."""
    normalized_over(x, normalized_shape, separator="")


def of_one_type(x: Tensor, weight: Tensor | None) -> None:
    """The weight of a normalization has the type of what is normalized."""
    if weight is not None and weight.dtype is not x.dtype:
        raise Refused(
            f"expected scalar type {scalar_name(x.dtype)} but found {scalar_name(weight.dtype)}"
        )


def rows_of_table(index: Tensor, weight: Tensor, *_: object, **__: object) -> None:
    """The indices of ``F.embedding``: where the rows are, and whole numbers of 32 or 64 bits."""
    if index.device is not weight.device:
        raise Refused(
            "Expected all tensors to be on the same device, but got index is on one device, "
            "different from other tensors on another"
        )
    if index.dtype not in (INT64, INT32):
        raise Refused(
            "Expected tensor for argument #1 'indices' to have one of the following scalar types: "
            f"Long, Int; but got torch.cuda.{scalar_name(index.dtype)}Tensor instead (while "
            "checking arguments for embedding)"
        )


def gathered(_x: Tensor, dim: int, index: Tensor) -> None:
    """The indices of ``gather``, along any ``dim``."""
    del dim
    if index.dtype not in (INT64, INT32):
        raise Refused("gather(): Expected dtype int32/int64 for index")


def joined(tensors: Sequence[Tensor], dim: int = 0) -> None:
    """Refuses tensors for ``cat`` that differ in another dimension; empty vectors are passed
    over."""
    first: Tensor | None = None
    along = normalized(dim, next((e for e in tensors if e.shape != (0,)), tensors[0]).ndim)
    for place, each in enumerate(tensors):
        if each.shape == (0,):
            continue
        if first is None:
            first = each
            continue
        if each.ndim != first.ndim:
            raise Refused(
                f"Tensors must have same number of dimensions: got {first.ndim} and {each.ndim}"
            )
        for axis, (size, other) in enumerate(zip(first.shape, each.shape, strict=True)):
            if axis != along and size != other:
                raise Refused(
                    f"Sizes of tensors must match except in dimension {along}. Expected size "
                    f"{size} but got size {other} for tensor number {place} in the list."
                )


def stacked(tensors: Sequence[Tensor], _dim: int = 0) -> None:
    """Refuses tensors for ``stack`` of several shapes."""
    for place, each in enumerate(tensors):
        if each.shape != tensors[0].shape:
            raise Refused(
                f"stack expects each tensor to be equal size, but got {sizes(tensors[0].shape)} "
                f"at entry 0 and {sizes(each.shape)} at entry {place}"
            )


def attended(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None) -> None:
    """The operands of ``F.scaled_dot_product_attention``, after autocast (sdp_utils.cpp and
    attention.cpp, ``validate_sdpa_input``)."""
    if not (q.dtype is k.dtype is v.dtype):
        one, two, three = (LOWER.get(each.dtype.name, "float") for each in (q, k, v))
        raise Refused(
            "Expected query, key, and value to have the same dtype, but got query.dtype: "
            f"{one} key.dtype: {two} and value.dtype: {three} instead."
        )
    if any(each.ndim < 2 for each in (q, k, v)):
        raise Refused(
            "Expected query, key, and value to all be  at least 2 dimensional, but got query.dim():"
            f" {q.ndim}, key.dim(): {k.ndim} and value.dim(): {v.ndim} instead."
        )
    if q.shape[-1] != k.shape[-1] or k.shape[-2] != v.shape[-2]:
        raise _unequal_batches(*_as_batches(q, k, v))
    if mask is None:
        return
    if mask.dtype is not BOOL and mask.dtype not in (q.dtype, FLOAT32):
        raise Refused(
            "Expected attn_mask dtype to be bool or float or to match query dtype, but got "
            f"attn_mask.dtype: {mask.dtype} and  query.dtype: {q.dtype} instead."
        )


def masked_once(mask: Tensor | None, *, causal: bool) -> None:
    """The kernel that is written out takes a mask or makes one."""
    if mask is not None and causal:
        raise Refused(
            "_scaled_dot_product_attention: Explicit attn_mask should not be set when "
            "is_causal=True"
        )


def _as_batches(q: Tensor, k: Tensor, v: Tensor) -> tuple[Shape, Shape]:
    """The shapes of the product that does not go: of queries and keys, else with the values."""
    if q.shape[-1] != k.shape[-1]:
        return (*q.shape[-3:-1], q.shape[-1]), (k.shape[-3], k.shape[-1], k.shape[-2])
    return (q.shape[-3], q.shape[-2], k.shape[-2]), v.shape[-3:]


def shared_heads(q: Tensor, k: Tensor, v: Tensor) -> None:
    """``enable_gqa``: the heads of keys and values divide those of queries."""
    heads = q.shape[-3], k.shape[-3], v.shape[-3]
    if heads[0] % heads[1] or heads[0] % heads[2]:
        raise Refused(
            "Number of heads in key and value must divide the number of heads in query"
            f" ({heads[0]}, {heads[1]}, {heads[2]})"
        )


def written_over(out: Dtype, result: Dtype) -> None:
    """A result of an operation in place is cast to the tensor that it is written to."""
    kinds = out.kind, result.kind
    if (kinds[1] == COMPLEX and kinds[0] != COMPLEX) or (
        kinds[1] >= FLOATING and kinds[0] < FLOATING
    ):
        raise Refused(
            f"result type {scalar_name(result)} can't be cast to the desired output type "
            f"{scalar_name(out)}"
        )


def without_gradient(x: Tensor) -> None:
    """``x.numpy()``."""
    if x.requires_grad:
        raise Refused(
            "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead."
        )


def of_one_shape(x: Tensor, target: Tensor) -> None:
    """The input and the target of a binary cross entropy."""
    if x.shape != target.shape:
        raise Refused(
            f"Target size (torch.Size({sizes(target.shape)})) must be the same as input size "
            f"(torch.Size({sizes(x.shape)}))",
            ValueError,
        )


def chosen_by(condition: Tensor, *_: object, **__: object) -> None:
    """The condition of ``where``."""
    if condition.dtype not in (BOOL, UINT8):
        raise Refused(
            "where expected condition to be a boolean tensor, but got a tensor with dtype "
            f"{scalar_name(condition.dtype)}"
        )


def masked_by(_x: Tensor, mask: Tensor, *_: object, **__: object) -> None:
    """The mask of ``masked_fill``."""
    if mask.dtype is not BOOL:
        raise Refused(
            f"masked_fill only supports boolean masks, but got dtype {scalar_name(mask.dtype)}"
        )
