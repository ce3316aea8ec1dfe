"""A GPU as the rest of nanolint sees it."""

from __future__ import annotations

from nanolint.frozen import dataclass


@dataclass(frozen=True, slots=True)
class Gpu:
    """One card model.

    ``total_bytes`` is what torch reports as the card's total memory on Linux (the lowest figure
    seen), which is less than the box says. ``estimated`` marks a total derived from the nominal
    size because no such figure is known. SM count and compute capability are None where the card
    is only a size (``12GiB``) or not an NVIDIA card. ``boost_mhz`` is the clock that the maker
    promises, None where it is not known.
    """

    name: str
    vendor: str  # "nvidia", "amd", or "" for a bare size
    total_bytes: int
    nominal_bytes: int
    sm_count: int | None
    compute_capability: tuple[int, int] | None
    estimated: bool
    source: str
    boost_mhz: int | None = None


@dataclass(frozen=True, slots=True)
class Machine:
    """Where a run is judged: ``8xA100-40GB``, what else lives on it, and how PyTorch runs there.

    ``count`` is the number of cards when the user named one, else None. ``in_use_bytes`` is what
    other programs hold on the card, outside the run that is judged. ``platform`` is linux, windows,
    wsl or macos; ``allocator`` is PyTorch's: default, or expandable for expandable segments.
    ``allowed_bytes`` is the most that the process lets PyTorch reserve
    (``torch.cuda.set_per_process_memory_fraction``), None where it sets no such limit.
    """

    gpu: Gpu
    count: int | None = None
    in_use_bytes: int = 0
    platform: str = "linux"
    allocator: str = "default"
    allowed_bytes: int | None = None

    @property
    def label(self) -> str:
        """The card's name, with its count when the user named one."""
        return self.gpu.name if self.count is None else f"{self.count}x {self.gpu.name}"

    @property
    def expandable(self) -> bool:
        """Whether PyTorch's segments grow in place (``expandable_segments:True``)."""
        return self.allocator == "expandable"
