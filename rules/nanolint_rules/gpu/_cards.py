"""What the rules about a card's abilities ask of a case."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.rule import abilities
from nanolint_rules._values import known

if TYPE_CHECKING:
    from nanolint.rule import Case, Context


def capability(case: Case) -> tuple[int, int] | None:
    """The compute capability of the NVIDIA card that the run would use, None for any other."""
    gpu = case.target.gpu if case.target else None
    if gpu is None or gpu.vendor != "nvidia" or "cuda" not in str(known(case, "device")):
        return None
    return gpu.compute_capability


def format_capability(version: tuple[int, int]) -> str:
    """A compute capability as NVIDIA writes it."""
    return f"{version[0]}.{version[1]}"


def compiles(case: Case) -> bool:
    """Whether train.py calls torch.compile: it asks ``if compile:``, so that 'False' is true."""
    return bool(known(case, "compile"))


def emulates_bfloat16(case: Case) -> bool:
    """Whether the run asks an NVIDIA card for the bfloat16 that its hardware lacks (NL203)."""
    if capability(case) is None or known(case, "dtype") != "bfloat16":
        return False
    return not abilities.has_bfloat16(case.needed_target.gpu)


def has_tensor_cores(case: Case) -> bool:
    """Whether the card multiplies half-precision matrices in hardware."""
    return capability(case) is not None and abilities.has_tensor_cores(case.needed_target.gpu)


def every_card_has(context: Context, wanted: tuple[int, int]) -> bool:
    """Whether all the targets are known to have compute capability ``wanted``."""
    return all((capability(case) or (0, 0)) >= wanted for case in context.cases)
