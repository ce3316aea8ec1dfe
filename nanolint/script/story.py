"""Tells the story of a run (``run/story.py``) while its script is read.

Nothing here holds a tensor, a module or a node: who lives how long is the program's affair.
"""

from __future__ import annotations

import ast
from contextlib import contextmanager
from typing import TYPE_CHECKING

from nanolint.interpreter.listening import Listener
from nanolint.interpreter.torch.methods import holder_of
from nanolint.interpreter.values import Instance
from nanolint.run.story import Fact, Story, Told
from nanolint.source.python import of_node
from nanolint.tape.tape import Component
from nanolint.tensors.tensor import Tensor

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from nanolint.interpreter.machine import Machine
    from nanolint.interpreter.values import Value
    from nanolint.run.story import Stack
    from nanolint.tensors.autograd import Leaf
    from nanolint.tensors.parameter import Parameter

# What a statement that is passed over may do to gradients or modes, by the names in it.
CHANGES = frozenset(
    {
        *("zero_grad", "zero_", "grad", "backward", "step", "unscale_", "update", "train", "eval"),
        *("scale", "clip_grad_norm_", "requires_grad", "_foreach_zero_", "apply"),
    }
)
ZEROES = frozenset({"zero_", "fill_"})
NAMES = 3  # that are told
TWICE = 2  # steps in a row, of which no gradient was set back in between


class Steps:
    """The steps of one optimizer so far."""

    def __init__(self, kind: str, place: Stack) -> None:
        self.kind, self.place = kind, place
        self.count = 0
        self.last = 0  # the moment of the latest
        self.kept: dict[int, int] = {}  # of each gradient: the steps in a row that found it kept
        self.names: dict[int, str] = {}


class Teller(Listener):
    """Listens to a reading."""

    def __init__(self, machine: Machine) -> None:
        super().__init__()
        self._machine = machine
        self._told: dict[Told, None] = {}
        self._is_whole = True
        self._now = 0  # a moment: each change of a gradient is one
        self._put: dict[int, int] = {}  # when a gradient was set or taken, by its holder
        self._zeroed: dict[int, int] = {}  # when it was filled with zeros, by its storage
        self._steps: dict[int, Steps] = {}

    # What is not known.

    def passes_over(self, node: ast.stmt) -> None:
        """A statement is passed over."""
        self._is_whole = self._is_whole and not _changes(node)

    @contextmanager
    def unsure(self, node: ast.stmt) -> Iterator[None]:
        """The statements that are read in the block may not run."""
        whole = self._is_whole and not _changes(node)
        yield
        self._is_whole = whole

    def hands_over(self, given: Iterable[Value]) -> None:
        """A library that nobody knows is given these."""
        if any(map(_learns, given)):
            self._is_whole = False

    # Gradients.

    def puts(self, holder: Parameter | Leaf, _gradient: Tensor | None) -> None:
        self._now += 1
        self._put[id(holder)] = self._now

    def writes(self, x: Tensor, name: str) -> None:
        if x.role.component is Component.GRADIENTS and name in ZEROES and x.storage is not None:
            self._now += 1
            self._zeroed[id(x.storage)] = self._now

    def stepped(self, optimizer: Instance) -> None:
        """An optimizer has stepped."""
        here = self._here()
        steps = self._steps.setdefault(id(optimizer), Steps(optimizer.cls.name, here))
        for holder in _holders(optimizer):
            gradient = holder.gradient
            if gradient is None:
                continue
            changed = self._put.get(id(holder), 0)
            if gradient.storage is not None:
                changed = max(changed, self._zeroed.get(id(gradient.storage), 0))
            is_kept = steps.count > 0 and changed <= steps.last
            steps.kept[id(holder)] = steps.kept.get(id(holder), 0) + 1 if is_kept else 0
            steps.names[id(holder)] = gradient.role.label.removeprefix("gradient of ")
        steps.count += 1
        steps.last = self._now

    def _tell_kept(self) -> None:
        for each in self._steps.values():
            kept = [key for key, times in each.kept.items() if TWICE <= times == each.count - 1]
            if kept:
                names = tuple(each.names[key] for key in kept[:NAMES])
                numbers = len(kept), len(each.kept)
                self._tell(Told(Fact.KEPT, each.place, words=names, numbers=numbers))

    # The story.

    def _here(self) -> Stack:
        where = self._machine.where()
        return () if where is None else tuple((each.path, each.number) for each in where.stack)

    def _tell(self, told: Told) -> None:
        self._told.setdefault(told)

    def story(self) -> Story:
        """All that was told."""
        self._tell_kept()
        return Story(tuple(self._told), self._is_whole)


def _holders(optimizer: Instance) -> Iterator[Parameter | Leaf]:
    """The holders of an optimizer's gradients, if it has groups as torch's have."""
    groups = optimizer.attributes.get("param_groups")
    for group in groups if isinstance(groups, list) else ():
        params = group.get("params") if isinstance(group, dict) else None
        for each in params if isinstance(params, list) else ():
            holder = holder_of(each) if isinstance(each, Tensor) else None
            if holder is not None:
                yield holder


def _learns(value: Value) -> bool:
    """Whether gradients may be reached through a value."""
    if isinstance(value, (list, tuple)):
        return any(map(_learns, value[:NAMES]))
    if isinstance(value, Tensor):
        return value.requires_grad
    return isinstance(value, Instance) and "param_groups" in value.attributes


@of_node
def _changes(node: ast.stmt) -> bool:
    names = (each.attr for each in ast.walk(node) if isinstance(each, ast.Attribute))
    return any(name in CHANGES for name in names)
