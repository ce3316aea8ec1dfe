"""Slices of a card (MIG, multi-instance GPU), which CUDA shows as a card of their own.

A profile such as ``1g.5gb`` is one seventh of the multiprocessors with 5 GB of memory. Memory is
given in eighths, quarters, halves or whole, so that the sizes of a card follow from its own
(NVIDIA's MIG user guide, "Supported MIG profiles").
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from nanolint.frozen import dataclass
from nanolint.gpus.gpu import Gpu
from nanolint.units import GIB

if TYPE_CHECKING:
    from collections.abc import Mapping

# A100 MIG 1g.10gb: torch reports 9,728 to 9,856 MiB, on slices of the 80 GB card; the lower share
# counts for all slices.
USABLE_SHARE = 0.95

# Multiprocessors of one compute slice (`nvidia-smi mig -lgip`); others are not known.
SLICE_SMS: Mapping[tuple[int, int], int] = {(8, 0): 14, (9, 0): 16}

CAPABILITIES = ((8, 0), (9, 0), (10, 0), (10, 3))  # besides the RTX PRO cards of Blackwell

_SLICE = re.compile(r"(?:mig)?([1-7])g\.(\d{1,3})gb(?:\+\S{1,8})?")
_SHARES = (1 / 8, 1 / 4, 1 / 2, 1)  # of the memory
SIZE_ROUNDED = 0.06  # 141 GB / 8 is called 18 GB


@dataclass(frozen=True, slots=True)
class Slice:
    """``compute`` sevenths of ``card``, as the user wrote it, with ``gib`` of its memory."""

    card: str
    compute: int
    gib: int

    @property
    def profile(self) -> str:
        """As NVIDIA writes it: ``1g.5gb``."""
        return f"{self.compute}g.{self.gib}gb"

    def of(self, whole: Gpu) -> Gpu:
        """The slice as a card. Its total is an estimate."""
        capability = whole.compute_capability
        per_slice = SLICE_SMS.get(capability) if capability else None
        nominal = self.gib * GIB
        return Gpu(
            name=f"{whole.name} MIG {self.profile}",
            vendor=whole.vendor,
            total_bytes=int(nominal * USABLE_SHARE),
            nominal_bytes=nominal,
            sm_count=None if per_slice is None else per_slice * self.compute,
            compute_capability=capability,
            estimated=True,
            source=f"{USABLE_SHARE:.0%} of nominal, a slice of the {whole.name}",
        )


def slice_of(text: str) -> Slice | None:
    """The slice that ``text`` names, as ``NVIDIA A100-SXM4-40GB MIG 1g.5gb`` or ``a100 1g.5gb``."""
    words = re.split(r"[\s_-]+", text.lower().strip())
    match = _SLICE.fullmatch(words[-1])
    if match is None:
        return None
    card = " ".join(word for word in words[:-1] if word != "mig")
    return Slice(card, int(match[1]), int(match[2]))


def sliceable(gpu: Gpu, part: Slice) -> bool:
    """Whether ``gpu`` can be divided into such slices: no less memory than of the compute."""
    divides = gpu.compute_capability in CAPABILITIES or gpu.name.startswith("RTX PRO")
    share = part.gib * GIB / gpu.nominal_bytes
    wholes = [of for of in _SHARES if abs(share / of - 1) < SIZE_ROUNDED]
    return divides and any(8 * of >= part.compute for of in wholes)
