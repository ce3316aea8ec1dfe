"""Arguments by the names that PyTorch gives them, brought to those that the operations take."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nanolint.tensors.ops import (
    comparison,
    conversion,
    einops,
    indexing,
    joining,
    linear,
    parts,
    sorting,
    unary,
    views,
)

if TYPE_CHECKING:
    from collections.abc import Callable

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
OF_VALUES: dict[Callable[..., Any], tuple[str, ...]] = {
    unary.nan_to_num: ("posinf", "neginf"),
}

NAMING = frozenset(
    {einops.rearrange, einops.reduce, einops.repeat}
)  # whose words are the caller's own


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
