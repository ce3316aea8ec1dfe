"""What the page says next to the timeline, as HTML, and the events as its script reads them.

The events of a run as the page's script reads them.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

from nanolint.recording.recording import record
from nanolint.report.explain.budget import COMPONENTS, OUTCOMES, PHASES, SPLIT
from nanolint.report.explain.settings import rows
from nanolint.report.lines import places_of
from nanolint.report.picture import LAYERS, REST
from nanolint.tape.tape import Phase
from nanolint.units import format_bytes
from nanolint.verdict.replay import replay
from nanolint.verdict.verdict import Outcome

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from nanolint.rule.case import Case
    from nanolint.source.text import LineIndex
    from nanolint.tape.tape import Tape
    from nanolint.verdict.changes import Alternative

GOOD = (Outcome.COMFORTABLE, Outcome.THIN)


def summary(case: Case) -> str:
    """The answer, in a line, and what it rests on and is not known."""
    verdict = case.verdict
    if verdict is None:
        parts = ["<p>No card was named: this is what the run needs, not whether it fits.</p>"]
    else:
        word = OUTCOMES[verdict.outcome][0]
        kind = "good" if verdict.outcome in GOOD else "bad"
        known = ", not certain" if case.resolution.doubts else ""
        needs = (
            f"{format_bytes(verdict.reserved_bytes)} of {format_bytes(verdict.usable_bytes)} "
            "available to PyTorch"
        )
        label = escape(verdict.target.label)
        parts = [f'<p class="{kind}"><b>{word}</b> on {label}{known}: {needs}</p>']
    if verdict is not None and verdict.oom is not None:
        parts.append(f"<pre>{escape(verdict.oom.message)}</pre>")
    parts += [f"<p>not certain: {escape(str(doubt))}</p>" for doubt in case.resolution.doubts]
    return "\n".join(parts)


def sections(case: Case, lines: LineIndex) -> str:
    """The tables: what is live at the peak, the phases, what would help, the values."""
    return "\n".join(_sections(case, lines))


def _sections(case: Case, lines: LineIndex) -> Iterator[str]:
    run, verdict = case.run, case.verdict
    assert run is not None  # the command refuses a run that is not known
    whole = verdict.replay if verdict else replay(run)
    peak = whole.peak
    live = sorted(whole.components, key=lambda each: -each[1])
    failing = verdict is not None and verdict.oom is not None
    yield _table(
        f"At the peak, in {peak.phase.within}" + (", if there were room" if failing else ""),
        ("part", "memory", "share"),
        [
            (COMPONENTS[component], format_bytes(nbytes), _share(nbytes, peak.allocated_bytes))
            for component, nbytes in live
            if nbytes
        ],
        note=f"reached by {peak.at}: {format_bytes(peak.allocated_bytes)} allocated",
    )
    yield _table(
        "The most that each phase allocates",
        ("phase", "memory", "share of the peak"),
        [
            (PHASES[phase], SPLIT, "")
            if phase in whole.split
            else (PHASES[phase], format_bytes(nbytes), _share(nbytes, peak.allocated_bytes))
            for phase, nbytes in whole.phases
        ],
    )
    if verdict is not None and verdict.outcome is not Outcome.COMFORTABLE:
        yield _ways_out(case.ways_out or ())
    table = [(row.key, row.value, row.origin) for row in rows(case.resolution, lines, case.target)]
    yield _table("The run", ("value", "is", "from"), table)


def _ways_out(ways: Iterable[Alternative]) -> str:
    return _table(
        "What would help",
        ("instead", "costs", "the process takes", "then it"),
        [
            (
                way.whole,
                ": ".join(filter(None, (way.cost.value, way.price))),
                format_bytes(way.verdict.process_bytes),
                OUTCOMES[way.verdict.outcome][0],
            )
            for way in ways
        ],
    )


def _share(nbytes: int, whole: int) -> str:
    return f"{100 * nbytes / whole:.1f} %"


def _table(
    title: str, heads: Sequence[str], table: Iterable[Sequence[str]], *, note: str = ""
) -> str:
    head = "".join(f"<th>{escape(each)}</th>" for each in heads)
    body = "\n".join(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in table
    )
    remark = f"<p>{escape(note)}</p>" if note else ""
    return (
        f"<section><h2>{escape(title)}</h2>{remark}\n"
        f"<table><thead><tr>{head}</tr></thead>\n<tbody>{body}</tbody></table></section>"
    )


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
