"""The lines that nanoGPT itself prints about a run, for comparison with a log."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.memory.model.gpt import GPT
from nanolint.memory.shapes import Shapes
from nanolint.memory.tape import Tape
from nanolint.memory.tensors.device import Device

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nanolint.memory.tensors.parameter import Parameter
    from nanolint.run.run import Run


def log_lines(run: Run) -> list[str]:
    """What train.py and model.py print before the first iteration, word for word.

    Nothing where the model is not nanoGPT's own.
    """
    if run.program is not None:
        return []
    parameters = GPT(Device(Tape()), Shapes.of(run)).parameters()
    matrices = [parameter for parameter in parameters if parameter.ndim >= 2]
    vectors = [parameter for parameter in parameters if parameter.ndim < 2]
    return [
        f"tokens per iteration will be: {run.tokens_per_iter:,}",
        f"number of parameters: {run.parameters_reported / 1e6:.2f}M",
        f"num decayed parameter tensors: {_counted(matrices)}",
        f"num non-decayed parameter tensors: {_counted(vectors)}",
    ]


def _counted(parameters: Sequence[Parameter]) -> str:
    numel = sum(parameter.numel for parameter in parameters)
    return f"{len(parameters)}, with {numel:,} parameters"
