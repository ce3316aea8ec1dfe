"""``--watch``: judge again whenever something that the last report came from has changed."""

from __future__ import annotations

from time import sleep
from typing import TYPE_CHECKING

import nanolint.gpus.local  # noqa: F401 (it is what asks for the card again)
from nanolint.files.notes import forget, noting, unchanged

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import NoReturn

    from nanolint.cli.streams import Streams

POLL_SECONDS = 0.5
CLEAR = "\x1b[2J\x1b[H"


def watch(check: Callable[[], int], streams: Streams) -> NoReturn:
    """Run ``check`` now and after each change of a file or folder that it read, until Ctrl-C."""
    while True:
        if streams.stdout.isatty():
            streams.stdout.write(CLEAR)
        with noting() as reads:
            check()
        streams.stdout.flush()
        streams.warn("nanolint: watching; press Ctrl-C to stop")
        while unchanged(reads):
            sleep(POLL_SECONDS)
        forget()
