"""Worker processes that are ended from outside: by a user, or by a system that is out of memory."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from nanolint.cli import processes, session
from nanolint.cli.processes import Killed, in_processes
from tests.support.command import nanolint
from tests.support.repository import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

DEADLY = 13
CONFIG = "batch_size = 8\nblock_size = 256\nn_layer = n_head = 2\nn_embd = 64\n"


def negated(number: int, item: int) -> int:
    """Ends its process at one item."""
    if item == DEADLY:
        os.kill(os.getpid(), number)
    return -item


def once(mark: str, item: int) -> int:
    """Ends its process at one item, but the second time does it."""
    if item == DEADLY and not os.path.exists(mark):  # noqa: PTH110
        with open(mark, "w"):  # noqa: PTH123
            os.kill(os.getpid(), signal.SIGKILL)
    return -item


def told(_: int, error: Exception) -> int:
    """Keeps why."""
    reasons.append(str(error))
    return 0


reasons: list[str] = []


def test_what_is_killed_once_is_tried_again(tmp_path: Path) -> None:
    mark = str(tmp_path / "mark")
    assert list(in_processes(once, mark, range(20), 2)) == [-each for each in range(20)]


PARENT = """
import sys
from nanolint.cli.processes import in_processes
from tests.stories.cli.test_killed_workers import lasting
if __name__ == "__main__":
    list(in_processes(lasting, sys.argv[1], range(2), 2))
"""


def lasting(folder: str, item: int) -> None:
    """Says which process it is, and works on."""
    Path(folder, str(item)).write_text(str(os.getpid()), encoding="utf-8")
    end = time.monotonic() + 120
    while time.monotonic() < end:
        sum(range(1000))


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="asks Linux which processes are")
def test_workers_end_with_a_parent_that_is_killed(tmp_path: Path) -> None:
    told = tmp_path / "told"
    told.mkdir()
    script = tmp_path / "parent.py"
    script.write_text(PARENT, encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    parent = subprocess.Popen([sys.executable, script, told], env=environment)
    try:
        waited(lambda: len([each for each in told.iterdir() if each.read_text()]) == 2)
    finally:
        parent.kill()
        parent.wait()
    workers = [int(each.read_text()) for each in told.iterdir()]
    waited(lambda: not any(map(runs, workers)))


def waited(done: Callable[[], bool]) -> None:
    """Until something is so, for as long as a busy machine takes."""
    for _ in range(1200):
        if done():
            return
        time.sleep(0.05)
    raise AssertionError("not within a minute")


def runs(process: int) -> bool:
    """Whether there is such a process, and not only what is left of it."""
    try:
        stat = Path(f"/proc/{process}/stat").read_text(encoding="utf-8")
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] != "Z"


def test_without_anything_instead_it_is_no_bug_but_a_line(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with pytest.raises(Killed, match="SIGKILL"):
        list(in_processes(negated, signal.SIGKILL, range(20), 2))
    path = tmp_path / "a.py"
    path.write_text(CONFIG, encoding="utf-8")

    def ended(*_: object, **__: object) -> Iterator[int]:
        return in_processes(negated, signal.SIGKILL, [DEADLY], 1)

    monkeypatch.setattr("nanolint.cli.fit.after_a_while", ended)
    done = nanolint("fit", str(path))
    assert (done.status, done.out) == (2, "")
    assert done.err.startswith("nanolint: the process that checked it was killed by SIGKILL")
    assert len(done.err.splitlines()) == 1


def test_a_file_that_could_not_be_checked_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for number in range(3):
        (tmp_path / f"c{number}.py").write_text(CONFIG, encoding="utf-8")

    def second_ended(
        do: object, common: object, items: Sequence[session.Job], **named: object
    ) -> Iterator[object]:
        for each in items:
            if each.candidate.name.endswith("c1.py"):
                instead = named["instead"]
                assert callable(instead)
                yield instead(each, Killed("ended"))
            else:
                assert callable(do)
                yield do(common, each)

    monkeypatch.setattr(session, "after_a_while", second_ended)
    names = [str(tmp_path / f"c{number}.py") for number in range(3)]
    done = nanolint(*names, "--gpu", "rtx-4070")
    assert done.status == 2
    assert done.err.splitlines()[0] == f"nanolint: {names[1]}: ended"
    assert "bug" not in done.err
    assert "2 runs checked" in done.out + done.err
    assert processes.MOST_WORKERS > 1


def test_too_little_memory_is_no_bug(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def short(*_: object, **__: object) -> int:
        raise MemoryError

    path = tmp_path / "a.py"
    path.write_text(CONFIG, encoding="utf-8")
    monkeypatch.setattr("nanolint.cli.judging.read", short)
    done = nanolint(str(path), "--gpu", "rtx-4070")
    told = "this machine has too little memory (RAM) for it"
    assert (done.status, done.err.splitlines()[0]) == (2, f"nanolint: {path}: {told}")
    assert "bug" not in done.err
    monkeypatch.setattr("nanolint.cli.gpus.run", short)
    done = nanolint("gpus")
    assert (done.status, done.err) == (2, f"nanolint: {told}\n")
