"""What a real run left: PyTorch's out-of-memory error as it was pasted, or a memory snapshot.

PyTorch's out-of-memory error, read back from what a user pasted.

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

A memory snapshot of a real run, read without unpickling anything but plain data.

It is what ``torch.cuda.memory._dump_snapshot`` writes after ``_record_memory_history``: the
allocator's actions in order, and the blocks that are there at the end.
"""

from __future__ import annotations

import codecs
import io
import pickle
import re
from collections import Counter
from typing import TYPE_CHECKING, Any, NoReturn

from nanolint.errors import UserError
from nanolint.frozen import dataclass
from nanolint.tape.tape import rounded
from nanolint.units import GIB, KIB, MIB

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


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


MOST_BYTES = 1 << 30  # of a file: some 3 million actions with their stacks
LIBRARIES = ("site-packages", "dist-packages", "<frozen", "/lib/python", "\\Lib\\")


class NotASnapshot(UserError):
    """The file holds no memory snapshot of PyTorch's, or one without a history."""


@dataclass(frozen=True, slots=True)
class Live:
    """So many blocks of one size that are alive at once. ``nbytes`` are those of each."""

    nbytes: int
    count: int
    where: str  # the line of the user's code that asked for the first of them; "" if not known


@dataclass(frozen=True, slots=True)
class MeasuredSnapshot:
    """The moment of the most allocated bytes of a real run, on one card.

    ``reserved_bytes`` is the most that the segments took together at any time.
    """

    allocated_bytes: int
    reserved_bytes: int
    live: tuple[Live, ...]


class _PlainData(pickle.Unpickler):
    """Lists, dictionaries, texts and numbers; a class or a function of any kind is refused."""

    def find_class(self, module_name: str, global_name: str, /) -> NoReturn:
        raise NotASnapshot(f"it names {module_name}.{global_name}: a snapshot is plain data")

    def persistent_load(self, pid: Any) -> NoReturn:  # noqa: ARG002
        raise NotASnapshot("it refers to something outside itself: a snapshot is plain data")


def read_snapshot(content: bytes) -> MeasuredSnapshot:
    """Read a pickled snapshot. Raises NotASnapshot."""
    try:
        found = _PlainData(io.BytesIO(content)).load()
    except NotASnapshot:
        raise
    except Exception as error:  # damaged pickles raise whatever they please
        raise NotASnapshot("it is not a pickle, or a damaged one") from error
    try:
        traces, segments = found["device_traces"], found["segments"]
        device = max(range(len(traces)), key=lambda index: len(traces[index]))
        history = _History(traces[device], [each for each in segments if each["device"] == device])
        return history.peak()
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        raise NotASnapshot("it is not what torch.cuda.memory._dump_snapshot writes") from error


class _History:
    """The actions of one card, and what is there when they end."""

    def __init__(
        self, trace: Sequence[Mapping[str, Any]], segments: Sequence[Mapping[str, Any]]
    ) -> None:
        if not any(entry["action"] == "alloc" for entry in trace):
            text = "it has no history: call torch.cuda.memory._record_memory_history() first"
            raise NotASnapshot(text)
        self._trace = trace
        self._segments = segments

    def peak(self) -> MeasuredSnapshot:
        """Where the most is allocated: found forward, from what was there before the history."""
        live = self._before()
        allocated = sum(size for size, _ in live.values())
        reserved = self._reserved_before()
        most, most_reserved, at = allocated, reserved, -1
        for number, entry in enumerate(self._trace):
            size = int(entry["size"])
            match entry["action"]:
                case "alloc":
                    allocated += rounded(size)
                case "free_completed":
                    allocated -= rounded(size)
                case "segment_alloc" | "segment_map":
                    reserved += size
                case "segment_free" | "segment_unmap":
                    reserved -= size
            most_reserved = max(most_reserved, reserved)
            if allocated > most:
                most, at = allocated, number
        for entry in self._trace[: at + 1]:
            if entry["action"] == "alloc":
                live[entry["addr"]] = rounded(int(entry["size"])), _where(entry["frames"])
            elif entry["action"] == "free_completed":
                live.pop(entry["addr"], None)
        return MeasuredSnapshot(most, most_reserved, _gathered(live.values()))

    def _before(self) -> dict[int, tuple[int, str]]:
        """What was live before the first action: what is at the end, traced back."""
        live: dict[int, tuple[int, str]] = {}
        for segment in self._segments:
            for block in segment["blocks"]:
                if str(block["state"]).startswith("active"):
                    size = rounded(int(block.get("requested_size") or block["size"]))
                    live[block["address"]] = size, _where(block.get("frames", ()))
        for entry in reversed(self._trace):
            if entry["action"] == "alloc":
                live.pop(entry["addr"], None)
            elif entry["action"] == "free_completed":
                live[entry["addr"]] = rounded(int(entry["size"])), _where(entry["frames"])
        return live

    def _reserved_before(self) -> int:
        total = sum(int(segment["total_size"]) for segment in self._segments)
        for entry in self._trace:
            if entry["action"] in ("segment_alloc", "segment_map"):
                total -= int(entry["size"])
            elif entry["action"] in ("segment_free", "segment_unmap"):
                total += int(entry["size"])
        return total


def _where(frames: Sequence[Mapping[str, Any]]) -> str:
    """The innermost line that is no library's: ``model.py:180 forward``."""
    for frame in frames:
        name = str(frame["filename"])
        if not any(part in name for part in LIBRARIES):
            file = name.replace("\\", "/").rpartition("/")[2]
            return f"{file}:{frame['line']} {frame['name']}"
    return ""


def _gathered(blocks: Any) -> tuple[Live, ...]:
    """Blocks of one size as one entry, the largest first."""
    counts: Counter[int] = Counter()
    where: dict[int, str] = {}
    for size, place in blocks:
        counts[size] += 1
        where[size] = where.get(size) or place
    return tuple(Live(size, counts[size], where[size]) for size in sorted(counts, reverse=True))
