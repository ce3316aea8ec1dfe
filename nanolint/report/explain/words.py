"""What phases, components and outcomes are called in the text and in the picture."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.linting.judged import NAME_YOURS, PROBABLY, answered
from nanolint.tape.tape import Component, Phase
from nanolint.verdict.verdict import Outcome

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nanolint.gpus.gpu import Machine
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


def answer(case: Case, usual: Sequence[Machine] = ()) -> str:
    """Returns the verdict, or without a card what the run needs, in one line; empty if unknown."""
    brief, doubts = (None, ()) if case.run is None else answered(case, usual)
    if brief is None:
        return ""
    doubt = ", not certain" if doubts and PROBABLY not in brief.headline else ""
    return f"{brief.headline}{doubt}{'' if case.target else f'; {NAME_YOURS}'}"
