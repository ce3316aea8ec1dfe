"""nanolint's own child. It runs on nanolint's interpreter, and starts the project's one, protected.

Three processes: the first leaves the namespaces and waits. The second is the first process of the
new namespace, lays the mounts and watches; all others end with it. The third has no power over
that; it becomes the project's interpreter. See ``guarded.py`` for the other side.
"""

from __future__ import annotations

import json
import os
import select
import sys
from pathlib import Path
from typing import Any, NoReturn

from nanolint.trace import sandbox

POLL_SECONDS = 0.5
INPUT, OUTPUT, PRINTED = 0, 1, 2
NOT_STARTED = 127  # exit status, as a shell's


def main(*, protected: bool) -> None:
    """Take the order from standard input when namespaces are left, and tell on standard output."""
    sockets: list[str] = []
    if protected:
        try:
            sockets = sandbox.sockets()
            sandbox.leave()
        except (sandbox.Refused, OSError) as error:
            return _tell(refused=str(error))
        _tell(left=True)
    line = sys.stdin.buffer.readline()
    if not line:
        return None
    order = json.loads(line)
    if not protected:
        return _supervise(order, None, [])
    pid = os.fork()
    if pid == 0:
        _supervise(order, order["folders"], sockets)
        os._exit(0)
    os.waitpid(pid, 0)
    return None


def _supervise(order: dict[str, Any], folders: list[str] | None, sockets: list[str]) -> None:
    """Start the interpreter and wait for its end, or for nanolint's."""
    layers: dict[str, Path] = {}
    try:
        if folders is not None:
            layers = sandbox.lay(folders, order["scratch"], sockets)
        for name, text in order["edits"].items():  # in the layer: the file itself is as it was
            Path(name).write_text(text, encoding="utf-8")
        pid, name = _start(order, protected=folders is not None)
    except (sandbox.Refused, OSError) as error:
        return _tell(refused=str(error))
    ended = os.pidfd_open(pid)
    while not (ready := select.select([INPUT, ended], [], [], POLL_SECONDS)[0]):
        if _resident_bytes(name) > order["host_bytes"]:
            return _tell(large=True)
    if INPUT in ready:  # nanolint is gone
        return None
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    written = set(sandbox.written(layers)) - set(order["edits"])
    return _tell(ended=status, written=sorted(written))


def _start(order: dict[str, Any], *, protected: bool) -> tuple[int, str]:
    """The interpreter's process, and its number in /proc. Raises Refused."""
    (hearing, telling), (reading, answering) = os.pipe(), os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            if protected:
                sandbox.lock()
            os.write(telling, bytes(Path("/proc/self").readlink()))
            os.read(reading, 1)
            if protected:
                sandbox.drop()
        except (sandbox.Refused, OSError) as error:
            os.write(telling, f"no: {error}".encode())
            os._exit(1)
        os.write(telling, b"yes")
        _become(order)
    os.close(telling)
    name = os.read(hearing, 1000).decode()
    if protected and name.isdecimal():
        sandbox.map_ids(Path("/proc", name))
    os.write(answering, b"\n")
    answer = os.read(hearing, 1000).decode() if name.isdecimal() else name
    if answer != "yes":
        raise sandbox.Refused(answer.removeprefix("no: "))
    return pid, name


def _become(order: dict[str, Any]) -> NoReturn:
    """The project's interpreter. What it prints goes to a file of nanolint's."""
    command = order["command"]
    try:
        os.chdir("/")
        os.dup2(os.open(os.devnull, os.O_RDONLY), INPUT)
        os.dup2(PRINTED, OUTPUT)
        os.execve(command[0], command, order["environment"])
    except OSError as error:
        print(f"{command[0]}: {error.strerror}", file=sys.stderr, flush=True)
    os._exit(NOT_STARTED)


def _resident_bytes(name: str) -> int:
    try:
        pages = int(Path("/proc", name, "statm").read_text().split()[1])
    except (OSError, IndexError, ValueError):
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")


def _tell(**values: object) -> None:
    os.write(OUTPUT, json.dumps(values).encode() + b"\n")
