"""The allocator's own record of itself as plain numbers: events, sizes, places in the source."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import Any

import torch

MOST_EVENTS = 4_000_000
_FORWARD = re.compile(r'File "(?P<filename>.+)", line (?P<line>\d+), in (?P<name>.+)')
_COMPILED = os.environ.get("TORCHINDUCTOR_CACHE_DIR", "/nowhere/")
_FOREIGN = ("<", str(Path(torch.__file__).parent), str(Path(re.__file__).parent.parent))


def start() -> None:
    """Record from here on, with the Python line of each allocation."""
    record = torch.cuda.memory._record_memory_history
    record(enabled="all", context="alloc", stacks="python", max_entries=MOST_EVENTS)
    # The line of the forward pass that a gradient belongs to; nothing is checked.
    torch.set_anomaly_enabled(True, False)


def allocations() -> int:
    """How many there have been."""
    count: int = torch.cuda.memory_stats().get("allocation.all.allocated", 0)
    return count


class History:
    """``events`` has ``handle`` for an allocation, ``~handle`` for its release.

    A handle is the number of the allocation, counted from 0; ``nbytes`` are those requested, and
    ``places`` are (file, line, function), or None where no line of Python is known. ``lines`` are
    those of ``files`` that an allocation came through.
    """

    def __init__(self, files: frozenset[str] = frozenset()) -> None:
        self.lines: set[tuple[str, int]] = set()
        self.events: list[int] = []
        self.nbytes: list[int] = []
        self.places: list[tuple[str, int, str] | None] = []
        self.addresses: list[int] = []
        live: dict[int, int] = {}
        for entry in torch.cuda.memory._snapshot()["device_traces"][torch.cuda.current_device()]:
            if entry["action"] == "alloc":
                handle = live[entry["addr"]] = len(self.nbytes)
                self.events.append(handle)
                self.nbytes.append(entry["size"])
                self.places.append(_place(entry))
                self.addresses.append(entry["addr"])
                if files:
                    self.lines.update(
                        (frame["filename"], frame["line"])
                        for frame in entry.get("frames", ())
                        if frame["filename"] in files
                    )
            elif entry["action"] == "free_requested" and entry["addr"] in live:
                self.events.append(~live.pop(entry["addr"]))

    def live_after(self, allocations: int) -> dict[int, int]:
        """Handle by address, of what lives when there have been so many allocations."""
        live: dict[int, int] = {}
        for event in self.events:
            if event < 0:
                live.pop(self.addresses[~event], None)
            elif event >= allocations:
                break
            else:
                live[self.addresses[event]] = event
        return live


def _place(entry: dict[str, Any]) -> tuple[str, int, str] | None:
    """The innermost line of Inductor's code, or outside torch and the standard library."""
    for frame in entry.get("frames", ()):
        if is_compiled(frame["filename"]) or is_own(frame["filename"]):
            return frame["filename"], frame["line"], frame["name"]
    for text in reversed(entry.get("forward_frames", ())):
        match = _FORWARD.search(text)
        if match is not None and is_own(match["filename"]):
            return match["filename"], int(match["line"]), match["name"]
    return None


def is_compiled(filename: str) -> bool:
    """Whether a file was written by Inductor."""
    return filename.startswith(_COMPILED)


def is_own(filename: str) -> bool:
    """Whether a file is the user's: not torch's, a package's, or this folder's."""
    if filename.startswith((*_FOREIGN, _COMPILED, str(Path(__file__).parent))):
        return False
    return not filename.startswith(sys.base_prefix) and "site-packages" not in filename
