"""Why a script could not be traced to an optimizer step, and what to do, in a line or two."""

from __future__ import annotations

import errno
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nanolint.trace.traced import Traced

_NETWORK = ("ConnectionError", "URLError", "gaierror", "ConnectError", "MaxRetryError",
            "LocalEntryNotFoundError", "OfflineModeIsEnabled", "ConnectTimeout")  # fmt: skip
_NETWORK_WORDS = ("Network is unreachable", "Name or service not known", "offline mode",
                  "Temporary failure in name resolution")  # fmt: skip
_OF_VALUES = ("AssertionError", "ValueError", "IndexError", "RuntimeError", "ZeroDivisionError")
STAND_IN = "or replace it with --before FILE, see docs/trace.md"
LAST_LINES = 12


def explained(traced: Traced, python: str) -> str:
    """One line that says what stopped it, and the end of what the script printed."""
    failure = traced.failure
    if failure is None:
        if not traced.tape.events:
            variable = "PYTORCH_NO_CUDA_MEMORY_CACHING"
            return f"PyTorch's allocator gave no memory: does the script set {variable}?"
        return "the script's optimizers did not step"
    where = f"{failure.place}: " if failure.place else ""
    message = failure.message.splitlines()[0] if failure.message else ""
    if failure.kind == "SystemExit":
        text = "the script ended before an optimizer step: is it the one that trains?"
        if failure.message not in ("", "0"):
            text = f"the script exited with status {message} before an optimizer step"
    elif failure.kind == "ModuleNotFoundError":
        text = f"{where}{message} in {python}: install it there, {STAND_IN}"
    elif failure.kind in _NETWORK or any(word in failure.message for word in _NETWORK_WORDS):
        text = (
            f"{where}it needs the network, which a trace does not have: download first, {STAND_IN}"
        )
    elif f"[Errno {errno.EOVERFLOW}]" in failure.message:
        text = f"{where}{message}: a trace cannot change a file of another owner or group (chgrp)"
    elif failure.kind == "FileNotFoundError":
        text = f"{where}{message}: prepare it, {STAND_IN}"
    else:
        text = f"{where}{failure.kind}: {message}"
        if failure.kind in _OF_VALUES:
            text += ". A trace computes no values: all on the card are 0 here"
    printed = traced.printed.splitlines()[-LAST_LINES:]
    return "\n  ".join([text, *printed])
