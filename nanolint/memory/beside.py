"""Whether a script that is recognised as nanoGPT's own takes what that takes: it is read beside it.

What is compared piece by piece leaves out conditions, names and much that is on the host. A script
that is nanoGPT's but for ``ctx = nullcontext()`` takes another amount, and only reading it tells.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import replace
from typing import TYPE_CHECKING

from nanolint.memory.settled import settled
from nanolint.memory.verdict.replay import replay
from nanolint.run.program import ReadScript

if TYPE_CHECKING:
    from collections.abc import Hashable

    from nanolint.gpus.gpu import Gpu
    from nanolint.run.run import Run

MOST = 256  # runs of which it is remembered
_equal: OrderedDict[Hashable, bool] = OrderedDict()


def takes_as_much(own: Run, script: Run, gpu: Gpu) -> bool:
    """Whether ``own``, nanoGPT's, and the same run of ``script`` allocate as much in each phase
    and reserve as much.

    Found once for all micro-batches. Raises Unread where the script cannot be read.
    """
    key = (_plain(own), _plain(script), gpu)
    if key not in _equal:
        _equal[key] = _compared(own, script, gpu)
        if len(_equal) > MOST:
            _equal.popitem(last=False)
    return _equal[key]


def _plain(run: Run) -> Run:
    """The run with another micro-batch, the same for all; it is in the script's text, too."""
    run = replace(run, batch_size=1, gradient_accumulation_steps=1)
    if isinstance(run.program, ReadScript):
        run = replace(run, program=settled(run.program, run))
    return run


def _compared(own: Run, script: Run, gpu: Gpu) -> bool:
    ours, theirs = replay(own, gpu), replay(script, gpu)
    read = dict(theirs.phases)
    same = all(read.get(phase, nbytes) == nbytes for phase, nbytes in ours.phases)
    return same and (
        (ours.peak.allocated_bytes, ours.peak.reserved_bytes)
        == (theirs.peak.allocated_bytes, theirs.peak.reserved_bytes)
    )
