"""The card in this machine: what it is, what a process holds of it, and many runs on it at once.

Needs torch with CUDA and nothing else; pynvml, where it is installed, tells what a process holds.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

Result = dict[str, Any]
MOST_EVENTS = 1_000_000
ROUNDED = 512  # bytes


@cache
def described() -> Result:
    """The card and its software."""
    import torch

    properties = torch.cuda.get_device_properties(0)
    return {
        "name": properties.name,
        "total_bytes": properties.total_memory,
        "sm_count": properties.multi_processor_count,
        "l2_bytes": properties.L2_cache_size,
        "compute_capability": [properties.major, properties.minor],
        "torch": torch.__version__,
        "cuda": torch.version.cuda,
        "driver": _nvidia_smi("driver_version"),
    }


def _nvidia_smi(field: str) -> str | None:
    command = ["nvidia-smi", f"--query-gpu={field}", "--format=csv,noheader,nounits", "-i", "0"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=20, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()


def process_bytes() -> int | None:
    """Bytes of the card that this process holds, its context included; None where nobody tells."""
    try:
        import pynvml
    except ImportError:
        return None
    try:
        pynvml.nvmlInit()
        handle = pynvml.nvmlDeviceGetHandleByIndex(0)
        found = pynvml.nvmlDeviceGetComputeRunningProcesses(handle)
    except pynvml.NVMLError:
        return None
    held = [each.usedGpuMemory for each in found if each.pid == os.getpid()]
    return held[0] if held else None


def peaks() -> Result:
    """What torch's allocator has counted by now, and what the process holds."""
    import torch

    torch.cuda.synchronize()
    return {
        "allocated": torch.cuda.max_memory_allocated(),
        "reserved": torch.cuda.max_memory_reserved(),
        "retries": torch.cuda.memory_stats().get("num_alloc_retries", 0),
        "process_bytes": process_bytes(),
        "free_bytes": torch.cuda.mem_get_info()[0],
    }


def watch() -> None:
    """Have the allocator write down what it is asked for."""
    import torch

    torch.cuda.memory._record_memory_history(context=None, max_entries=MOST_EVENTS)


def seen() -> list[int]:
    """What the allocator was asked for since ``watch``: bytes, or, below nought, how many places
    before the block was asked for that is given back."""
    import torch

    found: list[int] = []
    place: dict[int, int] = {}
    for entry in torch.cuda.memory._snapshot()["device_traces"][0]:
        if entry["action"] == "alloc":
            place[entry["addr"]] = len(found)
            found.append(entry["size"])
        elif entry["action"] == "free_completed" and entry["addr"] in place:
            found.append(place.pop(entry["addr"]) - len(found))
    return found


def requested(events: list[int], after: int = 0) -> int:
    """The most bytes that were requested at once, each request rounded up to 512, as nanolint
    counts them; from the place ``after`` on."""
    live = most = 0
    for place, event in enumerate(events):
        size = event if event >= 0 else events[place + event]
        whole = -(-size // ROUNDED) * ROUNDED
        live += whole if event >= 0 else -whole
        if place >= after:
            most = max(most, live)
    return most


def timed_until(events: list[int], l2_bytes: int) -> int:
    """The place behind the last kernel that torch.compile timed: between two launches it writes a
    block of the size of the card's cache (torch/_inductor/runtime/benchmarking.py)."""
    last = 0
    for place, event in enumerate(events):
        if event < 0 and events[place + event] == l2_bytes:
            last = place + 1
    return last


def write(out: Path, card: Result, key: str, rows: list[Result] | dict[str, Result]) -> None:
    """Write what was measured, a row to a line."""
    out.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(rows, dict):
        lines = [f"{json.dumps(name)}: {json.dumps(row)}" for name, row in rows.items()]
        begin, end = "{", "}"
    else:
        lines, (begin, end) = [json.dumps(row) for row in rows], "[]"
    text = ",\n ".join(lines)
    out.write_text(f'{{"card": {json.dumps(card)},\n"{key}": {begin}\n {text}\n{end}}}\n')


class Runs:
    """Processes on the card, some at a time.

    One that ran out of memory, or had to give blocks back for want of it, runs again alone, when
    no other holds a part of the card. What is started after ``budget`` seconds is not started.
    """

    def __init__(self, budget: float, together: int, seconds: float) -> None:
        self.deadline, self.together, self.seconds = time.monotonic() + budget, together, seconds

    def every(
        self, commands: dict[str, list[str]], crowded: Callable[[Result], bool]
    ) -> Iterable[tuple[str, Result]]:
        """The name and the result of each command, which prints it as JSON in its last line."""
        again = []
        with ThreadPoolExecutor(self.together) as pool:
            started = {name: pool.submit(self.one, command) for name, command in commands.items()}
            for name, waiting in started.items():
                found = waiting.result()
                if self.together > 1 and crowded(found):
                    again.append(name)
                else:
                    yield name, found
        for name in again:
            yield name, self.one(commands[name])

    def one(self, command: list[str]) -> Result:
        """The result of one command, or its error."""
        left = min(self.deadline - time.monotonic(), self.seconds)
        if left <= 0:
            return {"error": "not started: the budget is spent"}
        begun = time.monotonic()
        started = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,  # torch.compile's workers end with it
        )
        try:
            printed, said = started.communicate(timeout=left)
        except subprocess.TimeoutExpired:
            os.killpg(started.pid, signal.SIGKILL)
            started.communicate()
            return {"error": f"stopped after {left:.0f} s"}
        if started.returncode:
            return {"error": said.strip()[-400:]}
        try:
            found: Result = json.loads(printed.splitlines()[-1])
        except (IndexError, ValueError):
            return {"error": "printed no result"}
        return {**found, "seconds": round(time.monotonic() - begun, 1)}
