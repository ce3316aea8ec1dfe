"""What each line of a model holds, for the config that would be run: its lenses and its hovers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.diagnostics import Span
from nanolint.frozen import dataclass
from nanolint.lsp.markdown import code, escaped
from nanolint.report.lines import LineReport, line_report
from nanolint.run.program import ReadScript
from nanolint.source.text import LineIndex
from nanolint.units import listed

if TYPE_CHECKING:
    from nanolint.rule.case import Case
    from nanolint.verdict.lines import LineMemory

LEAST_PERCENT = 1  # of the peak: a function with less has no lens
MOST_TENSORS = 4


@dataclass(frozen=True)
class Chosen:
    """The run that a model is shown for. ``path`` is the model's file as lines have it."""

    case: Case
    config: str  # how the config is called
    path: str
    text: str  # of the model


@dataclass(frozen=True, slots=True)
class Lens:
    """A title above a row; the rows count from 1."""

    row: int
    title: str


def path_in(case: Case, posix: str, text: str) -> str | None:
    """How the file at the path ``posix``, with that text, is called among those of a run."""
    if case.run is None or not case.run.on_gpu:
        return None
    program = case.run.program
    if not isinstance(program, ReadScript):
        return None
    for each in program.modules:
        if f"/{posix}".endswith(f"/{each.path}") and each.text == text:
            return each.path
    return None


def report_of(chosen: Chosen) -> LineReport | str:
    """The lines of the run, or why there are none."""
    return line_report(chosen.case)


def lenses(chosen: Chosen, found: LineReport | str) -> tuple[Lens, ...]:
    """One on top that says for which run, and one above each function that holds something."""
    if isinstance(found, str):
        return (Lens(1, f"no memory by line for {chosen.config}: {found}"),)
    peak = found.lines.peak_bytes
    on = f" on {found.card}" if found.card else ""
    top = f"memory by line for {chosen.config}{on}: {found.amount(peak)} at the peak"
    made = [Lens(1, top)]
    for each in found.functions():
        percent = 100 * each.peak_bytes // peak
        if each.path != chosen.path or max(percent, 100 * each.kept_bytes // peak) < LEAST_PERCENT:
            continue
        kept = f"keeps {found.amount(each.kept_bytes)}, " if each.kept_bytes else ""
        calls = f", {each.calls} calls" if each.calls > 1 else ""
        made.append(Lens(each.function.row, f"{kept}{percent} % of the peak{calls}"))
    return tuple(made)


def hover(chosen: Chosen, found: LineReport | str, offset: int) -> tuple[Span, str] | None:
    """What the line at ``offset`` holds, in Markdown, and where it stands."""
    if isinstance(found, str):
        return None
    index = LineIndex(chosen.text)
    row = index.position(offset)[0]
    line = next(
        (each for each in found.lines.lines if each.line == (chosen.path, row)),
        None,
    )
    if line is None:
        return None
    source = index.line(row)
    start = index.offset(row, 1) + len(source) - len(source.lstrip())
    return Span(start, start + len(source.strip())), _markdown(line, chosen, found)


def _markdown(line: LineMemory, chosen: Chosen, found: LineReport) -> str:
    peak = found.lines.peak_bytes
    percent = 100 * line.peak_bytes / peak
    calls = f" in {line.calls} calls" if line.calls > 1 else ""
    parts = []
    if line.kept_bytes:
        parts.append(f"keeps **{found.amount(line.kept_bytes)}** for the backward pass{calls}")
    at = found.amount(line.peak_bytes) or "nothing"
    parts.append(f"at the peak: {at}, {percent:.0f} % of {found.amount(peak)}")
    parts += [
        f"{code(each.name)}: {found.amount(each.nbytes)}"
        + (f", {each.times} times" if each.times > 1 else "")
        for each in line.tensors[:MOST_TENSORS]
    ]
    if line.waste:
        parts.append(f"**{escaped(listed([word.value for word in line.waste]))}**")
    on = f" on {found.card}" if found.card else ""
    parts.append(f"for {escaped(chosen.config + on)}")
    if found.about:
        parts.append(f"not certain: {escaped(str(chosen.case.resolution.doubts[0]))}")
    return "\n".join(f"- {part}" for part in parts)
