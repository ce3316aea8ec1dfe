"""Start nanolint's own child (guard.py), which starts the project's interpreter, and hear them."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nanolint.errors import UserError
from nanolint.trace import sandbox

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

GUARD = (
    "import sys; sys.path.append(sys.argv[1]); from nanolint.trace import guard; "
    "guard.main(protected={})"
)
ANSWER = "answer"  # a named pipe in the scratch folder: the script's process opens it to say a line
POLL_SECONDS = 0.5
PIECE = 1 << 20
MOST_LINE_BYTES = 1 << 30
TAIL_BYTES = 4000  # of what the script printed, shown if it stops
REFUSED = (
    "this system cannot keep the script from your files ({}): use a container or a copy of "
    "the project, and --unprotected"
)
NO_ANSWER = "the script wrote into nanolint's own channel, so there is no trace"


class CannotTrace(UserError):
    """The script could not be traced; says what stopped it and what to do, in a line or a few."""


class Guarded:
    """A process of the project's interpreter, that ends with the ``with`` block."""

    def __init__(self, folders: Sequence[str] | None) -> None:
        self._folders = folders  # that scripts write to; None: unprotected
        self._held = contextlib.ExitStack()
        self.scratch = ""
        self.written: list[str] = []
        self.status: int | None = None  # of the interpreter, if it has ended

    def __enter__(self) -> Guarded:
        with self._held as held:
            self.scratch = held.enter_context(tempfile.TemporaryDirectory(prefix="nanolint-"))
            os.mkdir(f"{self.scratch}/{sandbox.MEMORY}")  # noqa: PTH102
            os.mkfifo(f"{self.scratch}/{ANSWER}", 0o600)
            self._answer = os.open(f"{self.scratch}/{ANSWER}", os.O_RDWR | os.O_NONBLOCK)
            held.callback(os.close, self._answer)
            self._said = held.enter_context(tempfile.TemporaryFile())
            program = GUARD.format(self._folders is not None)
            self._guard = subprocess.Popen(
                [sys.executable, "-I", "-S", "-c", program, str(Path(__file__).parents[2])],
                cwd="/",
                bufsize=0,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._said,
                start_new_session=True,
            )
            held.callback(self._end)
            self._held = held.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._held.close()

    def run(
        self,
        command: Sequence[str],
        environment: Mapping[str, str],
        edits: Mapping[str, str],
        seconds: float,
        host_bytes: int,
    ) -> Iterator[dict[str, Any]]:
        """Start it, once, and yield what it says, line by line. Raises CannotTrace."""
        order = {
            "command": command, "environment": {**environment}, "edits": {**edits},
            "host_bytes": host_bytes, "folders": self._folders, "scratch": self.scratch,
        }  # fmt: skip
        if self._folders is None:
            self._order(order)
        output = self._guard.stdout
        assert output is not None
        deadline, heard, said = time.monotonic() + seconds, b"", b""
        while True:
            if time.monotonic() > deadline:
                raise CannotTrace(
                    f"stopped after {seconds:.0f} s: give it longer with --timeout, or fewer "
                    "micro-steps and evaluation batches by the script's own options"
                )
            ready = self._readable(POLL_SECONDS)
            if self._answer in ready:
                *lines, said = (said + os.read(self._answer, PIECE)).split(b"\n")
                yield from map(_message, lines)
                if len(said) > MOST_LINE_BYTES:
                    raise CannotTrace("the history is too long")
            elif ready:
                data = os.read(output.fileno(), PIECE)
                if not data:
                    break
                *lines, heard = (heard + data).split(b"\n")
                for line in lines:
                    self._hear(json.loads(line), order)

    def _readable(self, seconds: float) -> list[Any]:
        """Returns the pipes with something to read: the script's first, then the guard's."""
        assert self._guard.stdout is not None
        return select.select([self._answer, self._guard.stdout.fileno()], [], [], seconds)[0]

    def _hear(self, message: dict[str, Any], order: dict[str, Any]) -> None:
        if "left" in message:
            try:
                sandbox.map_ids(Path("/proc", str(self._guard.pid)))
            except sandbox.Refused as error:
                raise CannotTrace(REFUSED.format(error)) from error
            self._order(order)
        elif "refused" in message:
            raise CannotTrace(REFUSED.format(message["refused"]))
        elif "large" in message:
            raise CannotTrace(
                f"stopped at {order['host_bytes'] >> 30} GiB of host memory: the script keeps data "
                "on the host; allow more with --host-memory"
            )
        else:
            self.status, self.written = message["ended"], message["written"]

    def _order(self, order: dict[str, Any]) -> None:
        """Standard input stays open: the guard ends with it."""
        assert self._guard.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # what it told before it ended is read
            self._guard.stdin.write(json.dumps(order).encode() + b"\n")

    def printed(self) -> str:
        """The end of what the script printed."""
        self._said.seek(0, os.SEEK_END)
        self._said.seek(max(0, self._said.tell() - TAIL_BYTES))
        return self._said.read().decode(errors="replace").strip()

    def early(self) -> str:
        """Why there is no answer, and the end of what was printed."""
        status = self.status if self.status is not None else self._guard.wait()
        how = f"killed by signal {-status}" if status < 0 else f"exit status {status}"
        return f"the script's process ended early ({how})\n{self.printed()}".rstrip()

    def _end(self) -> None:
        """The guard and whatever it started: it shares a session, or ends with the guard."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._guard.pid, signal.SIGKILL)
        for pipe in (self._guard.stdin, self._guard.stdout):
            if pipe is not None:
                with contextlib.suppress(BrokenPipeError):
                    pipe.close()
        self._guard.wait()


def _message(line: bytes) -> dict[str, Any]:
    """A line that the script's process said. Raises CannotTrace for what is none."""
    try:
        found = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise CannotTrace(NO_ANSWER) from error
    if not isinstance(found, dict):
        raise CannotTrace(NO_ANSWER)
    return found
