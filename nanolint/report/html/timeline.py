"""The events of a run as the page's script reads them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nanolint.recording.recording import record
from nanolint.report.explain.words import PHASES
from nanolint.report.lines import places_of
from nanolint.report.palette import LAYERS, REST
from nanolint.tape.tape import Phase
from nanolint.verdict.replay import replay

if TYPE_CHECKING:
    from nanolint.rule.case import Case
    from nanolint.tape.tape import Tape


def timeline(case: Case) -> dict[str, Any]:
    """The allocations of the whole run, and what the card has for them.

    ``events``: the number of an allocation, or -1 less that number where it is released. ``sizes``
    are bytes, ``names`` indices into ``words``, ``line_of`` into ``lines``, of which one is empty
    for what is of no line, ``layers`` into ``legend`` from the bottom up.
    ``phases`` are (first event, words). ``reserved`` are (event, bytes) where that changes.
    ``view`` is the range of events to begin with: the step that holds the peak, or fails.
    """
    assert case.run is not None  # the command refuses a run that is not known
    target, verdict = case.target, case.verdict
    gpu = target.gpu if target else None
    expandable = target is not None and target.expandable
    tape = record(case.run, gpu)
    limit = verdict.usable_bytes if verdict is not None else None
    oom = verdict.oom if verdict is not None else None
    moments = replay(
        case.run,
        gpu,
        limit_bytes=limit if oom is not None else None,
        expandable=expandable,
        trace=True,
    ).events
    failed_at = len(moments) if oom is not None else None
    words = list(dict.fromkeys(tape.names))
    places = places_of(case)
    told = [places.told(handle) if places else "" for handle in range(len(tape.sizes))]
    lines = {line: number for number, line in enumerate(dict.fromkeys(told))}
    index = {word: number for number, word in enumerate(words)}
    layer = {component: number for number, (component, _, _) in enumerate(LAYERS, 1)}
    reserved: list[tuple[int, int]] = []
    for number, moment in enumerate(moments):
        if not reserved or reserved[-1][1] != moment.reserved_bytes:
            reserved.append((number, moment.reserved_bytes))
    return {
        "events": tape.events,
        "sizes": tape.sizes,
        "names": [index[name] for name in tape.names],
        "words": words,
        "lines": list(lines),
        "line_of": [lines[line] for line in told],
        "layers": [layer.get(component, 0) for component in tape.components],
        "legend": [REST, *((label, color) for _, label, color in LAYERS)],
        "phases": [(start, PHASES[phase]) for start, phase in tape.phases],
        "reserved": reserved,
        "limit": limit,
        "card": target.label if target else None,
        "failed": failed_at,
        "request": None if oom is None else oom.requested_bytes,
        "view": _view(tape, failed_at),
    }


def _view(tape: Tape, failed_at: int | None) -> tuple[int, int]:
    """The optimizer step around the failure, or else the last one, as a range of events."""
    count = len(tape.events)
    ends = [
        end
        for (_, phase), end in zip(
            tape.phases, [*(start for start, _ in tape.phases[1:]), count], strict=True
        )
        if phase is Phase.OPTIMIZER
    ]
    if not ends:
        return 0, count
    first = tape.phases[1][0] if len(tape.phases) > 1 else 0
    starts = [first, *ends[:-1]]
    steps = list(zip(starts, ends, strict=True))
    if failed_at is None:
        return steps[-1]
    if failed_at < first:
        return 0, first
    return next((step for step in steps if failed_at < step[1]), (ends[-1], count))
