"""The real command in a process of its own, within limits of time and memory."""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tests.support.hostile_cases import GOOD
from tests.support.repository import ROOT

if TYPE_CHECKING:
    from tests.support.hostile_cases import Case

SECONDS = 10  # of processor time, where a case says nothing else
MEGABYTES = 500  # of address space, which is more than the memory that is ever touched
PATIENCE = 300  # seconds on the clock, for a process that waits; the machine may be busy

IS_ROOT = hasattr(os, "geteuid") and os.geteuid() == 0
# Root may read and write everything, unless it gives up the right to pass over a file's mode.
DROP_RIGHTS = ("setpriv", "--bounding-set=-dac_override,-dac_read_search")


@dataclass(frozen=True)
class Ended:
    """How a command ended. ``status`` is negative where a signal ended it."""

    status: int
    out: str
    err: str
    seconds: float  # of processor time

    @property
    def lines(self) -> list[str]:
        """All lines that it printed."""
        return (self.out + self.err).splitlines()


def can_obey_modes() -> bool:
    """Whether a command can be run for which a file's mode counts."""
    if not IS_ROOT:
        return True
    return shutil.which("setpriv") is not None and not subprocess.call([*DROP_RIGHTS, "true"])


def start(
    folder: Path,
    *arguments: str,
    python: tuple[str, ...] = ("-m", "nanolint"),
    obey_modes: bool = False,
    file_blocks: int | None = None,
    stdin: str = os.devnull,
    seconds: int = SECONDS,
) -> Running:
    """``nanolint`` with these arguments in ``folder``, just begun.

    ``obey_modes``: also where root runs it; ``file_blocks``: what a file that it writes may take,
    in units of 512 bytes.
    """
    limits = f"ulimit -c 0; ulimit -t {seconds}; ulimit -v {MEGABYTES << 10}; "
    limits += "" if file_blocks is None else f"ulimit -f {file_blocks}; "
    rights = DROP_RIGHTS if obey_modes and IS_ROOT else ()
    command = shlex.join([*rights, sys.executable, *python, *arguments])
    return Running(["sh", "-c", f"{limits}exec {command}"], folder, stdin)


def run(folder: Path, *arguments: str, **how: object) -> Ended:
    """``start``, and wait for the end."""
    return start(folder, *arguments, **how).end()  # type: ignore[arg-type]


class Running:
    """A command under way."""

    def __init__(self, command: list[str], folder: Path, stdin: str) -> None:
        kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
        path = os.pathsep.join((str(ROOT), str(ROOT / "rules")))
        self._streams = contextlib.ExitStack()
        self._out, self._err = (
            self._streams.enter_context(tempfile.TemporaryFile())  # noqa: SIM115
            for _ in range(2)
        )
        with Path(stdin).open("rb") as source:
            self._process = subprocess.Popen(
                command,
                cwd=folder,
                env={**kept, "PYTHONPATH": path, "NO_COLOR": "1"},
                stdin=source,
                stdout=self._out,
                stderr=self._err,
                start_new_session=True,  # so that a signal reaches its worker processes too
            )

    def send(self, number: signal.Signals) -> None:
        """Send a signal to it and to its worker processes, as a terminal does."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, number)

    def end(self) -> Ended:
        """Wait for its end; after PATIENCE it is killed, which shows in the status."""
        watch = threading.Timer(PATIENCE, self.send, (signal.SIGKILL,))
        watch.start()
        try:
            _, status, usage = os.wait4(self._process.pid, 0)
        finally:
            watch.cancel()
        self._process.returncode = os.waitstatus_to_exitcode(status)
        texts = []
        with self._streams:
            for file in (self._out, self._err):
                file.seek(0)
                texts.append(file.read().decode("utf-8", "backslashreplace"))
        return Ended(
            self._process.returncode,
            texts[0],
            texts[1],
            usage.ru_utime + usage.ru_stime,
        )


def judge(folder: Path, case: Case, **how: object) -> Ended:
    """What ``nanolint`` says of a hostile case, planted in ``folder``."""
    names = case.arguments if case.alone else (*case.arguments, GOOD)
    given = ("--output-format=concise", "--gpu=12GB", *names)
    asked: dict[str, object] = {"obey_modes": case.obey_modes, "stdin": case.stdin}
    return run(folder, *given, seconds=case.seconds, **asked, **how)
