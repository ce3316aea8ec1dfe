"""``explain --lines``: the lines that hold most, and the model's text with what each holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.report.excerpt import clipped, flattened
from nanolint.report.explain.budget import COMPONENTS, answer
from nanolint.report.lines import functions_of
from nanolint.report.printer import printable
from nanolint.source.text import LineIndex

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nanolint.report.lines import LineReport
    from nanolint.report.printer import Printer
    from nanolint.rule.case import Case
    from nanolint.verdict.lines import LineMemory

AMOUNT = 9  # cells
MOST_LISTED = 8
LEAST_SOURCE = 24  # characters of a line beside the words about it
LEAST_SHARE = 200  # of the peak: what is less than one in so many is not in the text
CALLS = 5


def render(name: str, case: Case, found: LineReport, printer: Printer, width: int) -> None:
    """Write the table and the text of the case of the file called ``name``."""
    lines = found.lines
    printer.line((printable(name), "bold underline"))
    if told := answer(case):
        printer.line(printable(told))
    if case.resolution.provenance is not None:
        printer.line(printable(case.resolution.provenance))
    for doubt in case.resolution.doubts:
        printer.paragraph(("not certain: ", "yellow"), text=str(doubt), indent="  ")
    peak, kept = found.amount(lines.peak_bytes), found.amount(lines.kept_bytes)
    printer.line(f"{peak} allocated at the peak, in {lines.phase.within}")
    if kept:
        printer.line(f"{kept} kept for the backward pass")
    printer.blank()
    _table(found, printer, width)
    for path in dict.fromkeys(each.line.path for each in shown(found)):
        if path in found.texts:
            printer.blank()
            _text(path, found, printer, width)


def shown(found: LineReport) -> list[LineMemory]:
    """The lines that matter: those with more than a little of the peak."""
    least = found.lines.peak_bytes // LEAST_SHARE
    return [each for each in found.lines.lines if max(each.peak_bytes, each.kept_bytes) >= least]


def _table(found: LineReport, printer: Printer, width: int) -> None:
    heads = f"{'at peak':>{AMOUNT}} {'kept':>{AMOUNT}} {'calls':>{CALLS}}  line"
    printer.line((heads, "bold"))
    matter = shown(found)
    for each in matter[:MOST_LISTED]:
        place = f"{printable(each.line.path)}:{each.line.number}"
        head = f"{_amounts(found, each)} {each.calls or '':>{CALLS}}  {place}  "
        text = found.text(each.line).strip() or _code(each)
        printer.line(head, clipped(text, 0, max(16, width - len(head))))
        indent = " " * (2 * AMOUNT + CALLS + 4)
        for word in _words(each):
            printer.line(indent, (word, "yellow"))
    rest = matter[MOST_LISTED:]
    others = [each for each in found.lines.lines if each not in matter]
    if rest or others:
        peak = sum(each.peak_bytes for each in (*rest, *others))
        kept = sum(each.kept_bytes for each in (*rest, *others))
        count = len(rest) + len(others)
        printer.line(f"{_pair(found, peak, kept)} {'':>{CALLS}}  {count} other lines")
    for component, nbytes in found.lines.elsewhere:
        if nbytes >= found.lines.peak_bytes // LEAST_SHARE:
            printer.line(
                f"{_pair(found, nbytes, 0)} {'':>{CALLS}}  ", (COMPONENTS[component], "dim")
            )
    if found.compiled:
        printer.blank()
        text = "the output of a fused kernel belongs to the line of its last operation"
        if found.lines.kept_elsewhere >= 1 << 20:
            text += f"; {found.amount(found.lines.kept_elsewhere)} of it to no known line"
        printer.paragraph(("compiled: ", "bold"), text=text, indent="  ")


def _code(each: LineMemory) -> str:
    """What stands on a line whose file is not at hand, as a trace has it."""
    return each.tensors[0].name.partition(" ")[2] if each.tensors else ""


def _words(each: LineMemory) -> Iterator[str]:
    """What its tensors are like, and the largest of them."""
    if each.waste:
        yield ", ".join(word.value for word in each.waste)


def _amounts(found: LineReport, each: LineMemory) -> str:
    return _pair(found, each.peak_bytes, each.kept_bytes)


def _pair(found: LineReport, peak: int, kept: int) -> str:
    return f"{found.amount(peak):>{AMOUNT}} {found.amount(kept):>{AMOUNT}}"


def _text(path: str, found: LineReport, printer: Printer, width: int) -> None:
    """The functions of a file that hold anything, with what each line holds beside it."""
    text = found.texts[path]
    index = LineIndex(text)
    memory = {each.line.number: each for each in shown(found) if each.line.path == path}
    wanted = _rows(text, set(memory), index.last_row)
    gutter = len(str(max(wanted)))
    printer.line((printable(path), "bold"))
    printer.line((f"{'at peak':>{AMOUNT}} {'kept':>{AMOUNT}}", "bold"))
    for before, row in zip([0, *wanted], wanted, strict=False):
        if row > before + 1 and before:
            printer.line((f"{'':>{2 * AMOUNT + 1}} {'...':>{gutter}}", "dim"))
        each = memory.get(row)
        amounts = _amounts(found, each) if each else " " * (2 * AMOUNT + 1)
        head = f"{amounts} {row:>{gutter}} | "
        times = f"  x{each.calls}" if each and each.calls > 1 else ""
        words = f"  {', '.join(_words(each))}" if each and each.waste else ""
        source = flattened(index.line(row).rstrip())
        room = width - len(head) - len(times)
        below = words if room - len(words) < LEAST_SOURCE else ""
        words = "" if below else words
        source = clipped(source, 0, max(16, room - len(words)))
        printer.line(
            (amounts, "cyan"), (f" {row:>{gutter}} | ", "dim"), source, (times, "dim"),
            (words, "yellow"),
        )  # fmt: skip
        if below:
            printer.line(" " * len(head), (below.strip(), "yellow"))


def _rows(text: str, wanted: set[int], last: int) -> list[int]:
    """The rows to show: those that matter, the head of their function, and of its class."""
    found = set(wanted)
    for each in functions_of(text):
        if any(each.first <= row <= each.last for row in wanted):
            found.update({each.row, each.owner} - {0})
    return sorted(row for row in found if row <= last)
