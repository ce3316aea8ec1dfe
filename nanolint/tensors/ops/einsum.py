"""``torch.einsum`` (aten/src/ATen/native/Linear.cpp, ``einsum`` and ``sumproduct_pair``)."""

from __future__ import annotations

from math import prod
from string import ascii_letters
from typing import TYPE_CHECKING

from nanolint.tensors.ops.conversion import to_half
from nanolint.tensors.ops.linear import bmm
from nanolint.tensors.ops.parts import diagonal
from nanolint.tensors.ops.pointwise import mul
from nanolint.tensors.ops.reductions import sum
from nanolint.tensors.ops.views import movedim, permute, reshape, unsqueeze, view
from nanolint.tensors.tensor import Tensor
from nanolint.tensors.unknown import NotModelled

if TYPE_CHECKING:
    from collections.abc import Sequence


def einsum(equation: str, *operands: Tensor | Sequence[Tensor]) -> Tensor:
    """``torch.einsum``: the operands are contracted from left to right."""
    tensors = [
        each for one in operands for each in ([one] if isinstance(one, Tensor) else list(one))
    ]
    tensors = [to_half(each) for each in tensors]
    equation = equation.replace(" ", "")
    if "." in equation:
        equation = _spelled(equation, tensors)
    left, _, right = equation.partition("->")
    terms = left.split(",")
    if "->" not in equation:
        counted = left.replace(",", "")
        right = "".join(sorted(each for each in set(counted) if counted.count(each) == 1))
    inner = sorted(set(left) - set(right) - {","})
    letters = list(right) + inner
    pieces = [_aligned(each, term, letters) for each, term in zip(tensors, terms, strict=True)]
    if len(pieces) == 1:
        return _summed(pieces[0], range(len(right), len(letters))) if inner else pieces[0]
    counts = {
        dim: [each.shape[dim] != 1 for each in pieces].count(True)
        for dim in range(len(right), len(letters))
    }
    found = pieces[0]
    for piece in pieces[1:]:
        found = _next(found, piece, counts)
    if inner:
        found = view(found, found.shape[: len(right)])
    return found


def _spelled(equation: str, tensors: Sequence[Tensor]) -> str:
    """The equation with letters for the dimensions of each ellipsis, which are matched from behind.

    Raises NotModelled where the result is not said.
    """
    left, arrow, right = equation.partition("->")
    if not arrow:
        raise NotModelled("einsum with an ellipsis and no result")
    unused = [each for each in ascii_letters if each not in equation]
    terms = left.split(",")
    counts = [
        each.ndim - len(term.replace("...", "")) if "..." in term else 0
        for each, term in zip(tensors, terms, strict=True)
    ]
    letters = "".join(unused[: max(counts)])
    spelled = [
        term.replace("...", letters[len(letters) - count :])
        for term, count in zip(terms, counts, strict=True)
    ]
    return f"{','.join(spelled)}->{right.replace('...', letters)}"


def _aligned(x: Tensor, term: str, letters: Sequence[str]) -> Tensor:
    """One dimension for each letter, of one element where ``x`` has none."""
    found, names = x, term
    for letter in term:
        while names.count(letter) > 1:
            first, second = names.index(letter), names.rindex(letter)
            found = movedim(diagonal(found, 0, first, second), -1, first)
            names = names[:second] + names[second + 1 :]
    for letter in letters:
        if letter not in names:
            found, names = unsqueeze(found, found.ndim), names + letter
    return permute(found, [names.index(each) for each in letters])


def _next(x: Tensor, y: Tensor, counts: dict[int, int]) -> Tensor:
    """The product of two, summed where no other operand has more than one element; ``counts`` are
    the operands that have."""
    both: list[int] = []
    alone: tuple[list[int], list[int]] = [], []
    for dim, count in counts.items():
        wide = x.shape[dim] != 1, y.shape[dim] != 1
        if all(wide):
            counts[dim] -= 1
            if counts[dim] == 1:
                both.append(dim)
                counts[dim] = 0
        elif count == 1 and any(wide):
            alone[wide.index(True)].append(dim)
            counts[dim] = 0
    first, second = (
        _summed(each, dims, keepdim=True) if dims else each
        for each, dims in zip((x, y), alone, strict=True)
    )
    return _contracted(first, second, both)


def _summed(x: Tensor, dims: Sequence[int], *, keepdim: bool = False) -> Tensor:
    """As it is summed where autocast was left behind: in its own type."""
    return sum(x, list(dims), keepdim, dtype=x.dtype)


def _contracted(x: Tensor, y: Tensor, dims: Sequence[int]) -> Tensor:
    """``sumproduct_pair``: a batched product; of elements where nothing is summed."""
    if not dims:
        return mul(x, y)
    both: list[int] = []
    of_x: list[int] = []
    of_y: list[int] = []
    for dim, (one, other) in enumerate(zip(x.shape, y.shape, strict=True)):
        if dim in dims:
            continue
        if one != 1 and other != 1:
            both.append(dim)
        elif one != 1:
            of_x.append(dim)
        else:
            of_y.append(dim)
    first, second = x, y
    if of_x and of_y and of_y[-1] < of_x[0]:  # then the result lies in order
        first, second, of_x, of_y = y, x, of_y, of_x
    summed = sorted(dims)
    sizes = [prod(first.shape[dim] for dim in each) for each in (both, of_x, summed)]
    columns = prod(second.shape[dim] for dim in of_y)
    left = reshape(permute(first, (*both, *of_x, *summed, *of_y)), sizes)
    right = reshape(permute(second, (*both, *summed, *of_y, *of_x)), (sizes[0], sizes[2], columns))
    product = bmm(left, right)
    shape = (
        *(first.shape[dim] for dim in (*both, *of_x)),
        *(1 for _ in summed),
        *(second.shape[dim] for dim in of_y),
    )
    order = (*both, *of_x, *summed, *of_y)
    return permute(view(product, shape), [order.index(dim) for dim in range(x.ndim)])
