"""The lines that nanoGPT itself prints about a run, for comparison with a log."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.memory.program import Shapes

if TYPE_CHECKING:
    from nanolint.memory.program import Parameter
    from nanolint.run.run import Run


def log_lines(run: Run) -> list[str]:
    """What train.py and model.py print before the first iteration, word for word."""
    parameters = Shapes.of(run).parameters
    matrices = [parameter for parameter in parameters if not _is_vector(parameter)]
    vectors = [parameter for parameter in parameters if _is_vector(parameter)]
    return [
        f"tokens per iteration will be: {run.tokens_per_iter:,}",
        f"number of parameters: {run.parameters_reported / 1e6:.2f}M",
        f"num decayed parameter tensors: {_counted(matrices)}",
        f"num non-decayed parameter tensors: {_counted(vectors)}",
    ]


def _is_vector(parameter: Parameter) -> bool:
    """Whether the tensor has one dimension: a bias or a LayerNorm's weight. Those do not decay."""
    *_, module, kind = f".{parameter.name}".split(".")
    return kind == "bias" or module.startswith("ln_")


def _counted(parameters: list[Parameter]) -> str:
    numel = sum(parameter.numel for parameter in parameters)
    return f"{len(parameters)}, with {numel:,} parameters"
