"""A predicted memory snapshot in PyTorch's own format, for pytorch.org/memory_viz and the like.

It has what ``torch.cuda.memory._dump_snapshot`` writes: segments with their blocks at the end, and
the allocator's actions in order. The stack begins with the tensor, its part of the budget, and the
phase; the lines of the model follow where they are known.
"""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING, Any

from nanolint.recording.recording import record
from nanolint.report.explain.budget import COMPONENTS, PHASES
from nanolint.report.lines import places_of
from nanolint.tape.allocator.play import Placements

if TYPE_CHECKING:
    from nanolint.report.lines import Places
    from nanolint.rule.case import Case
    from nanolint.tape.allocator.play import Placement, Segment
    from nanolint.tape.locating import Line
    from nanolint.tape.tape import Tape

PROTOCOL = 4  # as torch.save's reader and every Python since 3.4 know it
SMALL_SEGMENT = 2 << 20  # bytes; PyTorch says "small" of segments of this size
POOL = (0, 0)  # no graph's own

Frames = list[dict[str, Any]]


def pickled(case: Case) -> bytes:
    """The snapshot of the run of ``case``, pickled; plain dictionaries, lists and numbers.

    On a card where it runs out of memory, until then and with that as its last entry.
    """
    return pickle.dumps(snapshot(case), protocol=PROTOCOL)


def snapshot(case: Case) -> dict[str, Any]:
    """The snapshot as PyTorch's tools read it."""
    assert case.run is not None  # the command refuses a run that is not known
    gpu = case.target.gpu if case.target else None
    verdict = case.verdict
    expandable = case.target is not None and case.target.expandable
    tape = record(case.run, gpu)
    limit = verdict.usable_bytes if verdict is not None and verdict.oom is not None else None
    placed = Placements(tape, limit_bytes=limit, expandable=expandable)
    frames = _frames(tape, places_of(case))
    trace = [entry for action in placed.actions for entry in _entries(action, frames)]
    if placed.failed is not None and verdict is not None and verdict.oom is not None:
        handle = tape.events[placed.failed]
        oom = verdict.oom
        trace.append(
            _entry("oom", placed.failed, 0, oom.requested_bytes, frames[handle])
            | {"device_free": oom.free_bytes}
        )
    return {
        "segments": _segments(placed, frames, expandable=expandable),
        "device_traces": [trace],
        "allocator_settings": {"expandable_segments": expandable},
        "external_annotations": [],
    }


def _frames(tape: Tape, places: Places | None) -> list[Frames]:
    """The stack of each allocation."""
    phases = dict(tape.phases)
    phase, found = tape.phases[0][1], []
    for number, event in enumerate(tape.events):
        phase = phases.get(number, phase)
        if event >= 0:
            found.append(
                [
                    _frame(tape.names[event]),
                    _frame(COMPONENTS[tape.components[event]]),
                    _frame(PHASES[phase]),
                    *(_line(*each) for each in (places.stack(event) if places else ())),
                ]
            )
    return found


def _frame(name: str) -> dict[str, Any]:
    # ``str`` and ``int`` alone: who reads it has no class of nanolint's.
    return {"name": str(name), "filename": "predicted by nanolint", "line": 0}


def _line(line: Line, function: str) -> dict[str, Any]:
    return {"name": str(function), "filename": str(line.path), "line": int(line.number)}


def _entries(action: Placement, frames: list[Frames]) -> list[dict[str, Any]]:
    stack: Frames = [] if action.handle is None else frames[action.handle]
    # The card is done with a block as soon as it is released: there is one stream.
    names = ("free_requested", "free_completed") if action.action == "free" else (action.action,)
    return [_entry(name, action.event, action.address, action.nbytes, stack) for name in names]


def _entry(action: str, event: int, address: int, nbytes: int, frames: Frames) -> dict[str, Any]:
    return {
        "action": action,
        "addr": address,
        "size": nbytes,
        "stream": 0,
        "time_us": event,  # nobody knows how long anything takes: the number of the event
        "compile_context": "N/A",
        "user_metadata": "",
        "pool_id": POOL,
        "frames": frames,
    }


def _segments(
    placed: Placements, frames: list[Frames], *, expandable: bool
) -> list[dict[str, Any]]:
    """The segments at the end, each with its blocks in the order of their addresses."""
    live: dict[int, Placement] = {}
    for action in placed.actions:
        if action.action == "alloc":
            live[action.address] = action
        elif action.action == "free":
            live.pop(action.address, None)
    blocks = [live[address] for address in sorted(live)]
    return [_segment(each, blocks, frames, expandable=expandable) for each in placed.segments]


def _segment(
    segment: Segment, live: list[Placement], frames: list[Frames], *, expandable: bool
) -> dict[str, Any]:
    end = segment.address + segment.nbytes
    own = [each for each in live if segment.address <= each.address < end]
    blocks, at = [], segment.address
    for each in own:
        if each.address > at:
            blocks.append(_unused(at, each.address - at))
        stack = [] if each.handle is None else frames[each.handle]
        blocks.append(_used(each, stack))
        at = each.address + each.block_bytes
    if at < end:
        blocks.append(_unused(at, end - at))
    used = sum(each.block_bytes for each in own)
    return {
        "device": 0,
        "address": segment.address,
        "total_size": segment.nbytes,
        "allocated_size": used,
        "active_size": used,
        "requested_size": sum(each.nbytes for each in own),
        "stream": 0,
        "segment_type": "small" if segment.nbytes <= SMALL_SEGMENT else "large",
        "segment_pool_id": POOL,
        "is_expandable": expandable,
        "blocks": blocks,
        "frames": [],
    }


def _used(placement: Placement, frames: Frames) -> dict[str, Any]:
    return {
        "address": placement.address,
        "size": placement.block_bytes,
        "requested_size": placement.nbytes,
        "state": "active_allocated",
        "frames": frames,
    }


def _unused(address: int, nbytes: int) -> dict[str, Any]:
    return {
        "address": address,
        "size": nbytes,
        "requested_size": 0,
        "state": "inactive",
        "frames": [],
    }
