"""The card in this machine, asked through NVML: no CUDA context, no torch.

Torch's total is the second figure of ``cudaMemGetInfo``: the board's memory without what the
driver keeps for itself. NVML tells both since driver 510 (``nvmlDeviceGetMemoryInfo_v2``), and
their difference is that figure: an H100 has 81559 MiB, 551 of them reserved, and torch says 81008.
Older drivers' only figure leaves the reserved part out already (15109 MiB on a T4, as torch says).
"""

from __future__ import annotations

import os
import sys
from typing import Any

from nanolint.files.notes import asks, note
from nanolint.frozen import dataclass
from nanolint.gpus.gpu import Gpu
from nanolint.gpus.lookup import meanings

# Error correction takes up to 7 % of a board. A name whose card is further off than this is a
# slice of that card (MIG, vGPU), with fewer SMs than the catalogue says.
LEAST_SHARE_OF_NOMINAL = 0.9


@dataclass(frozen=True, slots=True)
class LocalGpu:
    """The local card as it is now; ``free_bytes`` is what no program holds at this moment."""

    gpu: Gpu
    free_bytes: int

    @property
    def in_use_bytes(self) -> int:
        """Bytes that other programs hold now."""
        return max(0, self.gpu.total_bytes - self.free_bytes)


def local_gpu() -> LocalGpu | None:
    """The card that torch would call ``cuda:0``, or None where there is none to be read.

    ``CUDA_VISIBLE_DEVICES`` is heeded; among unlike cards, NVML counts in bus order, as CUDA does
    under ``CUDA_DEVICE_ORDER=PCI_BUS_ID``. Never raises: no library, no driver, no permission, or a
    card that does not tell its memory (DGX Spark) all mean None.
    """
    try:
        import pynvml

        pynvml.nvmlInit()
    except Exception:  # whatever a missing or broken driver raises
        return None
    try:
        return _read(pynvml)
    except Exception:
        return None
    finally:
        _shut_down(pynvml)


def may_have_card() -> bool:
    """False where NVML's library cannot be loaded. Trying costs less than importing its binding."""
    if sys.platform != "linux":
        return True
    import ctypes

    try:
        ctypes.CDLL("libnvidia-ml.so.1")
    except OSError:
        return False
    return True


@asks("card")
def _ask_again(what: str) -> None:
    """What an answer may have been worked out from: the card, or its total."""
    local = local_gpu() if may_have_card() else None
    answer = local and local.gpu if what == "total" else local
    note(("card", what), repr(answer).encode())


def _read(nvml: Any) -> LocalGpu | None:
    handle = _first_visible(nvml)
    if handle is None:
        return None
    name = nvml.nvmlDeviceGetName(handle)
    name = name.decode(errors="replace") if isinstance(name, bytes) else str(name)
    board_bytes, total_bytes, free_bytes = _memory(nvml, handle)
    capability = tuple(nvml.nvmlDeviceGetCudaComputeCapability(handle))
    known = _in_catalogue(name, board_bytes)
    gpu = Gpu(
        name=known.name if known else name.removeprefix("NVIDIA ").removeprefix("GeForce "),
        vendor="nvidia",
        total_bytes=total_bytes,
        nominal_bytes=known.nominal_bytes if known else board_bytes,
        sm_count=known.sm_count if known else None,
        compute_capability=(int(capability[0]), int(capability[1])),
        estimated=False,
        source="NVML",
        boost_mhz=known.boost_mhz if known else None,
    )
    return LocalGpu(gpu, free_bytes)


def _first_visible(nvml: Any) -> Any:
    """NVML's handle of the first device that CUDA would show, or None if it would show none."""
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    if visible is None:
        return nvml.nvmlDeviceGetHandleByIndex(0)
    first = visible.split(",")[0].strip()
    if first.isdecimal():
        return nvml.nvmlDeviceGetHandleByIndex(int(first))
    if first.startswith(("GPU-", "MIG-")):
        return nvml.nvmlDeviceGetHandleByUUID(first)
    return None


def _memory(nvml: Any, handle: Any) -> tuple[int, int, int]:
    """Bytes on the board, bytes that torch would report as total, bytes free now."""
    try:
        memory = nvml.nvmlDeviceGetMemoryInfo(handle, version=nvml.nvmlMemory_v2)
        reserved = int(memory.reserved)
    except Exception:  # a driver before 510, or a binding without version 2
        memory = nvml.nvmlDeviceGetMemoryInfo(handle)
        reserved = 0
    return int(memory.total), int(memory.total) - reserved, int(memory.free)


def _in_catalogue(name: str, board_bytes: int) -> Gpu | None:
    """The catalogue's card of that name whose size is nearest, if it is near at all."""
    fitting = [
        gpu
        for gpu in meanings(name)
        if LEAST_SHARE_OF_NOMINAL <= board_bytes / gpu.nominal_bytes <= 1 / LEAST_SHARE_OF_NOMINAL
    ]
    return min(fitting, key=lambda gpu: abs(gpu.nominal_bytes - board_bytes), default=None)


def _shut_down(nvml: Any) -> None:
    try:
        nvml.nvmlShutdown()
    except Exception:
        return
