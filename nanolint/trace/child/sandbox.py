"""Keep the script away from the network and from the user's files, by Linux namespaces.

The process gets a network without a way out, and a view of the disk in which the project, the home
folder and /tmp can be written, but into memory: what a script saves is gone when it ends.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import os
import socket
import struct
from pathlib import Path

CLONE_NEWNS, CLONE_NEWUSER, CLONE_NEWNET = 0x00020000, 0x10000000, 0x40000000
MS_RDONLY, MS_REMOUNT, MS_BIND, MS_REC, MS_PRIVATE = 1, 32, 4096, 16384, 1 << 18
SIOCSIFFLAGS, IFF_UP = 0x8914, 1
SCRATCH_BYTES = 2 << 30  # that a script may write before it is told that the disk is full

_libc = ctypes.CDLL(None, use_errno=True)


class Refused(Exception):
    """The system does not allow it; says what."""


def enter(folders: list[str], scratch: str) -> dict[str, Path]:
    """Leave the network, and lay a writable layer of memory over ``folders``.

    ``scratch`` is an empty folder, which may lie in one of them. Returns the folders that were laid
    over, each with its layer; the rest of the disk can then only be read. Raises Refused if it is
    not allowed.
    """
    user = os.getuid(), os.getgid()
    flags = CLONE_NEWNET | CLONE_NEWNS
    _call("namespaces", _libc.unshare, flags | (CLONE_NEWUSER if user[0] else 0))
    if user[0]:
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"{user[0]} {user[0]} 1")
        Path("/proc/self/gid_map").write_text(f"{user[1]} {user[1]} 1")
    _raise_loopback()
    _mount("none", "/", "", MS_REC | MS_PRIVATE)
    _mount("tmpfs", scratch, "tmpfs", 0, f"size={SCRATCH_BYTES}")
    memory = Path(f"/proc/self/fd/{os.open(scratch, os.O_PATH)}")  # seen below any layer
    layers: dict[str, Path] = {}
    for number, folder in enumerate(_outermost(folders)):
        layer, work = memory / str(number), memory / f"{number}.work"
        layer.mkdir()
        work.mkdir()
        _mount(
            "overlay", folder, "overlay", 0, f"lowerdir={folder},upperdir={layer},workdir={work}"
        )
        layers[folder] = layer
    with contextlib.suppress(Refused):
        _mount("", "/", "", MS_REMOUNT | MS_BIND | MS_RDONLY)
    os.chdir(Path.cwd())  # the same folder, seen through its layer
    return layers


def written(layers: dict[str, Path]) -> list[str]:
    """The files that were written into ``layers``, by the names that the script gave them."""
    return sorted(
        str(Path(folder) / path.relative_to(layer))
        for folder, layer in layers.items()
        for path in layer.rglob("*")
        if path.is_file()
    )


def _outermost(folders: list[str]) -> list[str]:
    """Without those inside another on the same disk, which its layer covers."""
    kept: list[Path] = []
    for path in sorted({Path(folder).resolve() for folder in folders}):
        inside = any(
            other in path.parents and other.stat().st_dev == path.stat().st_dev for other in kept
        )
        if path.is_dir() and not inside:
            kept.append(path)
    return [str(path) for path in kept]


def _raise_loopback() -> None:
    """A new network has a loopback device that is down."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, SIOCSIFFLAGS, struct.pack("16sH14x", b"lo", IFF_UP))


def _mount(source: str, target: str, kind: str, flags: int, options: str = "") -> None:
    texts = [text.encode() for text in (source, target, kind)]
    _call(f"mount on {target}", _libc.mount, *texts, ctypes.c_ulong(flags), options.encode())


def _call(what: str, function: object, *arguments: object) -> None:
    if function(*arguments) != 0:  # type: ignore[operator]
        raise Refused(f"{what}: {os.strerror(ctypes.get_errno())}")
