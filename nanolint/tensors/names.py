"""PyTorch's names for the operations: the functions for ``torch.rsqrt``, ``F.silu``, ``x.view``.

The functions take PyTorch's own arguments, with two differences: the first tensor is called ``x``
and not ``input`` or ``self``, and a function that makes a new tensor takes its ``device``.
``call`` translates both. Functions raise DataDependent and NotModelled
(``nanolint/tensors/unknown.py``), and ValueError if shapes do not go together.
"""

from __future__ import annotations

from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeAlias

from nanolint.tensors.dtypes import DTYPES
from nanolint.tensors.ops import (
    activations,
    attention,
    comparison,
    complex,
    conversion,
    convolution,
    creation,
    draws,
    einops,
    einsum,
    embedding,
    indexing,
    inplace,
    joining,
    linear,
    linear_cross_entropy,
    loss,
    normalization,
    parts,
    pointwise,
    reductions,
    registry,
    scans,
    sorting,
    unary,
    views,
    windows,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

    from nanolint.tensors.device import Device

Function: TypeAlias = "Callable[..., Any]"


def _later(family: str, names: str) -> dict[str, Function]:
    """Functions of a family that few models need, which is imported with the first call."""
    place = f"nanolint.tensors.ops.{family}"

    def of(name: str) -> Function:
        return lambda *args, **options: getattr(import_module(place), name)(*args, **options)

    return {name: of(name) for name in names.split()}


def _own(module: ModuleType, names: str) -> dict[str, Function]:
    """Functions by the names that they have themselves, which are PyTorch's."""
    return {name: getattr(module, name) for name in names.split()}


def _in_place(names: str) -> dict[str, Function]:
    """The operations in place that no backward pass goes through, by PyTorch's names."""
    return {f"{name}_": inplace.quietly_as(EITHER[name]) for name in names.split()}


def _each(function: Function, names: str) -> dict[str, Function]:
    """One function by several names, told of which operation."""
    ops = {name: getattr(registry, name.strip("_").upper()) for name in names.split()}
    return {name: partial(function, op=op) for name, op in ops.items()}


# torch.NAME(x, ...) and x.NAME(...).
EITHER: dict[str, Function] = {
    **_own(pointwise, "add sub rsub mul div floor_divide neg lerp addcmul"),
    **_each(pointwise.extremum, "maximum minimum"),
    **_each(pointwise.remainder, "remainder fmod"),
    **_own(comparison, "bitwise_not masked_fill where clamp clamp_min clamp_max tril triu"),
    **_own(comparison, "isinf isfinite"),
    **_own(unary, "exp exp2 expm1 log log1p logaddexp sqrt rsqrt reciprocal sin cos tan abs"),
    **_own(unary, "logit asin acos atan atan2 atanh round pow square nan_to_num"),
    **_each(unary.error, "erf erfc"),
    **_each(unary.hyperbolic, "sinh cosh"),
    **_each(unary.inverse_hyperbolic, "asinh acosh"),
    **_each(unary.logarithm, "log2 log10"),
    **_each(unary.in_steps, "sign floor ceil trunc"),
    **_own(activations, "sigmoid tanh relu"),
    **_own(reductions, "sum mean amax amin prod logsumexp any all norm"),
    **_own(reductions, "var std var_mean count_nonzero"),
    **_own(scans, "cumsum cumprod"),
    **_own(sorting, "topk sort argsort max min argmax argmin multinomial bincount cummax cummin"),
    "kthvalue": sorting.kthvalue,
    **_own(views, "reshape flatten unflatten transpose t permute unsqueeze squeeze movedim detach"),
    **_own(parts, "narrow select split chunk unbind diagonal as_strided"),
    **_own(joining, "tile repeat_interleave roll flip"),
    **_own(indexing, "gather index_select scatter scatter_add index_add index_copy take_along_dim"),
    **_own(indexing, "masked_select nonzero unique"),
    "unique_consecutive": indexing.unique,
    "argwhere": indexing.nonzero,
    **_own(linear, "matmul mm bmm addmm baddbmm outer inner dot"),
    **_own(loss, "softmax log_softmax"),
    **_each(comparison.compare, "eq ne lt le gt ge logical_and logical_or logical_xor"),
    **_each(comparison.bitwise, "bitwise_and bitwise_or bitwise_xor"),
    **_each(comparison.check, "logical_not isnan isneginf isposinf"),
    "subtract": pointwise.sub,
    "multiply": pointwise.mul,
    **dict.fromkeys(("divide", "true_divide"), pointwise.div),
    "negative": pointwise.neg,
    "clip": comparison.clamp,
    "clone": conversion.clone,
    **dict.fromkeys(("swapaxes", "swapdims"), views.transpose),
    "ger": linear.outer,
    "bernoulli": draws.bernoulli,
    "concat": joining.cat,
    "moveaxis": views.movedim,
    "absolute": unary.abs,
}
for _name in ("sin", "cos", "tan", "tan2", "sinh", "cosh", "tanh"):
    EITHER[f"arc{_name}"] = EITHER[f"a{_name}"]

# torch.NAME that are no methods; those in MAKERS want to be told a device.
MAKERS: dict[str, Function] = {
    **_own(creation, "zeros full arange linspace eye randint randperm normal tensor"),
    **_own(creation, "tril_indices triu_indices"),
    "ones": partial(creation.zeros, fill_value=1),
    "empty": partial(creation.zeros, fill_value=None),
    **dict.fromkeys(("rand", "randn"), creation.rand),
    "logspace": creation.linspace,
    **dict.fromkeys(("hann_window", "hamming_window"), windows.hann_window),
    "as_tensor": creation.tensor,
}
FUNCTIONS: dict[str, Function] = {
    **EITHER,
    **MAKERS,
    **_own(joining, "cat stack hstack vstack meshgrid diff"),
    "broadcast_to": views.expand,
    "row_stack": joining.vstack,
    **_own(complex, "view_as_complex view_as_real polar complex real"),
    "concatenate": joining.cat,
    "imag": complex.real,
    "einsum": einsum.einsum,
    "tensordot": linear.tensordot,
    "mv": linear.matmul,
    **_own(creation, "zeros_like full_like randint_like"),
    "ones_like": partial(creation.zeros_like, fill_value=1),
    "empty_like": partial(creation.zeros_like, fill_value=None),
    **dict.fromkeys(("rand_like", "randn_like"), creation.rand_like),
    "_scaled_mm": linear.scaled_mm,
    **_own(activations, "dropout prelu"),
    "rms_norm": normalization.rms_norm,
    "embedding": embedding.embedding,
}

# einops.NAME.
EINOPS: dict[str, Function] = _own(einops, "rearrange repeat reduce einsum")

# torch.linalg.NAME.
LINALG = {"vector_norm": reductions.vector_norm, "norm": reductions.linalg_norm}

# torch.nn.functional.NAME.
FUNCTIONAL: dict[str, Function] = {
    **_own(activations, "gelu softplus relu sigmoid tanh leaky_relu elu hardtanh"),
    **_each(activations.smooth, "silu mish"),
    **_own(activations, "hardswish hardsigmoid selu softsign threshold logsigmoid glu"),
    **_own(loss, "l1_loss kl_div binary_cross_entropy binary_cross_entropy_with_logits"),
    **_own(activations, "celu prelu dropout"),
    **_own(loss, "softmin gumbel_softmax softmax log_softmax cosine_similarity cross_entropy"),
    **_own(loss, "nll_loss mse_loss smooth_l1_loss huber_loss"),
    **_own(linear_cross_entropy, "linear_cross_entropy"),
    **_own(normalization, "layer_norm rms_norm batch_norm group_norm"),
    **_own(attention, "scaled_dot_product_attention"),
    "embedding": embedding.embedding,
    "linear": linear.linear,
    "pad": joining.pad,
    "one_hot": sorting.one_hot,
    "normalize": reductions.normalize,
    **_own(convolution, "conv1d conv2d conv_transpose2d"),
    **_later("pooling", "max_pool2d avg_pool2d adaptive_avg_pool2d adaptive_max_pool2d"),
    **_later("pooling", "interpolate dropout2d"),
    "relu6": activations.hardtanh,
}

# x.NAME(), each with the type that it makes.
CASTS = {
    "bool": "bool",
    "byte": "uint8",
    "int": "int32",
    "long": "int64",
    "half": "float16",
    "bfloat16": "bfloat16",
    "float": "float32",
    "double": "float64",
}

# x.NAME(...).
METHODS: dict[str, Function] = {
    **EITHER,
    **_own(views, "expand contiguous expand_as view_as reshape_as"),
    "unfold": parts.unfold,
    **_own(joining, "repeat diff"),
    **_own(conversion, "view to type_as"),
    **{name: partial(views.cast, dtype=DTYPES[dtype]) for name, dtype in CASTS.items()},
    **_own(creation, "new_zeros new_full new_tensor"),
    "new_ones": partial(creation.new_zeros, fill_value=1),
    "new_empty": partial(creation.new_zeros, fill_value=None),
    **_own(inplace, "copy_ fill_ zero_ add_ sub_ mul_ div_ masked_fill_ addmm_ clamp_ relu_ lerp_"),
    **_own(inplace, "clamp_min_ clamp_max_"),
    **_own(inplace, "scatter_ scatter_add_ index_add_ index_copy_ index_put_"),
    "clip_": inplace.clamp_,
    "mv": linear.matmul,
    "broadcast_to": views.expand,
    "where": comparison.chosen,
    **_own(draws, "bernoulli_ normal_"),
    **{each: partial(draws.drawn_, how=each) for each in ("uniform_", "random_", "trunc_normal_")},
    **_in_place("exp sqrt rsqrt reciprocal abs sign pow square floor round neg"),
    **_in_place("tanh sigmoid tril triu"),
    **dict.fromkeys(["addcmul_", "addcdiv_", "index_fill_", "fill_diagonal_"], inplace.quietly),
    "type": conversion.to,
    "logsigmoid": activations.logsigmoid,
    **{f"__{name}__": EITHER[name] for name in ("add", "sub", "mul", "neg", "abs", "pow")},
    **{f"__r{name}__": getattr(pointwise, name) for name in ("add", "mul")},
    **{f"__i{name}__": getattr(inplace, f"{name}_") for name in ("add", "sub", "mul")},
    "__matmul__": linear.matmul,
    "__rsub__": pointwise.rsub,
    "__truediv__": pointwise.div,
    "__rtruediv__": unary.rdiv,
    "__itruediv__": inplace.div_,
    "__floordiv__": pointwise.floor_divide,
    "__mod__": pointwise.remainder,
    "__rpow__": unary.rpow,
    "__invert__": comparison.bitwise_not,
    **_each(comparison.compare, "__eq__ __ne__ __lt__ __le__ __gt__ __ge__"),
    **{f"__{name}__": EITHER[f"bitwise_{name}"] for name in ("and", "or", "xor")},
    **{f"__r{name}__": EITHER[f"bitwise_{name}"] for name in ("and", "or", "xor")},
    "__getitem__": indexing.getitem,
    "__iter__": lambda x: iter(parts.unbind(x)),
    "__len__": lambda x: x.shape[0],
    "__setitem__": inplace.setitem,
}

# x.NAME, without a call.
ATTRIBUTES: dict[str, Function] = {
    "T": views.reversed_dimensions,
    "mT": views.last_swapped,
    "data": views.detach,
    "real": complex.real,
    "imag": complex.real,
    "shape": lambda x: x.shape,
    "dtype": lambda x: x.dtype,
    "device": lambda x: x.device,
    "ndim": lambda x: x.ndim,
    "nbytes": lambda x: x.nbytes,
    "itemsize": lambda x: x.dtype.itemsize,
    "requires_grad": lambda x: x.requires_grad,
}

# x.NAME() of what is known without values.
KNOWN: dict[str, Function] = {
    "size": lambda x, dim=None: x.shape if dim is None else x.shape[dim],
    "dim": lambda x: x.ndim,
    "numel": lambda x: x.numel,
    "nelement": lambda x: x.numel,
    "element_size": lambda x: x.dtype.itemsize,
    "stride": lambda x, dim=None: x.strides if dim is None else x.strides[dim],
    "is_contiguous": lambda x: x.is_contiguous,
    "is_floating_point": lambda x: x.dtype.is_differentiable,
}
METHODS |= KNOWN


def call(function: Function, args: tuple[Any, ...], options: dict[str, Any], device: Device) -> Any:
    """Returns the result of a function of the tables; new tensors lie on ``device``.

    >>> call(FUNCTIONAL["silu"], (), {"input": x}, x.device)  # doctest: +SKIP
    """
    args, options = worded(function, args, options)
    if function in _MAKERS and options.get("device") is None:
        options = {**options, "device": device}
    return function(*args, **options)


_MAKERS = frozenset(MAKERS.values())


FIRST = ("input", "self", "tensor", "a")  # what the first tensor is called, which is ``x`` here

# Of every function, and of some; NumPy's words are among them, which PyTorch takes as well.
ANY = {"axis": "dim", "keepdims": "keepdim"}
OWN: dict[Callable[..., Any], dict[str, str]] = {
    comparison.where: {"input": "x", "self": "x"},
    linear.tensordot: {"b": "other"},
    parts.split: {"split_size": "split_size_or_sections"},
    sorting.max: {"other": "dim"},
    sorting.min: {"other": "dim"},
    views.transpose: {"axis0": "dim0", "axis1": "dim1"},
}

# What may be given number by number, and by its name as one.
SIZES: dict[Callable[..., Any], str] = {
    joining.flip: "dims",
    joining.repeat: "repeats",
    joining.tile: "dims",
    views.expand: "size",
    views.permute: "dims",
    views.reshape: "shape",
    conversion.view: "size",
}

# What says which values there are, and of how many bytes nothing.
OF_VALUES: dict[Function, tuple[str, ...]] = {unary.nan_to_num: ("posinf", "neginf")}

# Whose words are the caller's own.
NAMING = frozenset({einops.rearrange, einops.reduce, einops.repeat})


def worded(
    function: Callable[..., Any], args: tuple[Any, ...], options: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of ``function`` in its own words.

    >>> worded(views.permute, (), {"input": x, "dims": (1, 0)})  # doctest: +SKIP
    ((x, (1, 0)), {})
    """
    if not options or function in NAMING:
        return args, options
    own = OWN.get(function, {})
    left = {
        own.get(name, ANY.get(name, name)): value
        for name, value in options.items()
        if not (name in ANY and value is None)
    }
    for name in FIRST:
        if name in left:
            args = (left.pop(name), *args)
    if SIZES.get(function) in left:
        args = (*args, left.pop(SIZES[function]))
    for name in OF_VALUES.get(function, ()):
        left.pop(name, None)
    if function is indexing.gather and left.get("sparse_grad") is False:
        del left["sparse_grad"]
    return args, left
