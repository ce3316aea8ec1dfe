"""A project that means harm leaves no mark: neither by its interpreter nor by its script."""

from __future__ import annotations

import os
import shutil
import socket
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.support.command import nanolint

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.support.command import Outcome

PYTHON = os.environ.get("NANOLINT_CUDA_PYTHON")
UNTIL = "77.7177"  # seconds that a process sleeps which nothing ends

# What it gets hold of is printed. Nothing of it would do harm if it did.
ATTACK = """\
import ctypes, os, pathlib, socket, subprocess, sys
libc = ctypes.CDLL(None, use_errno=True)
got = []
def attempt(what, function, *arguments):
    try:
        if function(*arguments):
            got.append(what)
    except OSError:
        pass
def write(where):
    for folder in {places!r}:
        attempt(where, pathlib.Path(folder, "MARK").write_text, "")
def mounts():
    for folder in {places!r}:
        top = "/" + folder.split("/")[1]
        for path in (top, folder):
            attempt("umount", lambda: libc.umount2(path.encode(), 2) == 0)
        for path in ("/", top, "/dev/shm"):
            remount = ctypes.c_ulong(32 | 4096)
            attempt("remount", lambda: libc.mount(b"none", path.encode(), b"", remount, b"") == 0)
    write("write")
def call():
    client = socket.socket(socket.AF_UNIX)
    client.connect({socket!r})
    return True
def devices():
    for path in pathlib.Path("/dev").rglob("*"):
        if path.is_block_device():
            attempt(f"device {{path}}", os.open, path, os.O_WRONLY)
write("write")
mounts()
attempt("user namespace", lambda: libc.unshare(0x10020000) == 0)
mounts()
attempt("socket", call)
attempt("devices", devices)
attempt("vsock", lambda: socket.socket(40, socket.SOCK_STREAM))
attempt("core pattern", lambda: open("/proc/sys/kernel/core_pattern", "a"))
subprocess.Popen(["sleep", {until!r}], start_new_session=True)
status = pathlib.Path("/proc/self/status").read_text()
if int(status.split("CapEff:")[1].split()[0], 16) & ~0b11011:  # but what root may with files
    got.append("capabilities")
print(f"attacked as {{os.getuid()}}, got {{sorted(set(got))}}", flush=True)
"""
TRAINS = """\
import torch
model = torch.nn.Linear(64, 64).cuda()
optimizer = torch.optim.AdamW(model.parameters())
for step in range(20):
    model(torch.randn(4, 64, device="cuda")).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
"""


class Project:
    """A folder with what an attack could reach around it."""

    def __init__(self, folder: Path, called: socket.socket) -> None:
        self.folder, self.home = folder / "project", folder / "home"
        self.folder.mkdir()
        self.home.mkdir()
        self.shared = Path(tempfile.mkdtemp(dir="/dev/shm"))
        self._called = called
        places = [str(each) for each in (self.folder, self.home, folder, self.shared)]
        self.attack = ATTACK.format(places=places, socket=called.getsockname(), until=UNTIL)

    def write(self, name: str, text: str) -> None:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)

    def trace(self, *words: str) -> Outcome:
        before = dict(os.environ)
        outcome = nanolint("trace", "--yes", "--timeout=120", "--gpu=rtx-3060", *words)
        if "cannot keep the script" in outcome.err:
            pytest.skip("this system has no user namespaces")
        assert dict(os.environ) == before
        return outcome

    def marks(self) -> list[str]:
        """What an attack has left behind."""
        found = [path for path in self.folder.parent.rglob("*") if path.name == "MARK"]
        found += self.shared.iterdir()
        self._called.settimeout(0.01)
        try:
            self._called.accept()
        except TimeoutError:
            pass
        else:
            found.append(Path(self._called.getsockname()))
        lines = (_command_line(path) for path in Path("/proc").glob("[0-9]*"))
        return [str(path) for path in found] + [line for line in lines if UNTIL in line]


def _command_line(process: Path) -> str:
    try:
        return (process / "cmdline").read_text()
    except OSError:
        return ""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Project]:
    folder = tempfile.mkdtemp()  # whose name is short enough for a socket
    with socket.socket(socket.AF_UNIX) as called:
        called.bind(f"{folder}/socket")
        called.listen()
        made = Project(tmp_path, called)
        monkeypatch.setenv("HOME", str(made.home))
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
        monkeypatch.delenv("VIRTUAL_ENV", raising=False)
        monkeypatch.chdir(made.folder)
        yield made
    shutil.rmtree(folder)
    shutil.rmtree(made.shared)


def test_an_interpreter_of_the_projects_own_starts_inside(project: Project) -> None:
    project.write(".venv/bin/python", f"#!{sys.executable} -I\n{project.attack}")
    project.write("train.py", TRAINS)
    outcome = project.trace("--", "python", "train.py")
    assert outcome.status == 2
    assert f"attacked as {os.getuid()}, got []" in outcome.error
    assert project.marks() == []
