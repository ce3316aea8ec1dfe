"""A pasted out-of-memory error beside the replay: do they agree, and what would have fit."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from nanolint.report.explain.failure import ways_out
from nanolint.units import GIB, format_bytes
from nanolint.verdict.replay import overhead

if TYPE_CHECKING:
    from nanolint.gpus.gpu import Machine
    from nanolint.report.printer import Printer
    from nanolint.rule.case import Case
    from nanolint.verdict.measured import OomMessage
    from nanolint.verdict.replay import OutOfMemory

LABEL = 26
SAME_CARD = 0.05  # of the total: one card's figure differs by so much between systems
SAME_BYTES = 0.02  # of what is allocated: the model's own error


def reported_machine(message: OomMessage, target: Machine | None) -> Machine:
    """Where the error comes from: the target with the error's figures, if it can be it."""
    if target is not None:
        gpu = target.gpu
        if abs(gpu.total_bytes - message.total_bytes) <= SAME_CARD * message.total_bytes:
            gpu = replace(gpu, total_bytes=message.total_bytes, estimated=False)
            return _shared(message, replace(target, gpu=gpu))
    from nanolint.gpus.lookup import find

    return _shared(message, find(f"{message.total_bytes / GIB:.2f}GiB"))


def _shared(message: OomMessage, machine: Machine) -> Machine:
    """``machine`` as it was when the error was printed: what others held, what was allowed."""
    own = overhead(machine.gpu, machine.count or 1).expected
    others = message.others_bytes(own)
    return replace(machine, in_use_bytes=others, allowed_bytes=message.allowed_bytes)


def render(message: OomMessage, case: Case, printer: Printer) -> None:
    """Write the figures of ``message``, the replay's on ``case``'s card, and what would fit."""
    target, verdict = case.needed_target, case.verdict
    assert verdict is not None  # the command refuses a run without one
    agrees = _agreement(message, verdict.oom, printer)
    printer.blank()
    printer.line(("The error", "bold"))
    _row(printer, "tried to allocate", message.requested_bytes)
    _row(printer, "allocated by PyTorch", message.allocated_bytes)
    if message.reserved_bytes is not None:
        _row(printer, "reserved by PyTorch", message.reserved_bytes)
    _row(printer, "free", message.free_bytes)
    _row(printer, "others and the driver", target.in_use_bytes)
    if message.allowed_bytes is not None:
        _row(printer, "allowed to the process", message.allowed_bytes)
    _row(printer, "total", message.total_bytes, target.label)
    printer.blank()
    printer.line(("The replay", "bold"), " with the same use by other programs")
    _replayed(verdict.oom, printer)
    if not agrees:
        _differences(printer)
    printer.blank()
    printer.stream.flush()  # what would have fit takes a while to find
    ways_out(case, verdict, printer, title="What would have fit")


def _agreement(message: OomMessage, oom: OutOfMemory | None, printer: Printer) -> bool:
    """Write whether the replay stops where the error did; returns False if it does not."""
    if oom is None:
        printer.line(("It does not agree", "bold yellow"), ": by the replay the run fits.")
        return False
    same_request = format_bytes(oom.requested_bytes) == format_bytes(message.requested_bytes)
    apart = abs(oom.allocated_bytes - message.allocated_bytes)
    if same_request and apart <= SAME_BYTES * message.allocated_bytes:
        printer.line(("It agrees: the same allocation fails.", "bold green"))
    elif same_request:
        printer.line(
            ("It agrees on the allocation", "bold yellow"),
            f", but not on the memory allocated before: {format_bytes(apart)} apart.",
        )
    else:
        printer.line(
            ("It agrees that the run does not fit", "bold yellow"), ", but stops elsewhere."
        )
    return same_request


def _replayed(oom: OutOfMemory | None, printer: Printer) -> None:
    if oom is None:
        printer.line("  fits")
        return
    printer.line(f"  stops in {oom.phase.within}")
    printer.line(f"  at: {oom.at}")
    _row(printer, "tried to allocate", oom.requested_bytes)
    _row(printer, "allocated by PyTorch", oom.allocated_bytes)


def _differences(printer: Printer) -> None:
    printer.line(
        (
            "  Usual reasons: the run had other values (pass them with --set KEY=VALUE), another",
            "dim",
        )
    )
    printer.line(("  version of PyTorch, or a model.py or train.py of its own.", "dim"))


def _row(printer: Printer, label: str, nbytes: int, remark: str = "") -> None:
    printer.line(f"  {label:<{LABEL}}{format_bytes(nbytes):>12}", (f"  {remark}".rstrip(), "dim"))
