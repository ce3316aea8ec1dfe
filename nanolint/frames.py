"""Calls whose frames lie in one piece of memory.

From 3.11 on, Python keeps the frames of a thread in pieces of 16 KiB. Where a loop calls over the
end of one, each turn asks the system for another piece and gives it back: up to 36,000 times in a
check, a fifth of its time (``benchmarks/tricks.py``). Releases of 2026 keep one piece (3.13 and
later: https://github.com/python/cpython/issues/142183). A frame that no such piece can hold begins
one of its own, with room behind it for the frames of its calls; what nobody uses of it is never
touched.
"""

from __future__ import annotations

TYPE_CHECKING = False  # `typing` takes longer to import than `--help` takes
if TYPE_CHECKING:
    from typing import Any, TypeVar

    Called = TypeVar("Called")

# A piece is the least power of two that holds a frame: 2 MiB of this one, with 1 MiB for calls. Of
# the 1,000 that Python lets be in each other, with 60 values each, that is twice what they take.
WORDS = 2**17


def in_one_piece(called: Called) -> Called:
    """The function ``called``, whose own frame begins a piece."""
    function: Any = called
    code = function.__code__
    function.__code__ = code.replace(co_stacksize=code.co_stacksize + WORDS)
    return called
