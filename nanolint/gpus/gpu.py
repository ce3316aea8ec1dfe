"""A GPU as the rest of nanolint sees it."""

from __future__ import annotations

from nanolint.frozen import dataclass


@dataclass(frozen=True, slots=True)
class Gpu:
    """One card model.

    ``total_bytes`` is what torch reports as the card's total memory on Linux (the lowest figure
    seen), which is less than the box says. ``estimated`` marks a total derived from the nominal
    size because no such figure is known. SM count and compute capability are None where the card
    is only a size (``12GiB``) or not an NVIDIA card.
    """

    name: str
    vendor: str  # "nvidia", "amd", or "" for a bare size
    total_bytes: int
    nominal_bytes: int
    sm_count: int | None
    compute_capability: tuple[int, int] | None
    estimated: bool
    source: str


@dataclass(frozen=True, slots=True)
class Target:
    """A card as the user asked for it: ``8xA100-40GB``, with what else lives on it.

    ``count`` is the number of cards when the user named one, else None. ``in_use_bytes`` is what
    other programs hold on the card, outside the run that is judged.
    """

    gpu: Gpu
    count: int | None = None
    in_use_bytes: int = 0

    @property
    def label(self) -> str:
        """The card's name, with its count when the user named one."""
        return self.gpu.name if self.count is None else f"{self.count}x {self.gpu.name}"
