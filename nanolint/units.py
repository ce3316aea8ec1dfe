"""Byte counts for people, worded as PyTorch words them."""

from __future__ import annotations

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30


def format_bytes(nbytes: int) -> str:
    """``nbytes`` as PyTorch's allocator prints them: ``6.14 GiB``, ``20.00 MiB``, ``512 bytes``."""
    for unit, name in ((GIB, "GiB"), (MIB, "MiB"), (KIB, "KiB")):
        if nbytes >= unit:
            return f"{nbytes / unit:.2f} {name}"
    return f"{nbytes} bytes"
