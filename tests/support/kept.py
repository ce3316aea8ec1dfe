"""The two streams between a client and a server in this process."""

from __future__ import annotations

import json
from io import BytesIO
from threading import Condition
from typing import Any

PATIENCE = 120.0  # seconds on the clock; only a broken server needs them, or a busy machine


class Kept(BytesIO):
    """What a server says: kept when it closes the stream, and read by the client meanwhile."""

    def __init__(self) -> None:
        super().__init__()
        self.messages: list[dict[str, Any]] = []
        self._said = Condition()

    def write(self, message: Any) -> int:
        _, _, body = bytes(message).partition(b"\r\n\r\n")
        with self._said:
            self.messages.append(json.loads(body))
            self._said.notify_all()
        return len(message)

    def wait_for(self, number: int) -> None:
        """Wait until a request is answered."""
        with self._said:
            assert self._said.wait_for(lambda: number in map(_answered, self.messages), PATIENCE)


class Said(BytesIO):
    """What a client says: a message at a time, each once those requests are answered for which it
    waits."""

    def __init__(self, messages: list[tuple[dict[str, Any], list[int]]], kept: Kept) -> None:
        super().__init__()
        self._messages = list(reversed(messages))
        self._kept = kept

    def readline(self, size: int | None = -1, /) -> bytes:
        line = super().readline(size)
        if line or not self._messages:
            return line
        message, awaited = self._messages.pop()
        for number in awaited:
            self._kept.wait_for(number)
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.seek(0)
        self.truncate()
        super().write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self.seek(0)
        return super().readline(size)


def _answered(message: dict[str, Any]) -> int | None:
    return None if "method" in message else message.get("id")
