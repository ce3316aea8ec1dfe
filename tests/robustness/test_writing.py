"""``--fix`` that is stopped, raced or out of room: each file is the old one or the new, never less.

A fault is put in by a line of Python in front of the real command.
"""

from __future__ import annotations

import contextlib
import random
import shutil
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from tests.support import guard

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the limits are those of Linux")

SIZES = "n_layer = 1\nblock_size = 1024\nn_head = 12\nn_embd = 768\n"
OLD = "batch_size = 512  # micro-batch\ngradient_accumulation_steps = 4\n" + SIZES
NEW = "batch_size = 16  # micro-batch\ngradient_accumulation_steps = 128\n" + SIZES
FIX = ("--fix", "--output-format=concise", "--gpu=12GB")
RUN = "from nanolint.cli.main import entry_point; entry_point()"
# Whoever starts the tests in the background may have them ignore an interrupt.
SLOW_DISK = (
    "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
    f"import os, time; sync = os.fsync; os.fsync = lambda f: (time.sleep(0.05), sync(f)); {RUN}"
)

# Runs just before a file is read, or between judging it and writing it.
BEFORE_READING = """
import os
from nanolint.cli import judging
read = judging.read_bytes
def meddle(path):
    if path.name == "x.py":
        {}
    return read(path)
judging.read_bytes = meddle
"""
BEFORE_WRITING = """
import os
from nanolint.cli import judging
replace = judging.replace_file
def meddle(path, new, **how):
    if path.name == "x.py":
        {}
    return replace(path, new, **how)
judging.replace_file = meddle
"""


def configs(folder: Path, count: int) -> list[Path]:
    paths = [folder / f"config_{number:03}.py" for number in range(count)]
    for path in paths:
        path.write_text(OLD)
    return paths


def leftovers(folder: Path) -> list[str]:
    """What is there beside configs; none of it may look like one."""
    names = [path.name for path in folder.iterdir() if path.suffix != ".py"]
    assert all(name.startswith(".") and name.endswith(".tmp") for name in names), names
    return names


def wholly_new(paths: list[Path]) -> int:
    """How many files are fixed; every other one is as it was."""
    texts = [path.read_text() for path in paths]
    assert set(texts) <= {OLD, NEW}
    return texts.count(NEW)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("moment", [0.0, 0.01, 0.05])
def test_a_signal_leaves_every_file_whole(
    number: signal.Signals, moment: float, tmp_path: Path
) -> None:
    paths = configs(tmp_path, 30)
    running = guard.start(tmp_path, *FIX, ".", python=("-c", SLOW_DISK))
    deadline = time.monotonic() + guard.PATIENCE
    while paths[1].read_text() == OLD and time.monotonic() < deadline:
        time.sleep(0.002)
    time.sleep(moment + random.random() / 50)
    running.send(number)
    ended = running.end()
    assert 0 < wholly_new(paths) < len(paths), "it was stopped in the middle"
    assert "Traceback" not in ended.err
    if number is signal.SIGKILL:
        assert ended.status == -number
        assert len(leftovers(tmp_path)) <= 1
    else:
        told = "nanolint: interrupted\n" if number is signal.SIGINT else ""
        assert (ended.status, ended.err) == (128 + number, told)
        assert leftovers(tmp_path) == []
    assert guard.run(tmp_path, *FIX, ".").status == 0
    assert wholly_new(paths) == len(paths)


def test_two_fixes_at_once_do_not_undo_each_other(tmp_path: Path) -> None:
    paths = configs(tmp_path, 10)
    both = [guard.start(tmp_path, *FIX, ".", python=("-c", SLOW_DISK)) for _ in range(2)]
    for ended in [running.end() for running in both]:
        assert ended.status in (0, 2)
        assert "Traceback" not in ended.err
        assert all(
            "not fixed: the file changed while it was checked" in line
            for line in ended.err.splitlines()
        )
    assert wholly_new(paths) == len(paths)
    assert leftovers(tmp_path) == []


