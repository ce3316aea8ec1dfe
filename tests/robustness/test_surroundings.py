"""Where a command is started from, and with what: no folder, no streams, no docstrings, no time."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.support import guard
from tests.support.repository import ROOT

CONFIG = "n_embd = 384\nn_head = 5\n"
SCRIPT = "from nanolint.cli.main import entry_point; entry_point()"
STARTS = [("-m", "nanolint"), ("-c", SCRIPT)]

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="started by sh")


def shell(
    folder: Path, line: str, *arguments: str, python: tuple[str, ...] = STARTS[0]
) -> subprocess.CompletedProcess[str]:
    """``line``, in which ``$NANOLINT`` is the command, run by a shell in ``folder``."""
    environment = {
        **os.environ,
        "NANOLINT": shlex.join([sys.executable, *python, *arguments]),
        "PYTHONPATH": os.pathsep.join((str(ROOT), str(ROOT / "rules"))),
        "NO_COLOR": "1",
    }
    return subprocess.run(
        ["sh", "-c", line.replace("$NANOLINT", environment["NANOLINT"])],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("python", STARTS, ids=["-m", "script"])
def test_a_working_folder_that_is_gone_is_told(tmp_path: Path, python: tuple[str, ...]) -> None:
    done = shell(tmp_path, "mkdir d; cd d; rmdir ../d; $NANOLINT ../x.py", python=python)
    assert done.returncode == 2
    assert (
        done.stderr == "nanolint: the working folder does not exist, or nanolint may not read it\n"
    )


@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&-", "<&- >&- 2>&-"])
def test_closed_streams_change_no_status(tmp_path: Path, closed: str) -> None:
    (tmp_path / "x.py").write_text(CONFIG)
    done = shell(tmp_path, f"$NANOLINT --output-format=concise x.py {closed}")
    assert done.returncode == 1
    assert "internal error" not in done.stderr
    assert ("NL303" in done.stdout) is (" >&-" not in f" {closed.removeprefix('<&-')}")


@pytest.mark.parametrize("command", ["-", "fit -", "explain -"])
def test_standard_input_that_is_closed_cannot_be_judged(tmp_path: Path, command: str) -> None:
    done = shell(tmp_path, f"$NANOLINT {command} <&-")
    assert done.returncode == 2
    assert done.stderr.endswith("<stdin>: standard input is closed\n")


def test_rules_are_described_without_docstrings(tmp_path: Path) -> None:
    done = shell(tmp_path, "$NANOLINT rule", python=("-OO", "-m", "nanolint"))
    assert "Reports a key that the file sets twice" in done.stdout
    assert len(done.stdout.splitlines()) > 40
    for line in done.stdout.splitlines():
        assert len(line.split(maxsplit=3)[3].split()) > 3, line


def test_many_files_that_are_given_up_leave_nothing_behind(tmp_path: Path) -> None:
    for number in range(400):
        (tmp_path / f"c{number}.py").write_text(f"batch_size = {number + 1}\nblock_size = 512\n")
    command = [sys.executable, "-m", "nanolint", ".", "--gpu=rtx-4070"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join((str(ROOT), str(ROOT / "rules")))}
    with subprocess.Popen(
        command, cwd=tmp_path, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    ) as process:
        patience = time.monotonic() + guard.PATIENCE
        while not has_children(process.pid) and time.monotonic() < patience:
            time.sleep(0.01)
        process.terminate()
        _, told = process.communicate()
    assert process.returncode == 143
    assert told == b""


def has_children(pid: int) -> bool:
    """Whether worker processes were started; where that cannot be seen, yes."""
    try:
        return bool(Path(f"/proc/{pid}/task/{pid}/children").read_text().split())
    except OSError:
        return True
