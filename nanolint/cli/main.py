"""The ``nanolint`` command as a function of its arguments and streams."""

from __future__ import annotations

import atexit
import errno
import gc
import os
import signal
import sys
from importlib import import_module

from nanolint.cli.streams import Streams, open_standard_streams
from nanolint.frames import in_one_piece

TYPE_CHECKING = False  # `typing` takes longer to import than `--help` takes
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import NoReturn, TextIO

CLEAN, FINDINGS, FAILURE = 0, 1, 2
# 128 and the signal's number, as shells count.
INTERRUPTED, BROKEN_PIPE, TERMINATED = 130, 141, 143

NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO})

# Objects between two garbage collections: a syntax tree holds no cycles worth looking for, and the
# usual 700 make the collector walk all of libcst again and again.
COLLECT_EVERY = 200_000

DEFAULT_COMMAND = "check"
NAMES = ("check", "explain", "fit", "launch", "trace", "rule", "gpus", "settings", "version")
COMMANDS = {each: f"nanolint.cli.{each}" for each in (*NAMES, "server", "completion")}
COMMANDS["launch"] = "nanolint.cli.launch_line"


class Terminated(KeyboardInterrupt):
    """SIGTERM arrived: everything that was begun is ended in order."""


def main(
    argv: Sequence[str],
    *,
    stdin: TextIO | None = None,
    stdout: TextIO | None = None,
    stderr: TextIO | None = None,
) -> int:
    """Run the command that ``argv`` (without the program's name) asks for; returns its status."""
    streams = Streams(stdin or sys.stdin, stdout or sys.stdout, stderr or sys.stderr)
    try:
        status = _run(list(argv), streams)
        streams.stdout.flush()
    except Terminated:
        return TERMINATED
    except KeyboardInterrupt:
        streams.warn("nanolint: interrupted")
        return INTERRUPTED
    except BrokenPipeError:
        return BROKEN_PIPE
    except MemoryError:
        from nanolint.cli.bugs import NO_MEMORY

        streams.warn(f"nanolint: {NO_MEMORY}")
        return FAILURE
    except Exception as error:
        if isinstance(error, OSError) and error.errno in NO_ROOM:
            streams.warn(f"nanolint: cannot write the report: {error.strerror}")
            return FAILURE
        return _internal_error(error, argv, streams)
    return status


def _run(argv: list[str], streams: Streams) -> int:
    if argv[:1] in (["--version"], ["-V"]) and argv[1:] in (["--verbose"], ["-v"]):
        argv = ["version"]
    if argv[:1] in (["--version"], ["-V"]):
        from nanolint import __version__

        streams.stdout.write(f"nanolint {__version__}\n")
        return CLEAN
    command = argv.pop(0) if argv and argv[0] in COMMANDS else DEFAULT_COMMAND
    return _command(command, argv, streams)


@in_one_piece
def _command(command: str, argv: list[str], streams: Streams) -> int:
    from nanolint.cli.parser import Exit
    from nanolint.errors import UserError

    _forget_files()
    try:
        if not _has_folder():
            raise UserError("the working folder does not exist, or nanolint may not read it")
        status: int = import_module(COMMANDS[command]).run(argv, streams)
    except Exit:
        return CLEAN
    except UserError as error:
        from nanolint.report.printer import printable

        streams.warn(f"nanolint: {printable(str(error))}")
        return FAILURE
    return status


def _forget_files() -> None:
    """Drop what the last command of this process has read: anything may have changed since.

    Nothing is imported for it: without the module nothing was read.
    """
    notes = sys.modules.get("nanolint.files.notes")
    if notes is not None:
        notes.forget()


def _has_folder() -> bool:
    """Whether there is a folder that relative paths start from."""
    try:
        os.getcwd()  # noqa: PTH109 (importing pathlib takes longer than `--help`)
    except OSError:
        return False
    return True


def _internal_error(error: Exception, argv: Sequence[str], streams: Streams) -> int:
    from nanolint.cli import bugs

    streams.warn(f"nanolint: {bugs.describe(error)}")
    if bugs.wants_traceback(verbose="--verbose" in argv or "-v" in argv):
        import traceback

        streams.warn_as_is("".join(traceback.format_exception(error)).rstrip())
    else:
        streams.warn(bugs.HINT)
    return FAILURE


def _terminate(*_: object) -> NoReturn:
    raise Terminated


def entry_point() -> None:
    """Run the command on the process's own arguments and streams, and leave with its status."""
    gc.set_threshold(COLLECT_EVERY)
    signal.signal(signal.SIGTERM, _terminate)
    open_standard_streams()
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:  # any character can be printed, newlines stay what they are
            reconfigure(errors="backslashreplace", newline="\n")
    status = main(sys.argv[1:])
    if status == BROKEN_PIPE:  # so that the last flush finds no broken pipe either
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    _end(status)
    sys.exit(status)


def _end(status: int) -> None:
    """End the process at once: Python would look for garbage, and let go of each object first.

    Returns where the streams cannot be flushed, which Python tells in its own way.
    """
    atexit._run_exitfuncs()
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except (OSError, ValueError):
        return
    os._exit(status)
