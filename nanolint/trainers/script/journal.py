"""Changes that can be taken back: of two branches of which only one will run, both are followed."""

from __future__ import annotations

import dataclasses
from dataclasses import field
from typing import TYPE_CHECKING, Any

from nanolint.trainers.script.operations import merged

if TYPE_CHECKING:
    from nanolint.run.equation import NotKnown

_ABSENT: Any = object()
Changes = dict[tuple[int, object], tuple[dict[object, Any], Any]]


@dataclasses.dataclass(slots=True)
class Journal:
    """Every change of a dictionary that a name, an attribute or an item is kept in."""

    _written: list[tuple[dict[object, Any], object, Any]] = field(default_factory=list)

    def write(self, holder: dict[object, Any], key: object, value: Any) -> None:
        """Put ``value`` at ``key``."""
        self._written.append((holder, key, holder.get(key, _ABSENT)))
        holder[key] = value

    def delete(self, holder: dict[object, Any], key: object) -> None:
        """Take ``key`` out, if it is there."""
        if key in holder:
            self._written.append((holder, key, holder.pop(key)))

    def mark(self) -> int:
        """A point to which ``take_back`` returns."""
        return len(self._written)

    def last(self, mark: int) -> tuple[dict[object, Any], object, Any] | None:
        """The last change since ``mark``: its dictionary, its key, and what was there before."""
        return self._written[-1] if len(self._written) > mark else None

    def take_back(self, mark: int) -> Changes:
        """Undo all changes since ``mark``; what they were."""
        changes: Changes = {}
        for holder, key, before in reversed(self._written[mark:]):
            changes.setdefault((id(holder), key), (holder, holder.get(key, _ABSENT)))
            if before is _ABSENT:
                holder.pop(key, None)
            else:
                holder[key] = before
        del self._written[mark:]
        return changes

    def apply(self, changes: Changes) -> None:
        """Make changes again that were taken back."""
        for (_, key), (holder, value) in changes.items():
            if value is _ABSENT:
                self.delete(holder, key)
            else:
                self.write(holder, key, value)

    def apply_either(self, one: Changes, other: Changes, doubt: NotKnown) -> None:
        """Make the changes of one of two branches, whichever it will be."""
        for place in {**one, **other}:
            holder, _ = one.get(place) or other[place]
            before = holder.get(place[1], _ABSENT)
            left = one[place][1] if place in one else before
            right = other[place][1] if place in other else before
            value = _merged(left, right, doubt)
            if value is _ABSENT:
                self.delete(holder, place[1])
            else:
                self.write(holder, place[1], value)


def _merged(left: Any, right: Any, doubt: NotKnown) -> Any:
    if left is _ABSENT or right is _ABSENT:
        return right if left is _ABSENT else left
    if isinstance(left, tuple) and isinstance(right, tuple):  # the items of a list
        if len(left) != len(right):
            return max(left, right, key=len)
        return tuple(merged(one, other, doubt) for one, other in zip(left, right, strict=True))
    return merged(left, right, doubt)
