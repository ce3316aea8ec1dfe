"""A memory snapshot of a real run, read without unpickling anything but plain data.

It is what ``torch.cuda.memory._dump_snapshot`` writes after ``_record_memory_history``: the
allocator's actions in order, and the blocks that are there at the end.
"""

from __future__ import annotations

import io
import pickle
from collections import Counter
from typing import TYPE_CHECKING, Any, NoReturn

from nanolint.errors import UserError
from nanolint.frozen import dataclass
from nanolint.tape.tape import rounded

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

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
