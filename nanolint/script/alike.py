"""Turns that do what the one before did: what they write and keep, and when they are over.

The allocator may reserve more for them, one by one: if a turn frees what the one before made, as an
evaluation with gradients lets go of a whole graph, each may find its blocks in other places. Most
settle at the second turn, a few much later.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

from nanolint.tape.allocator.caching import CachingAllocator
from nanolint.tape.symbolic import NotSymbolic, is_symbolic
from nanolint.tape.symbolic import plain as unnoted
from nanolint.tape.tape import ROUNDING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nanolint.interpreter.values import Value
    from nanolint.script.machine import Script
    from nanolint.tape.tape import Mark, Tape

FEW_BYTES = 4096  # that a turn of a loop keeps, such as its loss: next to nothing


def until_alike(
    machine: Script, values: Iterator[Value], most: int | None = None, *, least: int = 0
) -> Iterator[Value]:
    """``values``, of which nobody knows how many there are, or ``most``.

    While nothing learns they are at an end once a turn did what the one before did; with ``least``,
    once so many are read of which none keeps anything; one that a loop over numbers asks for the
    next has it. With gradients those turns follow of which more is reserved, as each lets go of the
    graph of the one before.
    """
    tape, start, before, rest = machine.card.tape, machine.card.tape.mark(), [0], None
    number = 0
    held: list[Value] = []
    while True:
        held += islice(values, 1)
        if not held:
            return
        number, turn, trained = number + 1, machine.counted, _trained(machine)
        yield held.pop()  # and is not held here while a turn is read
        wrote = written(tape, start)
        is_alike = wrote == before and turn == machine.counted and number > least
        if machine.card.grad_enabled:
            tells = bool(wrote) or machine.phases.evaluates  # one that a rank leaves to another
            is_alike = is_alike and tells and trained == _trained(machine)
            if is_alike and rest is None:
                rest = turns_that_reserve(tape, start, MOST if most is None else most - number)
        if least and is_alike and kept(tape, start):
            is_alike = False  # how many there are decides what is kept
        if is_alike and not rest:
            if kept(tape, start) > FEW_BYTES:
                machine.doubts.append(
                    f"the memory that a loop over data keeps is not known ({machine.place})"
                )
            return
        rest = rest - 1 if is_alike and rest else None
        before, start = wrote, tape.mark()


def _trained(machine: Script) -> tuple[int, int]:
    """The steps so far, and the backward passes since the last."""
    return machine.phases.done, machine.seen.backward


def written(tape: Tape, start: Mark) -> list[int]:
    """Returns the events after a mark, in a form that is the same for two turns that did the
    same."""
    first = start.allocations
    return [
        tape.sizes[event] if event >= 0 else event + first for event in tape.events[start.events :]
    ]


def kept(tape: Tape, start: Mark) -> int:
    """Returns the bytes that were allocated after a mark and are there still, less those freed."""
    made, freed = dict[int, int](), 0
    for event in tape.events[start.events :]:
        if event >= 0:
            made[event] = tape.sizes[event]
        elif made.pop(~event, None) is None:
            freed += tape.sizes[~event]
    return sum(made.values()) - freed


def passes_by(tape: Tape, start: Mark) -> bool:
    """Whether all that was allocated after a mark were single numbers, which are gone again."""
    made = [each for each in tape.events[start.events :] if each >= 0]
    return all(tape.sizes[each] <= ROUNDING for each in made) and kept(tape, start) == 0


def freed_since(tape: Tape, start: Mark, older: Mark) -> int:
    """Returns the bytes that were freed after a mark, of what is older than another one."""
    freed = (~each for each in tape.events[start.events :] if each < 0)
    return sum(unnoted(tape.sizes[each]) for each in freed if each < older.allocations)


LARGE = 1 << 20  # bytes that a turn frees of those before
MOST = 64  # turns that are tried


def turns_that_reserve(tape: Tape, start: Mark, most: int) -> int:
    """Returns how many turns like the last one, which began at ``start``, have to follow until none
    reserves more. Raises NotSymbolic if sizes of them are formulas."""
    turn, first = tape.events[start.events :], start.allocations
    made = len(tape.sizes) - first
    freed = [~each for each in turn if each < 0 and ~each < first]
    if not made or sum(tape.sizes[each] for each in freed) <= LARGE:
        return 0
    if any(map(is_symbolic, tape.sizes)):
        raise NotSymbolic("what turns reserve follows from their sizes")
    if min(freed) < first - made:  # older than the turn before: no other turn frees it again
        return 0
    allocator, blocks, needed = CachingAllocator(None), list[Any](), 0

    def play(event: int) -> None:
        if event >= 0:
            blocks.append(allocator.malloc(tape.sizes[event]))
        else:
            allocator.release(blocks[~event])

    for event in tape.events:
        play(event)
    for number in range(1, min(most, MOST) + 1):
        before, offset = allocator.peak_reserved, number * made
        for event in turn:
            if event >= 0:
                play(event)
            else:
                allocator.release(blocks[~event + offset])
        if allocator.peak_reserved > before:
            needed = number
    return needed
