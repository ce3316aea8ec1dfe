"""How much a run takes of each card, in the few numbers that an editor has room for.

A code lens stands above the file: each target card with the run's peak, margin and batch. An inlay
hint stands next to ``batch_size``: how much the process takes of the card.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.frozen import dataclass
from nanolint.lsp.cursor import assignment_line
from nanolint.run.trust import in_short
from nanolint.trainers.nanogpt.kind import FileKind
from nanolint.units import format_bytes
from nanolint.verdict.verdict import Outcome
from nanolint.verdict.words import margin, share

if TYPE_CHECKING:
    from nanolint.diagnostics import Span
    from nanolint.rule.case import Case
    from nanolint.rule.context import Context
    from nanolint.run.run import Run
    from nanolint.verdict.verdict import Verdict

# What is said of a run; a comfortable one needs no words.
TROUBLE = {
    Outcome.THIN: "thin margin",
    Outcome.FRAGMENTED: "out of memory without expandable segments",
    Outcome.OUT_OF_MEMORY: "out of memory",
}

DOUBT = "not certain: "


@dataclass(frozen=True)
class Load:
    """A case whose run is known and uses the GPU, with its verdict.

    ``doubts`` name the parts of the project that the replay does not know and takes for nanoGPT's.
    """

    case: Case
    verdict: Verdict
    doubts: tuple[str, ...] = ()

    @property
    def amount(self) -> str:
        """The process beside the card: ``6.0 of 11.7 GiB``."""
        return share(self.verdict, about=bool(self.doubts))


def loads(context: Context) -> tuple[Load, ...]:
    """One for each target on which memory can be judged, in the order of the targets."""
    found = (load_of(case) for case in context.cases)
    return tuple(load for load in found if load is not None)


def tightest(context: Context) -> Load | None:
    """The target with the least room left, None where memory cannot be judged."""
    return min(loads(context), key=lambda load: load.verdict.margin_bytes, default=None)


def load_of(case: Case) -> Load | None:
    """The load of a case; None without a run, a target, or a CUDA device."""
    run, verdict = case.run, case.verdict
    if run is None or verdict is None:
        return None
    doubts = tuple(map(str, case.resolution.doubts))
    return Load(case, verdict, doubts)


@dataclass(frozen=True, slots=True)
class InlayHint:
    """A remark that an editor shows at ``offset``, between the characters of the text."""

    offset: int
    label: str
    tooltip: str


def inlay_hints(context: Context, text: str) -> tuple[InlayHint, ...]:
    """The hints for ``text``, of which ``context`` is the last state that could be parsed.

    Of several targets the one with the least room left is shown.
    """
    if context.kind is FileKind.SCRIPT:
        return ()
    load = tightest(context)
    offset = _place(context, text)
    if load is None or offset is None:
        return ()
    return (InlayHint(offset, _label(load, context), _tooltip(load)),)


def _place(context: Context, text: str) -> int | None:
    """Behind the line that sets the value that counts, where it moves no comment."""
    value = _value_end(context, text)
    if value is None:
        return None
    end = text.find("\n", value)
    line = text[value : len(text) if end < 0 else end]
    return value + len(line.rstrip())


def _value_end(context: Context, text: str) -> int | None:
    """Behind the value; while the text cannot be parsed, behind the code of its line."""
    if text == context.text:
        span = micro_batch_span(context)
        return None if span is None else span.end
    if context.settings.described is not None:
        return None
    line = assignment_line(text, KEY)
    if line is None:
        return None
    code = text[line.start : line.end].partition("#")[0].rstrip()
    return line.start + len(code)


def _label(load: Load, context: Context) -> str:
    where = f" on {load.case.gpu_name}" if len(context.cases) > 1 else ""
    trouble = TROUBLE.get(load.verdict.outcome)
    return f"{load.amount}{where}{f': {trouble}' if trouble else ''}"


def _tooltip(load: Load) -> str:
    peak = load.verdict.replay.peak
    room = "to spare" if load.verdict.margin_bytes >= 0 else "short"
    tooltip = (
        f"{load.case.gpu_name}: {format_bytes(peak.allocated_bytes)} allocated at the peak, "
        f"{format_bytes(load.verdict.process_bytes)} for the process, "
        f"{format_bytes(abs(load.verdict.margin_bytes))} {room}"
    )
    if load.case.resolution.in_float16:
        tooltip += f"\ncounted in float16: {load.case.gpu_name} has no bfloat16 (NL203)"
    return "\n".join([tooltip, *(f"{DOUBT}{doubt}" for doubt in load.doubts)])


KEY = "batch_size"


def micro_batch_span(context: Context) -> Span | None:
    """The value that the text of ``context`` gives its micro-batch; None where it gives none."""
    described = context.settings.described
    if described is None:
        assignment = context.assignment(KEY)
        return None if assignment is None else assignment.value_span
    factor = described.equation.factor if described.equation is not None else None
    if factor is None or factor.place.path != context.path:
        return None
    return factor.place.span


def code_lenses(context: Context) -> tuple[str, ...]:
    """A line for each target, to stand above the first line of the file."""
    if context.kind is FileKind.SCRIPT:
        return ()
    return tuple(_describe(case) for case in context.cases)


def _describe(case: Case) -> str:
    card = case.gpu_name if case.target else "no target GPU: choose one"
    run = case.run
    if run is None:
        return f"{card} | {case.resolution.why_unknown}"
    doubts = case.resolution.doubts
    doubt = [f"not certain: {in_short(doubts)}"] if doubts else []
    return " | ".join([card, *_memory(case, run), *_batch(run), *doubt])


def _memory(case: Case, run: Run) -> tuple[str, ...]:
    if not run.on_gpu:
        return (f"device = {run.device!r}: no GPU memory",)
    load = load_of(case)
    if load is None:
        return ()
    trouble = TROUBLE.get(load.verdict.outcome)
    half = " in float16" if case.resolution.in_float16 else ""
    room = margin(load.verdict)
    return f"peak {load.amount}{half}", f"{trouble}, {room}" if trouble else room


def _batch(run: Run) -> tuple[str, ...]:
    if run.eval_only:
        return (f"{run.batch_size * run.eval_iters:,} sequences evaluated per split",)
    batch = f"effective batch {run.effective_batch_size:,}"
    return (batch, f"{run.tokens_per_iter:,} tokens per iteration") if run.block_size else (batch,)
