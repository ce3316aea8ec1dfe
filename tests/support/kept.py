"""A stream for a server to write to, which can be read when it is closed."""

from __future__ import annotations

from io import BytesIO


class Kept(BytesIO):
    """Keeps what was written when the server closes it."""

    written = b""

    def close(self) -> None:
        self.written = self.getvalue()
        super().close()
