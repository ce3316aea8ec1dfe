"""Whole numbers that a tensor is known to hold, and the tables that it looks up.

``torch.arange(4096)`` holds 4095, ``torch.full(size, 7)`` holds 7, and of ``randint(high, size)``
with many elements it is as good as certain that some are as large as they may be. What an operation
does not hand on is not known, and neither is what a program has written into.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from nanolint.tape.symbolic import Symbolic, answer, bounds, plain
from nanolint.tensors.dtypes import INT32, INT64
from nanolint.tensors.tensor import Tensor
from nanolint.tensors.unknown import Refused

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

NEVER = 1e-9  # a chance that is none


class Held(NamedTuple):
    """Whole numbers from ``low`` to below ``high``: each once along the last dimension, one
    everywhere, or any by chance. The bounds may be symbolic."""

    low: Any
    high: Any
    by_chance: bool = False


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


def of(x: object) -> Held | None:
    """The numbers that a tensor holds."""
    if not isinstance(x, Tensor) or (x.storage is not None and x.storage.changed):
        return None
    found: Held | None = x.held
    return found


def drawn(low: object, high: object) -> Held | None:
    """Numbers by chance between bounds that are known."""
    return Held(low, high, by_chance=True) if _are_known(low, high) else None


def follow(name: str, made: object, given: Sequence[Any], named: Mapping[str, Any]) -> None:
    """Note what the result of an operation holds."""
    if isinstance(made, Tensor) and made.dtype in (INT64, INT32) and made.numel:
        found = _made(name, given, named) if name in MAKES else _handed_on(name, given, named)
        if found is not None and not found.by_chance:
            count = found.high - found.low
            if count != 1 and (not made.shape or count != made.shape[-1]):
                found = None
        made.held = found


def _are_known(*numbers: object) -> bool:
    return all(type(each) in (int, Symbolic) for each in numbers)


def _made(name: str, given: Sequence[Any], named: Mapping[str, Any]) -> Held | None:
    if name == "arange":
        ends = given or (named.get("start", 0), named.get("end"), named.get("step", 1))
        low, high, step = (0, *ends, 1) if len(ends) == 1 else (*ends, 1)[:3]
        return Held(low, high) if _are_known(low, high) and step == 1 else None
    value = named.get("fill_value", given[-1] if len(given) > 1 else None)
    return Held(value, value + 1) if _are_known(value) else None


def _handed_on(name: str, given: Sequence[Any], named: Mapping[str, Any]) -> Held | None:
    held = of(given[0]) if given else None
    if held is None or name in SAME:
        return held
    if name in COPIES:  # of numbers by chance there are fewer then than the tensor has elements
        return None if held.by_chance else held
    if name in SHIFTS:
        if len(given) != 2 or named or not _are_known(given[1]):
            return None
        by = given[1] * SHIFTS[name]
        return held._replace(low=held.low + by, high=held.high + by)
    index = given[1] if type(given[1]) is tuple else (given[1],)
    if any(type(each) not in (int, Symbolic, slice, type(None), type(...)) for each in index):
        return None
    last = [each for each in index if each is not None]
    if held.by_chance or not last or last[-1] is ...:
        return held
    if len(last) < given[0].ndim and ... not in last:
        return held
    return _part(held, last[-1])


def _part(held: Held, part: Any) -> Held | None:
    """The numbers that an index or a slice along the last dimension leaves."""
    if held.high - held.low == 1:
        return held
    if type(part) is not slice:
        number = part + (held.low if part >= 0 else held.high)
        return Held(number, number + 1)
    if not all(each is None or _are_known(each) for each in (part.start, part.stop, part.step)):
        return None
    start, stop, step = bounds(part, held.high - held.low)
    return Held(held.low + start, held.low + stop) if step == 1 else None


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
        words = f"index {{number}} is out of bounds for dimension 0 with size {plain(rows)}"
        _within(given[1], rows, words, wraps=True)


def _within(
    index: Tensor, rows: Any, words: str, ignored: object = None, *, wraps: bool = False
) -> None:
    held = of(index)
    if held is None or not _are_known(rows):
        return
    least = -rows if wraps else 0
    if answer(_is_beyond, [*held, least, rows, index.numel, ignored]):
        low, high, rows, least = map(plain, (held.low, held.high, rows, least))
        number = high - 1 if high > rows else low
        raise Beyond(index, number, rows, words.format(number=number))


def _is_beyond(numbers: list[Any]) -> bool:
    """Whether some of the numbers that are held, except the ignored one, are not in the table."""
    low, high, by_chance, least, rows, count, ignored = numbers
    if by_chance:
        inside = max(0, min(high, rows) - max(low, least))
        if type(ignored) is int and low <= ignored < high and not least <= ignored < rows:
            inside += 1
        return bool((inside / max(1, high - low)) ** count < NEVER)
    return any(not least <= each < rows for each in (low, high - 1) if each != ignored)
