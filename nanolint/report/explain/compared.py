"""A real memory snapshot beside the prediction: do they agree, and where do they part."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from nanolint.recording.recording import record
from nanolint.report.explain.budget import COMPONENTS
from nanolint.units import GIB, MIB, format_bytes
from nanolint.verdict.replay import replay

if TYPE_CHECKING:
    from nanolint.report.printer import Printer
    from nanolint.rule.case import Case
    from nanolint.tape.tape import Tape
    from nanolint.verdict.measured import MeasuredSnapshot

LABEL = 24
AMOUNT = 12
LEAST = MIB  # smaller tensors are not compared one by one
MOST_LINES = 12  # of each kind of difference


def render(measured: MeasuredSnapshot, case: Case, printer: Printer) -> None:
    """Write both peaks, then which tensors are live at only one of them."""
    assert case.run is not None  # the command refuses a run that is not known
    gpu = case.target.gpu if case.target else None
    expandable = case.target is not None and case.target.expandable
    peak = replay(case.run, gpu, expandable=expandable).peak
    printer.line(
        ("At the peak", "bold"), f"{'predicted':>{LABEL + AMOUNT - 9}}{'measured':>{AMOUNT}}"
    )
    _row(printer, "allocated", peak.allocated_bytes, measured.allocated_bytes)
    _row(printer, "reserved, at most", peak.reserved_bytes, measured.reserved_bytes)
    predicted, names = _predicted(record(case.run, gpu), peak.allocated_bytes)
    real = Counter({each.nbytes: each.count for each in measured.live if each.nbytes >= LEAST})
    where = {each.nbytes: each.where for each in measured.live}
    agreed = sum(size * count for size, count in (predicted & real).items())
    share = 100 * agreed / max(1, measured.allocated_bytes)
    printer.line(f"  {share:.1f} % of the measured bytes are tensors of a predicted size")
    _only(printer, "Only in the real run", real - predicted, where)
    _only(printer, "Only predicted", predicted - real, names)


def _predicted(tape: Tape, peak: int) -> tuple[Counter[int], dict[int, str]]:
    """The sizes of what is live at the predicted peak, in bytes, and what they are called."""
    live: set[int] = set()
    allocated = 0
    for event in tape.events:
        if event >= 0:
            live.add(event)
            allocated += tape.sizes[event]
            if allocated == peak:
                break
        else:
            live.discard(~event)
            allocated -= tape.sizes[~event]
    large = [handle for handle in sorted(live) if tape.sizes[handle] >= LEAST]
    names: dict[int, str] = {}
    for handle in large:
        words = f"{tape.names[handle]} ({COMPONENTS[tape.components[handle]]})"
        names.setdefault(tape.sizes[handle], words)
    return Counter(tape.sizes[handle] for handle in large), names


def _row(printer: Printer, label: str, predicted: int, measured: int) -> None:
    apart = 100 * (predicted - measured) / measured if measured else 0.0
    amounts = "".join(f"{each / GIB:>{AMOUNT - 4}.2f} GiB" for each in (predicted, measured))
    printer.line(f"  {label:<{LABEL}}{amounts}  {apart:+.1f} %")


def _only(printer: Printer, title: str, sizes: Counter[int], words: dict[int, str]) -> None:
    if not sizes:
        return
    total = sum(size * count for size, count in sizes.items())
    printer.blank()
    printer.line((title, "bold"), f": {format_bytes(total)}")
    ordered = sorted(sizes.items(), key=lambda each: -each[0] * each[1])
    for size, count in ordered[:MOST_LINES]:
        printer.line(f"  {count:>4} x {format_bytes(size):>10}  {words.get(size, '')}".rstrip())
    if len(ordered) > MOST_LINES:
        printer.line(f"  and {len(ordered) - MOST_LINES} more sizes")
