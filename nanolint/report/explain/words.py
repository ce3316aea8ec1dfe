"""What phases, components and outcomes are called in the text and in the picture."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.memory.tape import Component, Phase
from nanolint.memory.verdict.verdict import Outcome
from nanolint.memory.verdict.words import headline
from nanolint.run.trust import Trust

if TYPE_CHECKING:
    from nanolint.rule.case import Case

PHASES = {
    Phase.SETUP: "setting up",
    Phase.EVAL: "estimate_loss",
    Phase.FORWARD: "forward",
    Phase.BACKWARD: "backward",
    Phase.OPTIMIZER: "optimizer",
    Phase.EVAL_LATE: "later estimate_loss",
}

SPLIT = "not known: torch.compile splits its graph at DDP's buckets"  # of an evaluation

COMPONENTS = {
    Component.PARAMETERS: "parameters",
    Component.GRADIENTS: "gradients",
    Component.OPTIMIZER: "Adam's state",
    Component.WEIGHT_COPIES: "half weight copies",
    Component.ACTIVATIONS: "activations",
    Component.LOGITS_AND_LOSS: "logits and loss",
    Component.INPUTS: "inputs",
    Component.WORKSPACE: "cuBLAS workspace",
}

OUTCOMES = {
    Outcome.COMFORTABLE: ("fits", "bold green"),
    Outcome.THIN: ("thin margin", "bold yellow"),
    Outcome.FRAGMENTED: ("fragmented", "bold red"),
    Outcome.OUT_OF_MEMORY: ("out of memory", "bold red"),
}


def judged(case: Case) -> str | None:
    """The verdict in one line; of one that is in doubt, that it is. None where there is none."""
    if case.verdict is None:
        return None
    doubted = case.resolution.trust is Trust.DOUBTED
    return f"{headline(case.verdict)}{', in doubt' if doubted else ''}"
