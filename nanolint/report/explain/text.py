"""The whole explanation of one config, a section at a time, with the lines that the script prints
itself, for comparison with a log.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from nanolint.linting.judged import way_out_of
from nanolint.recording.recording import recorded
from nanolint.report.explain import budget, card, described, failure, settings, speed
from nanolint.report.explain.budget import answer
from nanolint.report.printer import printable
from nanolint.run.program import ReadScript
from nanolint.verdict.replay import replay

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nanolint.gpus.gpu import Gpu, Machine
    from nanolint.report.printer import Printer
    from nanolint.rule.case import Case
    from nanolint.run.run import Run
    from nanolint.run.settled import Resolution
    from nanolint.source.text import LineIndex

NO_TERMINAL = 80  # columns, where there is no terminal to ask
WIDEST = 100


def render(
    name: str,
    cases: Sequence[Case],
    lines: LineIndex,
    printer: Printer,
    *,
    trace: str,
    usual: Sequence[Machine],
) -> None:
    """Write the explanation of the file called ``name``, for each of its cases.

    ``trace`` is the command that traces the run, ``usual`` are the cards to name if none is given.
    """
    width = width_of(printer)
    shown: Resolution | None = None
    for case in cases:
        if shown is None:
            printer.line((printable(name), "bold underline"))
        else:
            printer.blank()
        if (stop := case.resolution.stop) is not None:
            printer.paragraph(("the run stops ", "bold red"), text=stop.told, indent="  ")
        if told := answer(case, usual):
            printer.line(printable(told))
        if shown is None or not _same(shown, case.resolution):
            shown = case.resolution
            printer.blank()
            if shown.described is not None:
                described.render(shown.described, printer, shown.run)
            else:
                settings.render(case, lines, printer)
            _log(case, printer, width)
        if case is cases[0]:
            _doubts(case, printer, trace)
        printer.blank()
        _memory(case, printer, width, trace)


def width_of(printer: Printer) -> int:
    """The columns that a screen may take."""
    return min(printer.width or NO_TERMINAL, WIDEST)


def _log(case: Case, printer: Printer, width: int) -> None:
    if case.run is None:
        return
    gpu = case.target.gpu if case.target is not None else None
    who, lines = log_lines(case.run, gpu)
    if not lines:
        return
    printer.blank()
    printer.line((f"{who} will print", "bold"))
    for line in lines:
        text = f"  {line}"
        printer.line(text if len(text) <= width else f"{text[: width - 3]}...")


def _doubts(case: Case, printer: Printer, trace: str) -> None:
    if case.resolution.provenance is not None:
        printer.line((printable(case.resolution.provenance), "bold"))
    for left in case.resolution.left_open:
        printer.paragraph("left open: ", text=left, indent="  ")
    for doubt in case.resolution.doubts:
        printer.paragraph(("not certain: ", "yellow"), text=str(doubt), indent="  ")
    if case.resolution.doubts:
        printer.line(f"  {printable(way_out_of(case.resolution, trace))}")


def _memory(case: Case, printer: Printer, width: int, trace: str) -> None:
    run, verdict = case.run, case.verdict
    if run is None:
        printer.line(("Memory cannot be checked", "bold yellow"))
        for unresolved in case.resolution.unresolved:
            printer.paragraph(f"  {unresolved.words}: ", text=unresolved.reason, indent="    ")
        if settles := way_out_of(case.resolution, trace):
            printer.line(f"  {printable(settles)}")
    elif not run.on_gpu:
        printer.line(f"device = {run.device!r}: nothing is allocated on a GPU")
    elif verdict is None:
        budget.render(replay(run), printer, width)
    else:
        budget.render(verdict.replay, printer, width)
        printer.blank()
        card.render(case, verdict, printer)
        printer.stream.flush()  # what would help takes a while to find
        failure.render(case, verdict, printer, width)
        steps = run.max_iters if case.resolution.described is None else 0
        speed.render(run, verdict.target, printer, steps=steps)


def _same(one: Resolution, other: Resolution) -> bool:
    """Whether two targets resolve to the same values, so that one table tells both."""
    return one.run == other.run and one.settings == other.settings


MATRICES = 4  # of each block: c_attn, c_proj, c_fc, c_proj
VECTORS = 2  # of each block: its norms' weights
BIASES = 6  # of each block: of the matrices and of the norms

MOST = 8  # lines of a script's own
_NUMBER = re.compile(r"(?<![\w.-])\d")  # not those of a name: gpt-2, bf16


def log_lines(run: Run, gpu: Gpu | None = None) -> tuple[str, list[str]]:
    """Who prints, and what it prints before the first iteration, word for word.

    Of a script that is read those lines that have a number and are known. No line where the model
    alone is read. Raises Unread.
    """
    if isinstance(run.program, ReadScript):
        known = recorded(run, gpu).tape.printed if run.on_gpu else []
        lines = [each for each in dict.fromkeys(known) if _NUMBER.search(each)]
        name = run.program.modules[0].path.rpartition("/")[2]
        return printable(name), [printable(each.strip()) for each in lines[:MOST]]
    return "nanoGPT", [] if run.program is not None else _of_nanogpt(run)


def _of_nanogpt(run: Run) -> list[str]:
    """What its own train.py and model.py print."""
    c, layers = run.sizes.n_embd, run.sizes.n_layer
    assert c is not None and layers is not None  # it has its sizes
    decayed = (run.vocab_size + run.block_size) * c + layers * 12 * c * c
    matrices = 2 + MATRICES * layers
    vectors = 1 + VECTORS * layers + (1 + BIASES * layers) * bool(run.sizes.bias)
    return [
        f"tokens per iteration will be: {run.tokens_per_iter:,}",
        f"number of parameters: {run.parameters_reported / 1e6:.2f}M",
        f"num decayed parameter tensors: {matrices}, with {decayed:,} parameters",
        f"num non-decayed parameter tensors: {vectors}, "
        f"with {run.parameters - decayed:,} parameters",
    ]
