"""Which of several scripts runs a config: not one that fails with it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from nanolint.run.settled import THE_RUN
from nanolint.verdict.readable import if_readable

if TYPE_CHECKING:
    from nanolint.gpus.gpu import Machine
    from nanolint.run.settled import Resolution, Rivals

FEW = 4  # scripts that are read besides


def without_rivals(found: Resolution, rivals: Rivals, target: Machine | None) -> Resolution:
    """``found`` without the doubt about its script, where each other is known to fail before it has
    trained: train.py stays."""
    others = rivals.resolved()
    if len(others) > FEW or not all(_fails(if_readable(each, target)) for each in others):
        return found
    doubts = tuple(each for each in found.doubts if each != rivals.doubt)
    return replace(found, doubts=doubts)


def _fails(found: Resolution) -> bool:
    return any(each.key == THE_RUN and each.impossible for each in found.unresolved)
