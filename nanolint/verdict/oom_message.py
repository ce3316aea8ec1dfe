"""PyTorch's out-of-memory error, read back from what a user pasted.

Two wordings are in use. Since torch 2.1 (which wrote "capacty"; from 2.4 on there is a clause on
private pools)::

    CUDA out of memory. Tried to allocate 6.14 GiB. GPU 0 has a total capacity of 11.69 GiB of
    which 2.68 GiB is free. Process 4321 has 224.90 MiB memory in use. Including non-PyTorch
    memory, this process has 7.04 GiB memory in use. Of the allocated memory 6.78 GiB is allocated
    by PyTorch, and 38.50 MiB is reserved by PyTorch but unallocated.

and before ("cached" for "reserved in total by PyTorch" up to torch 1.4)::

    CUDA out of memory. Tried to allocate 6.14 GiB (GPU 0; 15.78 GiB total capacity; 10.16 GiB
    already allocated; 4.50 GiB free; 10.21 GiB reserved in total by PyTorch)

Before "Of the allocated memory" there is "9.50 GiB allowed; " after
``torch.cuda.set_per_process_memory_fraction`` (CUDACachingAllocator.cpp, allowed_memory_maximum).
Terminals paint the figures: colours are taken out first.
"""

from __future__ import annotations

import codecs
import re

from nanolint.frozen import dataclass
from nanolint.units import GIB, KIB, MIB

LONGEST_MESSAGE = 4096  # characters of one message, long before which it has ended
LARGEST = 1 << 50  # bytes; no figure of a message is beyond it
ROUNDED = 0.005  # each figure is printed with two decimals, so this much of its unit may be missing

_UNITS = {"GiB": GIB, "MiB": MIB, "KiB": KIB, "bytes": 1}
_START = re.compile(r"out of memory\W{0,3} Tried to allocate\b")
_NUMBER = r"(\d{1,9}(?:\.\d{1,3})?) (GiB|MiB|KiB|bytes)"
_REQUESTED = re.compile(rf"Tried to allocate {_NUMBER}")
_TOTAL = re.compile(rf"total capaci?ty of {_NUMBER}|{_NUMBER} total capacity")
_FREE = re.compile(rf"of which {_NUMBER} is free|{_NUMBER} free\b")
_ALLOCATED = re.compile(rf"{_NUMBER} is allocated by PyTorch|{_NUMBER} already allocated")
_UNALLOCATED = re.compile(rf"{_NUMBER} is reserved by PyTorch but unallocated|{_NUMBER} cached")
_RESERVED = re.compile(rf"{_NUMBER} reserved in total by PyTorch")
_PROCESS = re.compile(rf"this process has {_NUMBER} memory in use")
_ALLOWED = re.compile(rf"{_NUMBER} allowed;")
_COLOUR = re.compile(r"\x1b\[[0-9;:]*m")
_OTHER_PROCESS = re.compile(rf"Process \d{{1,10}} has {_NUMBER} memory in use")


class NotAnOomMessage(ValueError):
    """What was pasted cannot be read as PyTorch's out-of-memory error; one line says why."""


@dataclass(frozen=True, slots=True)
class OomMessage:
    """The figures of one error, in bytes, each rounded to two decimals of its unit by PyTorch.

    ``reserved_bytes`` is the allocator's total; ``process_bytes`` adds what the process holds
    outside the allocator; ``allowed_bytes`` is the most that the process lets the allocator
    reserve. Each is None where the message does not tell it.
    """

    requested_bytes: int
    total_bytes: int
    free_bytes: int
    allocated_bytes: int
    reserved_bytes: int | None = None
    process_bytes: int | None = None
    allowed_bytes: int | None = None

    def others_bytes(self, context_bytes: int) -> int:
        """Bytes that other programs and the driver held.

        ``context_bytes``, the process's memory outside the allocator, counts where the message
        does not tell what the process held in all.
        """
        own = self.process_bytes
        if own is None:
            own = (self.reserved_bytes or self.allocated_bytes) + context_bytes
        return max(0, self.total_bytes - self.free_bytes - own)


def parse_oom_message(text: str) -> OomMessage:
    """The figures of the last out-of-memory error in ``text``, which may be a whole log.

    Raises NotAnOomMessage where there is none, or where its figures contradict each other.
    """
    message = _last_message(text)
    requested = _required(_REQUESTED, message, "how much it tried to allocate")
    total = _required(_TOTAL, message, "the total capacity of the GPU")
    free = _required(_FREE, message, "how much was free")
    allocated = _required(_ALLOCATED, message, "how much PyTorch had allocated")
    reserved = _size(_RESERVED, message)
    unallocated = _size(_UNALLOCATED, message)
    if reserved is None and unallocated is not None:
        reserved = allocated + unallocated
    process = _process(message, reserved or allocated)
    _check(total, free, allocated, reserved, process)
    allowed = _size(_ALLOWED, message)
    return OomMessage(requested, total, free, allocated, reserved, process, allowed)


def decode_log(raw: bytes) -> str:
    """The text of a log: UTF-8, or UTF-16 with its mark, which PowerShell's ``>`` writes."""
    is_utf16 = raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    return raw.decode("utf-16" if is_utf16 else "utf-8", errors="replace")


def _last_message(text: str) -> str:
    text = " ".join(_COLOUR.sub("", text).split())  # a terminal may have wrapped it anywhere
    starts = [match.start() for match in _START.finditer(text)]
    if not starts:
        raise NotAnOomMessage(
            "no PyTorch out-of-memory error: expected a text with "
            "'CUDA out of memory. Tried to allocate ...'"
        )
    return text[starts[-1] : starts[-1] + LONGEST_MESSAGE]


def _required(pattern: re.Pattern[str], message: str, what: str) -> int:
    size = _size(pattern, message)
    if size is None:
        raise NotAnOomMessage(f"the out-of-memory error does not say {what}")
    return size


def _size(pattern: re.Pattern[str], message: str) -> int | None:
    match = pattern.search(message)
    return _bytes(match) if match else None


def _bytes(match: re.Match[str]) -> int:
    number, unit = (group for group in match.groups() if group is not None)
    size = round(float(number) * _UNITS[unit])
    if size > LARGEST:
        raise NotAnOomMessage(f"no GPU has {number} {unit}")
    return size


def _process(message: str, reserved: int) -> int | None:
    """What the process held. In a container PyTorch does not know itself by its number: there the
    process is the one that holds at least what its own allocator has reserved."""
    own = _size(_PROCESS, message)
    if own is not None:
        return own
    listed = [_bytes(match) for match in _OTHER_PROCESS.finditer(message)]
    return min((size for size in listed if size >= reserved), default=None)


def _check(
    total: int, free: int, allocated: int, reserved: int | None, process: int | None
) -> None:
    slack = round(4 * ROUNDED * GIB)
    held = max(allocated, reserved or 0, process or 0)
    if total == 0 or free > total + slack or held > total + slack or held + free > total + slack:
        raise NotAnOomMessage(
            "the figures of the out-of-memory error contradict each other: "
            "more is free or in use than the GPU has"
        )
