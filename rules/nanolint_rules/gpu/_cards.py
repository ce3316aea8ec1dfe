"""What the rules about a card's abilities ask of a case."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from nanolint_rules._values import known

if TYPE_CHECKING:
    from nanolint.rule import Case, Context

TRITON = (7, 0)  # torch.compile's code generator takes nothing older
BFLOAT16 = (8, 0)
TENSOR_CORES = (7, 0)

# Turing's small chips (TU116, TU117) have compute capability 7.5 and no tensor cores.
_WITHOUT_TENSOR_CORES = re.compile(r"\b(GTX 16\d\d|MX ?\d{3}|T\d{3,4}|T[12]000|CMP 30HX)\b")


def capability(case: Case) -> tuple[int, int] | None:
    """The compute capability of the NVIDIA card that the run would use, None for any other."""
    gpu = case.target.gpu if case.target else None
    if gpu is None or gpu.vendor != "nvidia" or "cuda" not in str(known(case, "device")):
        return None
    return gpu.compute_capability


def shown(version: tuple[int, int]) -> str:
    """A compute capability as NVIDIA writes it."""
    return f"{version[0]}.{version[1]}"


def compiles(case: Case) -> bool:
    """Whether train.py calls torch.compile: it asks ``if compile:``, so that 'False' is true."""
    return bool(known(case, "compile"))


def emulates_bfloat16(case: Case) -> bool:
    """Whether the run asks an NVIDIA card for the bfloat16 that its hardware lacks (NL203)."""
    version = capability(case)
    return version is not None and version < BFLOAT16 and known(case, "dtype") == "bfloat16"


def has_tensor_cores(case: Case) -> bool:
    """Whether the card multiplies half-precision matrices in hardware."""
    version = capability(case)
    if version is None or version < TENSOR_CORES:
        return False
    return not _WITHOUT_TENSOR_CORES.search(case.needed_target.gpu.name)


def every_card_has(context: Context, wanted: tuple[int, int]) -> bool:
    """Whether all the targets are known to have compute capability ``wanted``."""
    return all((capability(case) or (0, 0)) >= wanted for case in context.cases)
