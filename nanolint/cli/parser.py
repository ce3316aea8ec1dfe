"""argparse, taught to answer on the streams at hand and with one line."""

from __future__ import annotations

import argparse
import contextlib
import os

from nanolint.errors import UserError

TYPE_CHECKING = False  # `typing` takes longer to import than `--help` takes
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import NoReturn

    from nanolint.cli.streams import Streams


DEFAULT_COLUMNS = 80


class UsageError(UserError):
    """A command line that cannot be followed; one line."""


class Exit(Exception):
    """The parser has done all there was to do (``--help``)."""


class _Formatter(argparse.RawDescriptionHelpFormatter):
    """Measures the terminal itself: argparse imports shutil for it, and that every archiver."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=_columns() - 2)


def _columns() -> int:
    columns = os.environ.get("COLUMNS", "")
    if columns.isdecimal() and int(columns) > 0:
        return int(columns)
    try:
        return os.get_terminal_size().columns or DEFAULT_COLUMNS
    except OSError:
        return DEFAULT_COLUMNS


class Parser(argparse.ArgumentParser):
    """A parser that never ends the process and takes options between files."""

    def __init__(
        self, prog: str, arguments: str, description: str, epilog: str | None = None
    ) -> None:
        super().__init__(
            prog=prog,
            usage=f"{prog} {arguments}",
            description=description,
            epilog=epilog,
            allow_abbrev=False,
            formatter_class=_Formatter,
        )

    def error(self, message: str) -> NoReturn:
        """Refuse the command line in one line."""
        raise UsageError(f"{message} (see `{self.prog} --help`)")

    def parse(self, arguments: Sequence[str], streams: Streams) -> argparse.Namespace:
        """The parsed ``arguments``; raises UsageError, or Exit after ``--help``."""
        try:
            with contextlib.redirect_stdout(streams.stdout):
                options, unknown = self.parse_known_intermixed_args(arguments)
        except SystemExit as error:
            raise Exit from error
        if unknown:
            import difflib

            known = [option for action in self._actions for option in action.option_strings]
            near = difflib.get_close_matches(unknown[0].partition("=")[0], known, n=1)
            hint = f"; did you mean {near[0]}?" if near else ""
            if "_" in unknown[0]:  # as all of nanoGPT's keys of more than one word, and no option
                hint = f"; put options of train.py after --, as in `FILE -- {unknown[0]}`"
            self.error(f"unknown option {unknown[0]}{hint}")
        return options


def comma_separated(text: str) -> tuple[str, ...]:
    """``NL1,NL2`` as its parts."""
    return tuple(part.strip() for part in text.split(",") if part.strip())


def positive(text: str) -> int:
    """An integer from 1 upwards."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number above 0")
    return int(text)


def version(text: str) -> str:
    """``2.7`` or ``2.7.1``."""
    major, dot, minor = text.partition(".")
    if not (major.isdecimal() and dot and minor[:1].isdecimal()):
        raise argparse.ArgumentTypeError(f"{text!r} is not a version such as 2.7")
    return text
