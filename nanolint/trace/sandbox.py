"""Keeps the script away from the network and from the user's files, by Linux namespaces.

Three steps, each in a process of its own (guard.py):

1. ``leave``: namespaces for users, mounts, network, processes and IPC.
2. ``lay``: every mount is read-only, except layers of memory over the folders that scripts write
   to; sockets are covered, /dev has no device that keeps anything.
3. ``lock``: one more user namespace. The mounts of step 2 cannot be changed from there, whatever
   the script may do, and it keeps no capability but those that root needs for its own files.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import fcntl
import os
import re
import socket
import stat
import struct
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

NEWNS, NEWIPC, NEWUSER, NEWPID, NEWNET = 0x20000, 0x8000000, 0x10000000, 0x20000000, 0x40000000
MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_BIND, MS_REC, MS_PRIVATE = 2, 4, 8, 4096, 16384, 1 << 18
MOUNT_SETATTR, AT_FDCWD, AT_RECURSIVE = 442, -100, 0x8000
READ_ONLY, NO_SUID, NO_DEVICES = 1, 2, 4  # MOUNT_ATTR_*
SIOCSIFFLAGS, IFF_UP = 0x8914, 1
PR_CAPBSET_DROP, PR_SET_NO_NEW_PRIVS, CAPABILITY_VERSION = 24, 38, 0x20080522
PR_SET_SECCOMP, LOAD, IF_EQUAL, IF_AT_LEAST, RETURN = 22, 0x20, 0x15, 0x35, 0x06
SYSTEM_CALLS = {"x86_64": (0xC000003E, 41), "aarch64": (0xC00000B7, 198)}  # socket
IO_URING_SETUP, FAMILIES = 425, (1, 2, 10, 16)  # unix, inet, inet6, netlink
CHOWN, DAC_OVERRIDE, FOWNER, FSETID = 0, 1, 3, 4  # capabilities that root has over files
SCRATCH_BYTES = 2 << 30  # that a script may write before it is told that the disk is full

DEVICES = ("null", "zero", "full", "random", "urandom", "tty")
SHARED = "/dev/shm"
MEMORY = "memory"  # in the scratch folder: caches of the compilers
_KEEPS_FILES = re.compile(
    r"(ext\d|xfs|btrfs|zfs|f2fs|bcachefs|nfs|cifs|smb|lustre|gpfs|beegfs|ceph|9p|virtiofs|fuse|"
    r"tmpfs|ntfs|exfat).*"
)
_OF_THE_SYSTEM = ("/proc", "/sys", "/dev", "/run")
_ESCAPED = re.compile(r"\\(\d{3})")
_SEARCHED = (("/run", 4), ("/tmp", 3))  # where sockets are, and how deep
MOST_FOLDERS = 20_000  # that are looked at for owners
MOST_LISTED = 10_000

_libc = ctypes.CDLL(None, use_errno=True)


class Refused(Exception):
    """The system does not allow it; says what."""


class Mount(NamedTuple):
    """A line of /proc/self/mountinfo."""

    path: str
    kind: str
    options: str

    @property
    def keeps_files(self) -> bool:
        """Whether it is a disk, a share or memory that can be written to."""
        return (
            self.path != "/"
            and "rw" in self.options.split(",")
            and _KEEPS_FILES.fullmatch(self.kind) is not None
            and not any(_inside(self.path, each) for each in _OF_THE_SYSTEM)
        )


def sockets() -> list[str]:
    """Sockets and pipes that have a path: a read-only mount does not stop what goes through them.

    To be asked before ``leave``, after which there are none of the network namespace.
    """
    with open("/proc/net/unix", encoding="utf-8", errors="surrogateescape") as file:  # noqa: PTH123
        bound = [line.rstrip("\n").split(" ", 7)[-1].strip() for line in file]
    places = chain(bound, (mount.path for mount in _mounts()), *(_beneath(*at) for at in _SEARCHED))
    return sorted({place for place in places if place.startswith("/") and _is_way_out(place)})


def leave() -> None:
    """Leave all namespaces but the old user; ``map_ids`` has to follow. Raises Refused."""
    _call("namespaces", _libc.unshare, NEWUSER | NEWNS | NEWNET | NEWPID | NEWIPC)


def map_ids(process: Path) -> None:
    """Have users and groups be in the namespace of ``process`` (in /proc) who they are here.

    All of them if the caller may decide that, as root does; else only the caller itself. Raises
    Refused.
    """
    try:
        for kind in ("uid_map", "gid_map"):
            lines = (line.split() for line in Path("/proc/self", kind).read_text().splitlines())
            everybody = "".join(f"{inside} {inside} {count}\n" for inside, _, count in lines)
            try:
                (process / kind).write_text(everybody)
            except PermissionError:
                if kind == "gid_map":
                    (process / "setgroups").write_text("deny")
                own = os.geteuid() if kind == "uid_map" else os.getegid()
                (process / kind).write_text(f"{own} {own} 1")
    except OSError as error:
        raise Refused(f"user namespace: {error.strerror}") from error


def lay(folders: Sequence[str], scratch: str, covered: Collection[str]) -> dict[str, Path]:
    """Make every mount read-only, except layers over ``folders`` and over disks.

    ``covered`` are the ``sockets``. ``scratch`` is a folder with an empty one, ``MEMORY``, which
    can be written, too. Returns the folders with a layer over them, each with its layer. Raises
    Refused.
    """
    _raise_loopback()
    _mount("none", "/", "", MS_REC | MS_PRIVATE)
    folders = [os.path.realpath(folder) for folder in folders]
    mounts = {mount.path: mount for mount in _mounts()}
    wanted = _outermost({*folders, SHARED}, mounts)
    opened = {path: _opened(path) for path in (*wanted, scratch)}
    for path in mounts:  # those in a folder with a layer, which does not show them
        with contextlib.suppress(Refused):
            if path not in opened and any(_inside(path, each) for each in wanted):
                opened[path] = _opened(path)
    devices = {name: _opened(f"/dev/{name}") for name in DEVICES}
    memory_folder = f"{scratch}/{MEMORY}"
    _mount("tmpfs", memory_folder, "tmpfs", 0, f"size={SCRATCH_BYTES}")
    memory = Path(_opened(memory_folder))
    _mount("tmpfs", "/dev", "tmpfs", 0, "mode=755")
    for name, source in devices.items():
        Path("/dev", name).touch()
        _mount(source, f"/dev/{name}", "", MS_BIND)
    for name, target in (("fd", ""), ("stdin", "/0"), ("stdout", "/1"), ("stderr", "/2")):
        Path("/dev", name).symlink_to(f"/proc/self/fd{target}")
    Path(SHARED).mkdir()
    layers: dict[str, Path] = {}
    for path in sorted(opened.keys() - {scratch}):
        if path in wanted:
            try:
                layers[path] = _layer(path, opened[path], memory / str(len(layers)), folders)
            except Refused:
                if path in folders or path == SHARED:
                    raise
        if path not in layers:
            _mount(opened[path], path, "", MS_BIND)
    (memory / "caches").mkdir()
    (memory / "nothing").touch()
    for place in covered:
        with contextlib.suppress(Refused):  # what cannot be got to here, nor from here on
            _mount(str(memory / "nothing"), place, "", MS_BIND)
    _mount(opened[scratch], scratch, "", MS_BIND)
    _mount(str(memory / "caches"), memory_folder, "", MS_BIND)
    with contextlib.suppress(OSError):  # one more, for ``lock``, and none below that
        Path("/proc/sys/user/max_user_namespaces").write_text("1")
    _change("/", READ_ONLY | NO_SUID | NO_DEVICES, recursive=True)
    for path in (*layers, memory_folder):
        _change(path, 0, READ_ONLY)
    for name in DEVICES:
        _change(f"/dev/{name}", 0, READ_ONLY | NO_DEVICES)
    try:
        _mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC)
    except Refused:  # a container hides parts of it: the old one shows more, and allows no more
        _change("/proc", 0, READ_ONLY)
    return layers


def lock() -> None:
    """Lose all power over the mounts. Raises Refused. ``map_ids`` has to follow, then ``drop``."""
    _call("a second user namespace", _libc.unshare, NEWUSER | NEWNS)


def drop() -> None:
    """Lose all other power that is not needed to read and write files. Raises Refused."""
    _change("/proc", READ_ONLY | NO_SUID | NO_DEVICES, recursive=True)
    kept = (CHOWN, DAC_OVERRIDE, FOWNER, FSETID) if os.geteuid() == 0 else ()
    _call("no new privileges", _libc.prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    for capability in set(range(64)) - set(kept):
        _libc.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0)  # fails for those that there are not
    mask = sum(1 << capability for capability in kept)
    sets = struct.pack("6I", mask, mask, 0, 0, 0, 0)  # effective, permitted, inheritable
    _call("capabilities", _libc.capset, struct.pack("Ii", CAPABILITY_VERSION, 0), sets)
    _forbid_other_networks()


def _forbid_other_networks() -> None:
    """Allow sockets of families that a network namespace holds: not those to a host (vsock)."""
    arch, calls_socket = SYSTEM_CALLS[os.uname().machine]
    program = [
        (LOAD, 0, 0, 4), (IF_EQUAL, 0, 11, arch),  # no system call of another architecture
        (LOAD, 0, 0, 0), (IF_AT_LEAST, 9, 0, 0x40000000), (IF_EQUAL, 8, 0, IO_URING_SETUP),
        (IF_EQUAL, 0, 6, calls_socket), (LOAD, 0, 0, 16),
        *((IF_EQUAL, 4 - number, 0, family) for number, family in enumerate(FAMILIES)),
        (RETURN, 0, 0, 0x50000 | errno.EAFNOSUPPORT), (RETURN, 0, 0, 0x7FFF0000),
        (RETURN, 0, 0, 0x50000 | errno.ENOSYS),
    ]  # fmt: skip
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *each) for each in program))
    whole = struct.pack("HxxxxxxP", len(program), ctypes.addressof(code))
    _call("system call filter", _libc.prctl, PR_SET_SECCOMP, 2, whole, 0, 0)


def written(layers: dict[str, Path]) -> list[str]:
    """The files that were written into ``layers``, by the names that the script gave them."""
    found = (
        str(Path(folder, path.relative_to(layer)))
        for folder, layer in layers.items()
        for path in layer.rglob("*")
        if stat.S_ISREG(path.lstat().st_mode)
    )
    return sorted(islice(found, MOST_LISTED))


def _mounts() -> list[Mount]:
    lines = Path("/proc/self/mountinfo").read_text(errors="surrogateescape").splitlines()
    found = []
    for line in lines:
        place, _, source = line.partition(" - ")
        fields = place.split(" ")
        path = _ESCAPED.sub(lambda match: chr(int(match[1], 8)), fields[4])
        found.append(Mount(path, source.split(" ")[0], fields[5]))
    return found


def _outermost(folders: Collection[str], mounts: dict[str, Mount]) -> list[str]:
    """The folders and disks that need a layer of their own: no other one of their mount has it."""
    places = {*folders} - {"/"}
    places |= {path for path, mount in mounts.items() if mount.keeps_files}
    kept: list[str] = []
    for path in sorted(filter(os.path.isdir, places)):
        mount = max((each for each in mounts if _inside(path, each)), key=len)
        if not any(_inside(path, each) and _inside(each, mount) for each in kept):
            kept.append(path)
    return kept


def _layer(folder: str, lower: str, layer: Path, projects: Sequence[str]) -> Path:
    """Lay memory over a folder; returns the folder in memory."""
    work = layer.with_suffix(".work")
    layer.mkdir()
    work.mkdir()
    for project in projects:
        if _inside(project, folder):
            _own(Path(lower), layer, os.path.relpath(project, folder))
    options = f"lowerdir={lower},upperdir={layer},workdir={work}"
    try:
        _mount("overlay", folder, "overlay", 0, f"{options},userxattr")
    except Refused:  # before Linux 5.11
        _mount("overlay", folder, "overlay", 0, options)
    return layer


def _own(lower: Path, layer: Path, project: str) -> None:
    """Have folders of the project that belong to other users or groups be ours in the layer.

    A file system cannot copy what belongs to somebody whom this user namespace does not know: a
    file would not be written into such a folder ("Value too large for defined data type").
    """
    walked = os.walk(lower / project)
    for name, folders, _ in islice(walked, MOST_FOLDERS):
        folders[:] = [each for each in folders if each[0] != "." and each != "site-packages"]
        found = os.stat(name)  # noqa: PTH116 (thousands of them)
        if (found.st_uid, found.st_gid) != (os.geteuid(), os.getegid()) and not _knows_all():
            own = layer / os.path.relpath(name, lower)
            own.mkdir(parents=True, exist_ok=True)
            own.chmod(0o755 if os.access(name, os.W_OK) else 0o555)


def _knows_all() -> bool:
    return int(Path("/proc/self/uid_map").read_text().split()[2]) > 1


def _is_way_out(place: str) -> bool:
    try:
        mode = os.lstat(place).st_mode
    except (OSError, ValueError):
        return False
    return stat.S_ISSOCK(mode) or stat.S_ISFIFO(mode)


def _beneath(top: str, depth: int) -> Iterator[str]:
    """Yields the paths below ``top`` that are neither folder nor file, if they can be seen."""
    with contextlib.suppress(OSError), os.scandir(top) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                if depth > 1:
                    yield from _beneath(entry.path, depth - 1)
            elif not (entry.is_symlink() or entry.is_file()):
                yield entry.path


def _inside(path: str, folder: str) -> bool:
    return path == folder or path.startswith(f"{folder.rstrip('/')}/")


def _opened(path: str) -> str:
    """A name for what is at ``path`` now, whatever will be mounted over it."""
    try:
        return f"/proc/self/fd/{os.open(path, os.O_PATH)}"
    except OSError as error:
        raise Refused(f"{path}: {error.strerror}") from error


def _raise_loopback() -> None:
    """A new network has a loopback device that is down."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, SIOCSIFFLAGS, struct.pack("16sH14x", b"lo", IFF_UP))


def _mount(source: str, target: str, kind: str, flags: int, options: str = "") -> None:
    texts = [os.fsencode(text) for text in (source, target, kind)]
    _call(f"mount on {target}", _libc.mount, *texts, ctypes.c_ulong(flags), os.fsencode(options))


def _change(path: str, on: int, off: int = 0, *, recursive: bool = False) -> None:
    """Set and clear attributes of the mount at ``path`` (Linux 5.12)."""
    attributes = struct.pack("4Q", on, off, 0, 0)
    flags = AT_RECURSIVE if recursive else 0
    arguments = AT_FDCWD, os.fsencode(path), flags, attributes, ctypes.c_size_t(len(attributes))
    _call(f"attributes of {path}", _libc.syscall, MOUNT_SETATTR, *arguments)


def _call(what: str, function: object, *arguments: object) -> None:
    if function(*arguments) != 0:  # type: ignore[operator]
        number = ctypes.get_errno()
        why = "no more are allowed" if number == errno.ENOSPC else os.strerror(number)
        raise Refused(f"{what}: {why}")
