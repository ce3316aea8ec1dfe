"""What a line keeps that runs could often do without, by its tensors' types, shapes and lives."""

from __future__ import annotations

from enum import Enum
from itertools import pairwise
from typing import TYPE_CHECKING

from nanolint.tape.tape import Component, Phase
from nanolint.tensors.role import read_name

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nanolint.tape.located import Located
    from nanolint.tape.locating import Line
    from nanolint.tape.tape import Handle

STATE = frozenset(
    {Component.PARAMETERS, Component.GRADIENTS, Component.OPTIMIZER, Component.WORKSPACE}
)
# What a loss makes of logits, where nobody says how large the vocabulary is: ops/loss.py.
OF_LOGITS = ("log-probabilities ", "log_softmax ")
LEAST = 1 << 20  # bytes of one tensor: smaller ones are no waste worth a word


class Waste(str, Enum):
    """A word about a line."""

    FLOAT32_LOGITS = "float32 logits"  # a copy of the logits in four bytes an element
    LOGITS_AGAIN = "logits again"  # another tensor of the logits' size
    SQUARE = "T x T"  # grows with the square of the context
    NEXT_PASS = "into the next pass"  # let go only when the next forward pass has begun
    STAYS = "stays"  # made in one pass and never let go
    PILES_UP = "piles up"  # never let go, and made anew in each pass


def wastes(tape: Located, start: int, end: int, context: int) -> dict[Line, tuple[Waste, ...]]:
    """The words about each line, of the forward pass between two events of ``tape``."""
    made = [event for event in tape.events[start:end] if event >= 0]
    freed = {~event for event in tape.events[start:end] if event < 0}
    kept = [handle for handle in made if handle not in freed]
    found: dict[Line, set[Waste]] = {}
    most = _logits(tape, made)
    seen = False
    width = _width(tape, made)
    for handle in kept:
        where = tape.wheres[handle]
        if where is None or tape.sizes[handle] < LEAST:
            continue
        words = found.setdefault(where.stack[0], set())
        shape, dtype = read_name(tape.names[handle])
        if _is_square(shape, context, width) and tape.components[handle] is Component.ACTIVATIONS:
            words.add(Waste.SQUARE)
        if most and _numel(shape) >= most:
            if dtype == "float32":
                words.add(Waste.FLOAT32_LOGITS)
            elif seen:
                words.add(Waste.LOGITS_AGAIN)
            seen = True
    for handle, word in _lives(tape):
        where = tape.wheres[handle]
        if where is not None:
            found.setdefault(where.stack[0], set()).add(word)
    ordered = (
        (line, tuple(each for each in Waste if each in words)) for line, words in found.items()
    )
    return {line: words for line, words in ordered if words}


def _logits(tape: Located, made: list[Handle]) -> int:
    """The elements of the logits; 0 where none are made."""
    return max(
        (
            _numel(read_name(tape.names[handle])[0])
            for handle in made
            if tape.components[handle] is Component.LOGITS_AND_LOSS
            or tape.names[handle].startswith(OF_LOGITS)
        ),
        default=0,
    )


def _width(tape: Located, made: list[Handle]) -> int:
    """The last dimension of the first tensor (B, T, C): what a square is not told from."""
    for handle in made:
        shape, _ = read_name(tape.names[handle])
        if len(shape) == 3:
            return shape[-1]
    return 0


def _is_square(shape: tuple[int, ...], context: int, width: int) -> bool:
    """Whether it is (..., T, T); a (B, T, C) whose C is T is not taken for one."""
    if shape[-2:] != (context, context):
        return False
    return len(shape) > 3 or width != context


def _numel(shape: tuple[int, ...]) -> int:
    found = 1
    for each in shape:
        found *= each
    return found if shape else 0


def _lives(tape: Located) -> Iterator[tuple[Handle, Waste]]:
    """What outlives its own pass, and how long."""
    released = {~event: place for place, event in enumerate(tape.events) if event < 0}
    marks = [*tape.phases, (len(tape.events), Phase.EVAL)]
    passes = [
        (start, end, phase is Phase.FORWARD)
        for (start, phase), (end, _) in pairwise(marks)
        if phase in (Phase.FORWARD, Phase.EVAL)
    ]
    starts = [
        start
        for start, end, is_forward in passes
        if is_forward and any(event >= 0 for event in tape.events[start:end])
    ]
    staying: dict[tuple[Line, str], list[Handle]] = {}
    for start, end, is_forward in passes:
        following = next((each for each in starts if each > start), None)
        if following is None:
            continue  # the run ends here: what its names hold is not known to stay
        for handle in tape.events[start:end]:
            if handle < 0 or tape.components[handle] in STATE:
                continue
            where, place = tape.wheres[handle], released.get(handle)
            if where is None or tape.sizes[handle] < LEAST:
                continue
            if place is None:
                staying.setdefault((where.stack[0], tape.names[handle]), []).append(handle)
            elif is_forward and place > following:
                yield handle, Waste.NEXT_PASS
    for (line, _), handles in staying.items():
        at = {_pass_of(starts, tape, handle) for handle in handles}
        yield handles[0], Waste.PILES_UP if len(at) > 1 and line else Waste.STAYS


def _pass_of(starts: list[int], tape: Located, handle: Handle) -> int:
    return sum(start <= tape.events.index(handle) for start in starts)
