"""Attributes that a compiled function sets on objects that are there before it.

What is left on one when the function ends is handed out by its graph, behind what it returns, and
set again at the end of each call (torch/_dynamo/side_effects.py, ``codegen_update_mutated``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from nanolint.inductor.derive.results import filled, flat, hollow
from nanolint.tensors.device import NotTraced
from nanolint.tensors.tensor import Tensor

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

_MISSING = object()


class Attributes:
    """What is set while a function is traced, in the order of the first time."""

    def __init__(self) -> None:
        self._bound: dict[tuple[int, str], tuple[dict[str, Any], Any]] = {}
        self._created: dict[int, dict[str, Any]] = {}

    def create(self, names: dict[str, Any]) -> None:
        """The attributes of an object that the function makes: nobody else sees them."""
        self._created[id(names)] = names

    def creates(self, names: dict[str, Any]) -> bool:
        """Whether they are those of an object that the function makes."""
        return id(names) in self._created

    def bind(self, names: dict[str, Any], name: str) -> None:
        """An attribute is about to be set."""
        if not self.creates(names):
            self._bound.setdefault((id(names), name), (names, names.get(name, _MISSING)))

    def clear(self) -> None:
        """Hold no value any more."""
        self._bound.clear()
        self._created.clear()

    def kept(self, is_made: Callable[[Tensor], bool]) -> Kept:
        """What is left on them. Raises NotTraced where that is no result of the graph."""
        patterns, results = [], list[Tensor]()
        for (_, name), (names, _) in self._bound.items():
            if name not in names:
                continue
            tensors = [each for each in flat(names[name]) if isinstance(each, Tensor)]
            if not all(map(is_made, tensors)):
                raise NotTraced(f"a tensor that is not its own on the attribute {name}")
            patterns.append((names, name, hollow(names[name])))
            results += tensors
        return Kept(tuple(patterns), results)

    def before(self) -> list[tuple[dict[str, Any], str, Any]]:
        """Returns the names and old values that ``restore`` sets again."""
        return [(names, name, old) for (_, name), (names, old) in self._bound.items()]

    def replaced(self) -> Iterable[Tensor]:
        """What was on them before."""
        for _, old in self._bound.values():
            yield from (each for each in flat(old) if isinstance(each, Tensor))


def restore(before: Iterable[tuple[dict[str, Any], str, Any]]) -> None:
    """Set attributes to what they were before a function was traced: it runs as it is."""
    for names, name, old in before:
        if old is _MISSING:
            names.pop(name, None)
        else:
            names[name] = old


class Kept(NamedTuple):
    """Attributes with patterns of their values, and the tensors in these, while it is traced."""

    patterns: tuple[tuple[dict[str, Any], str, Any], ...]
    results: list[Tensor]

    @property
    def names(self) -> frozenset[tuple[int, str]]:
        """Which attributes they are."""
        return frozenset((id(names), name) for names, name, _ in self.patterns)

    def let_go(self) -> None:
        """Hold no tensor any more, until the results of a call are put there."""
        self.results.clear()
        for names, name, pattern in self.patterns:
            names[name] = pattern

    def put(self, results: Iterator[Tensor]) -> None:
        """Set the attributes, to the results of a call."""
        for names, name, pattern in self.patterns:
            names[name] = filled(pattern, results)
