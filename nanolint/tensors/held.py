"""Whole numbers that a tensor is known to hold, and the tables that it looks up.

``torch.arange(4096)`` holds 4095, ``torch.full(size, 7)`` holds 7, and of ``randint(high, size)``
with many elements it is as good as certain that some are as large as they may be. What an operation
does not hand on is not known, and neither is what a program has written into.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from nanolint.tensors.dtypes import INT32, INT64
from nanolint.tensors.tensor import Tensor
from nanolint.tensors.unknown import Refused

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

NEVER = 1e-9  # a chance that is none


class Drawn(NamedTuple):
    """Numbers by chance, from ``low`` to below ``high``."""

    low: int
    high: int


class Beyond(Exception):
    """An index that a table does not have; ``words`` are the host's."""

    def __init__(self, index: Tensor, number: int, rows: int, words: str) -> None:
        super().__init__(words)
        self.device, self.number, self.rows = index.device, number, rows

    def refused(self, host: object) -> Refused:
        """Returns the exception of PyTorch, there or on a card."""
        if self.device is host:
            return Refused(str(self), IndexError)
        where = f"index {self.number} of a table of {self.rows} rows"
        return Refused(f"CUDA error: device-side assert triggered ({where})", of_index=True)


Held: TypeAlias = "range | Drawn | None"  # a range lies along the last dimension

SAME = frozenset(
    {
        *("view", "reshape", "flatten", "unsqueeze", "squeeze", "contiguous", "to", "long", "int"),
        *("cuda", "cpu", "clone", "detach", "view_as", "type", "pin_memory", "data"),
    }
)
COPIES = frozenset({"expand", "expand_as", "broadcast_to", "repeat"})  # a number stands often
MAKES = frozenset({"arange", "full", "full_like", "new_full"})
SHIFTS = {"__add__": 1, "__radd__": 1, "add": 1, "__sub__": -1, "sub": -1}
LOOKS_UP = frozenset({"embedding", "cross_entropy", "nll_loss", "__getitem__"})
FOLLOWED = frozenset({*SAME, *COPIES, *MAKES, *SHIFTS, "__getitem__"})


def of(x: object) -> Held:
    """The numbers that a tensor holds."""
    if not isinstance(x, Tensor) or (x.storage is not None and x.storage.changed):
        return None
    found: Held = x.held
    return found


def follow(name: str, made: object, given: Sequence[Any], named: Mapping[str, Any]) -> None:
    """Note what the result of an operation holds."""
    if isinstance(made, Tensor) and made.dtype in (INT64, INT32) and made.numel:
        found = _made(name, given, named) if name in MAKES else _handed_on(name, given, named)
        is_along = type(found) is range and len(found) in (1, *made.shape[-1:])
        made.held = found if is_along or type(found) is Drawn else None


def _made(name: str, given: Sequence[Any], named: Mapping[str, Any]) -> Held:
    numbers = [each for each in given if type(each) is int]
    if name == "arange":
        ends = named.get("start", 0), named.get("end"), named.get("step", 1)
        bounds: list[Any] = [*(numbers or ends)]
        whole = len(numbers) == len(given) and all(type(each) is int for each in bounds)
        return range(*bounds) if whole and len(bounds) <= 3 and 0 not in bounds[2:] else None
    value = named.get("fill_value", given[-1] if len(given) > 1 else None)
    return range(value, value + 1) if type(value) is int else None


def _handed_on(name: str, given: Sequence[Any], named: Mapping[str, Any]) -> Held:
    held = of(given[0]) if given else None
    if held is None or name in SAME:
        return held
    if name in COPIES:  # of numbers by chance there are fewer then than the tensor has elements
        return None if isinstance(held, Drawn) else held
    if name in SHIFTS:
        by = given[1] if len(given) == 2 and not named else None
        if type(by) is not int:
            return None
        by *= SHIFTS[name]
        if isinstance(held, Drawn):
            return Drawn(held.low + by, held.high + by)
        return range(held.start + by, held.stop + by, held.step)
    index = given[1] if type(given[1]) is tuple else (given[1],)
    if any(type(each) not in (int, slice, type(None), type(...)) for each in index):
        return None
    last = [each for each in index if each is not None]
    if isinstance(held, Drawn) or len(held) == 1 or not last:
        return held
    part = last[-1]
    if part is ... or (len(last) < given[0].ndim and ... not in last):
        return held
    if isinstance(part, int):
        return range(held[part], held[part] + 1)
    ends = part.start, part.stop, part.step
    return held[part] if all(type(each) in (int, type(None)) for each in ends) else None


def look_up(name: str, given: Sequence[Any], named: Mapping[str, Any]) -> None:
    """Raises Beyond for what looks up numbers beyond the rows that there are."""
    if name == "embedding" or name == "nll_loss" or name == "cross_entropy":
        first = given[0] if given else named.get("input")
        other = "weight" if name == "embedding" else "target"
        second = given[1] if len(given) > 1 else named.get(other)
        if not isinstance(first, Tensor) or not isinstance(second, Tensor):
            return
        if name == "embedding":
            _within(first, second.shape[0], "index out of range in self")
        elif first.ndim and second.dtype is INT64:
            classes = first.shape[min(1, first.ndim - 1)]
            ignored = named.get("ignore_index", given[4] if len(given) > 4 else -100)
            _within(second, classes, "Target {number} is out of bounds.", ignored)
    elif name == "__getitem__" and isinstance(given[1], Tensor) and given[0].ndim:
        rows = given[0].shape[0]
        words = f"index {{number}} is out of bounds for dimension 0 with size {rows}"
        _within(given[1], rows, words, wraps=True)


def _within(
    index: Tensor, rows: int, words: str, ignored: object = None, *, wraps: bool = False
) -> None:
    held = of(index)
    if held is None or type(rows) is not int:
        return
    least = -rows if wraps else 0
    if isinstance(held, Drawn):
        inside = max(0, min(held.high, rows) - max(held.low, least))
        if type(ignored) is int and held.low <= ignored < held.high and not least <= ignored < rows:
            inside += 1
        if (inside / max(1, held.high - held.low)) ** index.numel >= NEVER:
            return
        number = held.high - 1 if held.high > rows else held.low
    else:
        ends = [each for each in (held[-1], held[0]) if each != ignored]
        beyond = [each for each in ends if not least <= each < rows]
        if not beyond:
            return
        number = beyond[0]
    raise Beyond(index, number, rows, words.format(number=number))
