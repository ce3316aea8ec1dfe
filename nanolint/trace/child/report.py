"""Lines of JSON to nanolint, through the pipe that it opened."""

from __future__ import annotations

import json
import os

_pipe: int | None = None


def open_pipe(descriptor: int) -> None:
    """Take the pipe; the script's own children do not get it."""
    global _pipe
    _pipe = descriptor
    os.set_inheritable(descriptor, False)


def line(**values: object) -> None:
    """One message. A nanolint that is gone ends the process."""
    if _pipe is None:
        return
    data = memoryview(json.dumps(values).encode() + b"\n")
    try:
        while data:
            data = data[os.write(_pipe, data) :]
    except BrokenPipeError:
        os._exit(1)
