"""The package einops: a reshape, a permutation, a reduction or a repetition, and a reshape.

As ``_apply_recipe`` of einops/einops.py has it; sizes of a group but one are named.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, TypeAlias

from nanolint.regex import lazily
from nanolint.tensors.ops.einsum import einsum as by_letters
from nanolint.tensors.ops.reductions import amax, amin, mean
from nanolint.tensors.ops.reductions import sum as total
from nanolint.tensors.ops.views import expand, permute, reshape, unsqueeze
from nanolint.tensors.unknown import NotModelled

if TYPE_CHECKING:
    from nanolint.tensors.tensor import Tensor

Groups: TypeAlias = "list[tuple[str, ...]]"  # the names of each dimension, () for one of size 1
REDUCTIONS = {"sum": total, "mean": mean, "max": amax, "min": amin}
WORD = lazily(r"\(([^()]*)\)|(\S+)")
LETTERS = "abcdefghijklmnopqrstuvwxyz"


def rearrange(x: Tensor, /, pattern: str, **sizes: int) -> Tensor:
    """``einops.rearrange``."""
    return repeat(x, pattern, **sizes)


def repeat(x: Tensor, /, pattern: str, **sizes: int) -> Tensor:
    """``einops.repeat``: names that are on the right alone are new dimensions."""
    left, right = _sides(x, pattern)
    found, known = _apart(x, left, sizes)
    order = [each for group in left for each in group]
    wanted = [each for group in right for each in group]
    found = permute(found, [order.index(each) for each in wanted if each in order])
    for place, each in enumerate(wanted):
        if each not in order:
            found = unsqueeze(found, place)
    shape = tuple(known[each] for each in wanted)
    if found.shape != shape:
        found = expand(found, shape)
    return _together(found, right, known)


def reduce(x: Tensor, /, pattern: str, reduction: str, **sizes: int) -> Tensor:
    """``einops.reduce``: names that are on the left alone are summed over, or their like."""
    if reduction not in REDUCTIONS:
        raise NotModelled(f"einops.reduce by {reduction!r}")
    left, right = _sides(x, pattern)
    found, known = _apart(x, left, sizes)
    order = [each for group in left for each in group]
    wanted = [each for group in right for each in group]
    gone = [each for each in order if each not in wanted]
    found = permute(found, [order.index(each) for each in (*wanted, *gone)])
    if gone:
        over = tuple(range(len(wanted), len(order)))
        found = REDUCTIONS[reduction](found, over)
    return _together(found, right, known)


def einsum(*given: Tensor | str) -> Tensor:
    """``einops.einsum``: ``torch.einsum`` whose names are words, the pattern last."""
    tensors = [each for each in given if not isinstance(each, str)]
    pattern = given[-1]
    assert isinstance(pattern, str)
    names: dict[str, str] = {"...": "..."}

    def short(side: str) -> str:
        return "".join(names.setdefault(each, LETTERS[len(names) - 1]) for each in side.split())

    left, _, right = pattern.partition("->")
    equation = ",".join(map(short, left.split(","))) + "->" + short(right)
    return by_letters(equation, *tensors)


def _sides(x: Tensor, pattern: str) -> tuple[Groups, Groups]:
    left, _, right = pattern.partition("->")
    named = len([each for each in WORD.findall(left) if each[1] != "..."])
    rest = tuple(f"...{number}" for number in range(x.ndim - named))
    return _groups(left, rest), _groups(right, rest)


def _groups(side: str, rest: tuple[str, ...]) -> Groups:
    found: Groups = []
    for inside, word in WORD.findall(side):
        if word == "...":
            found += [(each,) for each in rest]
        elif word.isdigit() or any(each.isdigit() and each != "1" for each in inside.split()):
            if word != "1":
                raise NotModelled("numbers in a pattern of einops")
            found.append(())
        elif word:
            found.append((word,))
        else:
            names = [each for each in inside.split() if each != "1"]
            at = names.index("...") if "..." in names else None
            found.append(tuple(names if at is None else [*names[:at], *rest, *names[at + 1 :]]))
    return found


def _apart(x: Tensor, groups: Groups, sizes: dict[str, int]) -> tuple[Tensor, dict[str, int]]:
    """Each name a dimension, and the sizes of all of them."""
    known = dict(sizes)
    if len(groups) != x.ndim:
        raise ValueError(f"a pattern of {len(groups)} dimensions for {x.ndim}")
    for size, group in zip(x.shape, groups, strict=True):
        open_ = [each for each in group if each not in known]
        if len(open_) == 1:
            known[open_[0]] = size // prod(known[each] for each in group if each in known)
        if len(open_) > 1 or prod(known[each] for each in group) != size:
            raise ValueError(f"a dimension of {size} is not {' '.join(group)}")
    shape = tuple(known[each] for group in groups for each in group)
    return (x if shape == x.shape else reshape(x, shape)), known


def _together(x: Tensor, groups: Groups, known: dict[str, int]) -> Tensor:
    shape = tuple(prod(known[each] for each in group) for group in groups)
    return x if shape == x.shape else reshape(x, shape)
