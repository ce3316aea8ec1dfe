"""A run's events if train.py said ``del logits`` right after each call of the model.

nanoGPT keeps the name until the next call has returned. In eager mode nothing else holds the
buffer. Compiled, autograd saved the same storage, and the backward pass frees it once the gradient
of the logits is there; so in training the statement comes too late to lower the peak.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.memory.stream import Phase
from nanolint.memory.tape import Tape

if TYPE_CHECKING:
    from nanolint.memory.stream import Handle

LOGITS, BATCH, TANGENT = "logits", "X", "zeros for the logits"


def without_logits(tape: Tape) -> Tape:
    """``tape`` with each logits buffer freed as soon as nothing but the name would hold it."""
    early = Tape()
    early.sizes, early.names, early.components = tape.sizes, tape.names, tape.components
    compiled = TANGENT in tape.names
    phases = dict(tape.phases)
    phase = Phase.EVAL
    held: Handle | None = None  # the last call's logits
    saved = False  # whether autograd holds them too
    deleted: set[Handle] = set()
    events = early.events
    for number, event in enumerate(tape.events):
        if number in phases:
            phase = phases[number]
            early.phases.append((len(events), phase))
        if event < 0 and ~event in deleted:
            continue
        word = tape.names[event if event >= 0 else ~event]
        fetches = event >= 0 and word.split()[0] == BATCH  # the statement after the call
        consumed = event < 0 and word == TANGENT
        if held is not None and fetches and not saved:
            events.append(~held)
            deleted.add(held)
            held = None
        events.append(event)
        if held is not None and consumed:
            events.append(~held)
            deleted.add(held)
            held = None
        if event >= 0 and word.split()[0] == LOGITS:
            held, saved = event, compiled and phase is Phase.FORWARD
        elif event < 0 and ~event == held:
            held = None
    return early
