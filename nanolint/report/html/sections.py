"""What the page says beside the timeline, as HTML."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from nanolint.report.explain.settings import rows
from nanolint.report.explain.words import COMPONENTS, OUTCOMES, PHASES, SPLIT
from nanolint.units import format_bytes
from nanolint.verdict.replay import replay
from nanolint.verdict.verdict import Outcome

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from nanolint.rule.case import Case
    from nanolint.source.text import LineIndex
    from nanolint.verdict.alternative import Alternative

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
