"""Byte counts for people, worded as PyTorch words them."""

from __future__ import annotations

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30


def format_bytes(nbytes: int) -> str:
    """``nbytes`` as PyTorch's messages print them: ``6.14 GiB``, ``20.00 MiB``, ``512 bytes``.

    format_size in CUDACachingAllocator.cpp: exactly 1 MiB is ``1024.00 KiB``.
    """
    if nbytes <= KIB:
        return f"{nbytes} bytes"
    for unit, name in ((KIB, "KiB"), (MIB, "MiB")):
        if nbytes <= KIB * unit:
            return f"{nbytes / unit:.2f} {name}"
    return f"{nbytes / GIB:.2f} GiB"
