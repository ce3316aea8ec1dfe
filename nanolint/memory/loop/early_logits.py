"""A run's events when train.py says ``del logits`` right after a call of the model.

nanoGPT keeps the name until the next call has returned. In eager mode nothing else holds the
buffer. Compiled, autograd saved the same storage, and the backward pass frees it once the gradient
of the logits is there; so in training the statement comes too late to lower the peak.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.memory.tape import Phase, Tape

if TYPE_CHECKING:
    from nanolint.memory.tape import Handle

LOGITS, BATCH, TANGENT = "logits", "X", "zeros for the logits"


EVALUATION = (Phase.EVAL, Phase.EVAL_LATE)


def without_logits(tape: Tape, *, training: bool = True, evaluation: bool = True) -> Tape:
    """``tape`` with logits buffers freed as soon as nothing but the name would hold them:
    those of the training loop, those of estimate_loss, or both."""
    early = Tape()
    early.sizes, early.names, early.components = tape.sizes, tape.names, tape.components
    compiled = any(name.startswith(TANGENT) for name in tape.names)
    phases, phase = dict(tape.phases), Phase.EVAL
    held: Handle | None = None  # the last call's logits
    saved = False  # whether autograd holds them too
    deleted: set[Handle] = set()
    for number, event in enumerate(tape.events):
        if number in phases:
            phase = phases[number]
            early.phase(phase)
        handle = event if event >= 0 else ~event
        if event < 0 and handle in deleted:
            continue
        name = tape.names[handle]
        if held is not None and not saved and event >= 0 and _is(name, BATCH):
            early.free(held)  # get_batch is the statement after the call
            deleted.add(held)
            held = None
        early.events.append(event)
        if held is not None and event < 0 and name.startswith(TANGENT):
            early.free(held)
            deleted.add(held)
            held = None
        if _is(name, LOGITS) and (evaluation if phase in EVALUATION else training):
            held = event if event >= 0 else None
            saved = compiled and phase is Phase.FORWARD
    return early


def _is(name: str, word: str) -> bool:
    """Whether ``name`` is ``word``, with or without a shape behind it."""
    return name.split(maxsplit=1)[0] == word