@pytest.mark.parametrize(
    ("fault", "line", "text"),
    [
        (
            BEFORE_READING.format("os.unlink(path)"),
            "nanolint: x.py: no such file or directory",
            None,
        ),
        (BEFORE_WRITING.format("os.unlink(path)"), "nanolint: x.py: not fixed: ", None),
        (
            BEFORE_WRITING.format("path.write_text('a = 1\\n')"),
            "nanolint: x.py: not fixed: the file changed while it was checked; run nanolint again",
            "a = 1\n",
        ),
        (
            BEFORE_WRITING.format("os.chmod(path, 0o444)"),
            "nanolint: x.py: not fixed: the file is read-only",
            OLD,
        ),
        (
            BEFORE_WRITING.format("os.chmod(path.absolute().parent, 0o555)"),
            "nanolint: x.py: not fixed: permission denied",
            OLD,
        ),
    ],
    ids=["deleted before", "deleted", "changed", "made read-only", "in a read-only folder"],
)
def test_a_file_that_is_meddled_with(
    fault: str, line: str, text: str | None, tmp_path: Path
) -> None:
    if not guard.can_obey_modes():
        pytest.skip("root may write everything, and setpriv is missing")
    (tmp_path / "x.py").write_text(OLD)
    (tmp_path / "other").mkdir()
    other = tmp_path / "other" / "y.py"
    other.write_text(OLD)
    ended = guard.run(tmp_path, *FIX, "x.py", "other", python=("-c", fault + RUN), obey_modes=True)
    tmp_path.chmod(0o755)
    assert ended.status == 2
    assert [each for each in ended.lines if each.startswith("nanolint:")] == [
        each for each in ended.err.splitlines() if each.startswith(line)
    ]
    assert len(ended.err.splitlines()) == 1, ended.err
    assert other.read_text() == NEW
    assert ((tmp_path / "x.py").read_text() if text is not None else None) == text
    assert leftovers(tmp_path / "other") == []


def test_a_file_longer_than_may_be_written_stays_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "x.py"
    path.write_text(OLD + "# a long comment\n" * 1000)
    before = path.read_bytes()
    ended = guard.run(tmp_path, *FIX, "x.py", file_blocks=8)
    assert ended.status == 2
    assert ended.err == "nanolint: x.py: not fixed: file too large\n"
    assert path.read_bytes() == before
    assert [each.name for each in tmp_path.iterdir()] == ["x.py"]


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 16 KiB."""
    place = tmp_path / "disk"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=16k", "tmpfs", str(place)]
    if shutil.which("mount") is None or subprocess.call(mount, stderr=subprocess.DEVNULL):
        pytest.skip("a small file system cannot be mounted here")
    try:
        yield place
    finally:
        subprocess.check_call(["umount", str(place)])


def test_a_full_disk_leaves_the_file_as_it_was(small_disk: Path) -> None:
    path = small_disk / "x.py"
    path.write_text(OLD)
    filler = small_disk / "filler"
    with contextlib.suppress(OSError), filler.open("wb", buffering=0) as file:
        while True:
            file.write(b"x" * 512)
    ended = guard.run(small_disk, *FIX, "x.py")
    assert ended.status == 2
    assert ended.err == "nanolint: x.py: not fixed: no space left on device\n"
    assert path.read_text() == OLD
    assert sorted(each.name for each in small_disk.iterdir()) == ["filler", "x.py"]


def test_a_read_only_file_is_told_and_left(tmp_path: Path) -> None:
    if not guard.can_obey_modes():
        pytest.skip("root may write everything, and setpriv is missing")
    path = tmp_path / "x.py"
    path.write_text(OLD)
    path.chmod(0o444)
    ended = guard.run(tmp_path, *FIX, "x.py", obey_modes=True)
    assert (ended.status, path.read_text()) == (2, OLD)
    assert ended.err == "nanolint: x.py: not fixed: the file is read-only\n"
