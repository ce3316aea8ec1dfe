"""Roles: the part of the memory budget that a tensor belongs to, and words for people."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from nanolint.cached import cached_property
from nanolint.regex import lazily
from nanolint.tape.locating import named
from nanolint.tape.tape import Component

if TYPE_CHECKING:
    from nanolint.tape.locating import Where
    from nanolint.tensors.dtypes import Dtype
    from nanolint.tensors.layout import Shape


class Role:
    """A component of the budget and a label. The component decides; the label is only read.

    ``dims`` are the letters of its shape, "(B, T, C)"; without them the sizes stand there.
    """

    def __init__(self, label: str, component: Component, dims: str = "") -> None:
        self.label = label
        self.component = component
        self.dims = dims

    def describe(self, shape: Shape, dtype: Dtype) -> str:
        """Returns the name of a tensor of this role: "logits (B*T, V) bfloat16"."""
        if self.dims:
            return f"{self.label} {self.dims} {dtype.name}"
        return f"{self.label} {shape} {dtype.name}" if shape else f"{self.label} {dtype.name}"

    @cached_property
    def gradient(self) -> Role:
        """The role of its gradient: gradients if it is a parameter, else of its own kind."""
        of_weight = self.component is Component.PARAMETERS
        component = Component.GRADIENTS if of_weight else self.component
        name = self.label if of_weight else f"the {self.label}"
        made = Role(f"gradient of {name}", component, self.dims)
        made.gradient = made  # no gradient of a gradient of a gradient
        return made

    @cached_property
    def copy(self) -> Role:
        """Of a copy in another type: autocast's copies of weights are a component of their own."""
        if self.component is not Component.PARAMETERS:
            return self
        made = Role(f"copy of {self.label}", Component.WEIGHT_COPIES, self.dims)
        made.gradient = self.gradient
        return made

    @cached_property
    def reshaped(self) -> Role:
        """Of a view of a part, or of it repeated."""
        return role(self.label, self.component) if self.dims else self

    @property
    def unplaced(self) -> Role:
        """The same, wherever it was made."""
        return self

    def made(self, label: str, dims: str = "") -> Role:
        """Of what is computed from it."""
        loss = self.component is Component.LOGITS_AND_LOSS
        return role(label, self.component if loss else Component.ACTIVATIONS, dims)


def read_name(name: str) -> tuple[Shape, str]:
    """Shape and type of what ``describe`` named; no shape if letters stand in its place.

    >>> read_name("logits (8, 64, 512) bfloat16")
    ((8, 64, 512), 'bfloat16')
    """
    found = _DESCRIBED.search(name)
    if found is None:
        return (), name.rpartition(" ")[2]
    return tuple(int(each) for each in found["shape"].split(",") if each.strip()), found["dtype"]


_DESCRIBED = lazily(r" \((?P<shape>\d[\d, ]*)\) (?P<dtype>\w+)$")


class PlacedRole(Role):
    """Of the result of one operation of a program that is compiled: its names know its place."""

    def __init__(self, role: Role, where: Where | None) -> None:
        self.label, self.component, self.dims = role.label, role.component, role.dims
        self.where = where
        self._role: Role = role._role if isinstance(role, PlacedRole) else role

    @property
    def unplaced(self) -> Role:
        """As of any role."""
        return self._role

    def describe(self, shape: Shape, dtype: Dtype) -> str:
        """Returns the name of the tensor."""
        return named(super().describe(shape, dtype), self.where)

    @cached_property
    def gradient(self) -> Role:
        """As of any role."""
        return PlacedRole(self._role.gradient, self.where)

    @cached_property
    def copy(self) -> Role:
        """As of any role."""
        return PlacedRole(self._role.copy, self.where)

    @cached_property
    def reshaped(self) -> Role:
        """As of any role."""
        return PlacedRole(self._role.reshaped, self.where)

    def made(self, label: str, dims: str = "") -> Role:
        """As of any role."""
        return PlacedRole(self._role.made(label, dims), self.where)


@lru_cache(maxsize=4096)
def role(label: str, component: Component, dims: str = "") -> Role:
    """The one role of these words."""
    return Role(label, component, dims)


def placed(made: Role, where: Where | None) -> PlacedRole:
    """Returns the role of a tensor that is made there; ``made`` itself if it is of that place."""
    if isinstance(made, PlacedRole) and made.where is where:
        return made
    return PlacedRole(made, where)
