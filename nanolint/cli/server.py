"""``nanolint server``: the language server, which editors start."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, BinaryIO, Literal, TextIO

from nanolint.cli.parser import Parser, UsageError

if TYPE_CHECKING:
    from nanolint.cli.streams import Streams

DESCRIPTION = """\
Start the language server for an editor, on standard input and output. It shows
findings while you type, their fixes, and the memory of each line.
docs/editors.md says how an editor starts it."""


def run(arguments: list[str], streams: Streams) -> int:
    """Serve until the editor leaves; returns the exit status."""
    parser = Parser("nanolint server", "", DESCRIPTION)
    # Clients that cannot leave it out say that they talk over these streams, as all of them do.
    parser.add_argument(
        "--stdio", action="store_true", help="the default; there is no other transport"
    )
    parser.parse(arguments, streams)
    try:
        from nanolint.lsp.serving import serve
    except ModuleNotFoundError as error:
        if error.name not in ("pygls", "lsprotocol"):
            raise
        needed = "the language server needs pygls: pip install 'nanolint[server]'"
        raise UsageError(needed) from None
    if not sys.stdin.readable():
        raise UsageError("the language server needs standard input, which is closed")
    with _own(sys.stdin, "rb") as requests, _own(sys.stdout, "wb") as answers:
        return 0 if serve(requests, answers) else 1


def _own(stream: TextIO, mode: Literal["rb", "wb"]) -> BinaryIO:
    """The stream's file once more: the server closes its own when it is done, and no more."""
    return open(os.dup(stream.fileno()), mode)  # noqa: PTH123
