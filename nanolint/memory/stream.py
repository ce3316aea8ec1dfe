"""The words of a replay: who allocates, in which phase, for which part of the budget."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Protocol, TypeAlias

if TYPE_CHECKING:
    from nanolint.memory.compiled_plan import Plan


class Phase(str, Enum):
    """The phases of a training run, as the docs and the JSON name them."""

    EVAL = "eval"
    FORWARD = "forward"
    BACKWARD = "backward"
    OPTIMIZER = "optimizer"
    EVAL_LATE = "eval_late"


class Component(str, Enum):
    """What a tensor is for. The components live at the peak sum to the allocated peak."""

    PARAMETERS = "parameters"
    GRADIENTS = "gradients"
    OPTIMIZER = "optimizer"
    WEIGHT_COPIES = "weight_copies"
    ACTIVATIONS = "activations"
    LOGITS_AND_LOSS = "logits_and_loss"
    INPUTS = "inputs"
    WORKSPACE = "workspace"


Handle: TypeAlias = int


class Recorder(Protocol):
    """Takes the alloc and free events of a run, in order."""

    def alloc(self, nbytes: int, name: str, component: Component) -> Handle:
        """Allocate ``nbytes`` bytes; returns the handle that frees them."""

    def free(self, *handles: Handle) -> None:
        """Free live allocations, in the order given."""

    def play(self, plan: Plan, slots: list[Handle]) -> None:
        """Record one call of a planned graph; ``slots`` hold the handles, before and after."""

    def phase(self, phase: Phase) -> None:
        """Start a phase; every later event belongs to it."""
