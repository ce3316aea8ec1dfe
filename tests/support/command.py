"""The command as a function: arguments and standard input in, status and text out."""

from __future__ import annotations

import io
from dataclasses import dataclass

from nanolint.cli.main import main


@dataclass(frozen=True)
class Outcome:
    """What a command left behind."""

    status: int
    out: str
    err: str

    @property
    def error(self) -> str:
        """What stands on stderr, which must be a single line."""
        assert self.err.count("\n") == 1, self.err
        return self.err.removesuffix("\n")


def nanolint(*arguments: str, stdin: bytes = b"") -> Outcome:
    """Run ``nanolint`` with these arguments in this process."""
    raw = [io.BytesIO(stdin), io.BytesIO(), io.BytesIO()]
    streams = [io.TextIOWrapper(each, encoding="utf-8", newline="") for each in raw]
    standard = dict(zip(("stdin", "stdout", "stderr"), streams, strict=True))
    status = main(arguments, **standard)
    for stream in streams[1:]:
        stream.flush()
    out, err = (each.getvalue().decode() for each in raw[1:])
    assert "Traceback" not in out + err
    return Outcome(status, out, err)
