"""Words for people: amounts of memory as they write them or PyTorch does, and lists."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from nanolint.regex import lazily

if TYPE_CHECKING:
    from collections.abc import Iterable

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30

# As torch, nvidia-smi and containers do: ``GiB`` and a bare ``G`` are powers of 1024, ``GB`` is
# the SI unit.
_UNITS = {"": 1, "b": 1}
for _power, _letter in enumerate("kmgt", start=1):
    _UNITS[_letter] = _UNITS[f"{_letter}ib"] = 1024**_power
    _UNITS[f"{_letter}b"] = 1000**_power

_LEAST_BARE = 1024**2  # bytes; a smaller number without a unit misses one: --in-use 2

_SIZE = lazily(r"\s*(\d{1,15}(?:\.\d{1,9})?)\s*([a-z]{0,3})\s*", re.IGNORECASE | re.ASCII)


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


def parse_size(text: str) -> int:
    """The bytes that ``2GiB``, ``512 MiB``, ``1.5GB``, ``800M`` or ``1073741824`` stand for.

    Fractions of a byte are dropped. Raises ValueError, with one line that names the legal units,
    for anything else: negative numbers, exponents, unknown units, a few bytes without a unit.
    """
    match = _SIZE.fullmatch(text) if len(text) < 100 else None
    factor = _UNITS.get(match[2].lower()) if match else None
    if match and not match[2] and 0 < float(match[1]) < _LEAST_BARE:
        factor = None
    if match is None or factor is None:
        shown = text if len(text) < 40 else f"{text[:37]}..."
        raise ValueError(
            f"{shown!r} is not a size; write a number and a unit: B, KiB, MiB, GiB, KB, MB or GB"
        )
    whole, _, fraction = match[1].partition(".")
    ten_to_the_decimals: int = 10 ** len(fraction)
    return int(whole + fraction) * factor // ten_to_the_decimals


def listed(words: Iterable[str], between: str = "and") -> str:
    """``a``, ``a and b``, ``a, b and c``: one word at least."""
    *others, last = words
    return f"{', '.join(others)} {between} {last}" if others else last
