"""The pretend card, built and loaded: what the library in device/ says, in Python's words."""

from __future__ import annotations

import ctypes
import importlib.util
import subprocess
from enum import IntEnum
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).parent
SOURCES = HERE / "device"
LIBRARY = HERE / "build" / "libcounting.so"
ROUNDING = 512  # PyTorch's caching allocator rounds every request up to it


class Kind(IntEnum):
    """What an event is, as device/log.h numbers it."""

    ALLOCATION = 0
    RELEASE = 1
    PHASE = 2


class Event(NamedTuple):
    """One entry of the log: an allocation and its release share a number."""

    kind: Kind
    number: int
    bytes: int


class _Event(ctypes.Structure):
    _fields_ = tuple((name, ctypes.c_int64) for name in Event._fields)


def torch_folder() -> Path:
    """Where torch is installed, found without importing it."""
    found = importlib.util.find_spec("torch")
    if found is None or found.origin is None:
        raise SystemExit("torch is not installed")
    return Path(found.origin).parent


def build() -> None:
    """Compile the library with g++, unless it is newer than its sources and than torch."""
    torch = torch_folder()
    inputs = [*SOURCES.iterdir(), torch / "version.py"]
    if LIBRARY.exists() and LIBRARY.stat().st_mtime > max(p.stat().st_mtime for p in inputs):
        return
    LIBRARY.parent.mkdir(exist_ok=True)
    command = ["g++", "-std=c++20", "-O1", "-shared", "-fPIC", f"-I{torch / 'include'}"]
    command += [str(SOURCES / "device.cpp"), "-o", str(LIBRARY), f"-L{torch / 'lib'}"]
    command += ["-ltorch_cpu", "-lc10", f"-Wl,-rpath,{torch / 'lib'}"]
    subprocess.run(command, check=True)


class Card:
    """The card of this process. Load it before torch: importing torch looks for CUDA once."""

    def __init__(self, *, flash: bool) -> None:
        build()
        for library in ("libc10.so", "libtorch_cpu.so"):  # its symbols must be global
            ctypes.CDLL(str(torch_folder() / "lib" / library), ctypes.RTLD_GLOBAL)
        self._library = ctypes.CDLL(str(LIBRARY), ctypes.RTLD_GLOBAL)
        self._library.counting_use_flash.argtypes = [ctypes.c_bool]
        self._library.counting_start_phase.argtypes = [ctypes.c_int64]
        self._library.counting_events.restype = ctypes.c_int64
        self._library.counting_use_flash(flash)
        self.phases: list[str] = []

    def phase(self, name: str) -> None:
        """From here on, what happens belongs to the phase ``name``."""
        if name not in self.phases:
            self.phases.append(name)
        self._library.counting_start_phase(self.phases.index(name))

    def events(self) -> list[Event]:
        """Everything that has happened so far."""
        entries = (_Event * self._library.counting_events())()
        self._library.counting_copy_events(ctypes.byref(entries))
        return [Event(Kind(entry.kind), entry.number, entry.bytes) for entry in entries]


def rounded(nbytes: int) -> int:
    """What a request of ``nbytes`` bytes takes from the card."""
    return -(-nbytes // ROUNDING) * ROUNDING
