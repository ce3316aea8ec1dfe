"""One target card: what it has, what others take of it, what the run needs, what is left."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

from nanolint.report.explain.budget import OUTCOMES
from nanolint.units import GIB, format_bytes
from nanolint.verdict.replay import overhead, peak_change
from nanolint.verdict.verdict import kept_bytes

if TYPE_CHECKING:
    from nanolint.gpus.gpu import Machine
    from nanolint.report.printer import Printer
    from nanolint.rule.case import Case
    from nanolint.run.run import Run
    from nanolint.verdict.replay import Replay
    from nanolint.verdict.verdict import Outcome, Verdict

LABEL = 24
AMOUNT = 11


class Judged(Protocol):
    """A run judged on one machine, however its events are known. Bytes."""

    @property
    def target(self) -> Machine:
        """The machine."""

    @property
    def usable_bytes(self) -> int:
        """What PyTorch may reserve of it."""

    @property
    def outcome(self) -> Outcome:
        """How it fares."""

    @property
    def reserved_bytes(self) -> int:
        """The most that PyTorch reserves."""

    @property
    def margin_bytes(self) -> int:
        """What PyTorch could reserve beyond that."""

    @property
    def replay(self) -> Replay:
        """The run on a card without limit."""

    @property
    def process_bytes(self) -> int:
        """What nvidia-smi would show."""


def render(case: Case, verdict: Verdict, printer: Printer) -> None:
    """Write the account of ``case``'s card."""
    run = case.run
    assert run is not None  # a verdict implies a run
    account(verdict, run.world_size, printer, sure=not case.resolution.doubts)
    _sequences(run, verdict, printer)


def account(verdict: Judged, world_size: int, printer: Printer, *, sure: bool) -> None:
    """Write the verdict and its sum: total, what others hold, what the run needs, what is left."""
    gpu = verdict.target.gpu
    word, style = OUTCOMES[verdict.outcome]
    known = "" if sure else (", not certain", "yellow")
    printer.line((verdict.target.label, "bold"), ": ", (word, style), known)
    source = "estimated from its nominal size" if gpu.estimated else "as PyTorch reports it"
    _row(printer, "total", gpu.total_bytes, source)
    if verdict.target.in_use_bytes:
        _row(printer, "other programs", -verdict.target.in_use_bytes)
    held = overhead(gpu, world_size)
    between = f"between {_gib(held.low)} and {_gib(held.high)}"
    _row(printer, "context and kernels", -held.expected, between)
    kept = kept_bytes(verdict.target)
    if kept:
        _row(printer, f"kept by {verdict.target.platform}", -kept)
    free = gpu.total_bytes - verdict.target.in_use_bytes - held.expected - kept
    if verdict.usable_bytes < free:
        _row(printer, "beyond what is allowed", verdict.usable_bytes - free)
    _row(printer, "left for PyTorch", verdict.usable_bytes)
    peak = verdict.replay.peak
    allocated, gaps = peak.allocated_bytes, verdict.reserved_bytes - peak.allocated_bytes
    parts = f"{_gib(allocated)} allocated, {_gib(gaps)} fragmented"
    _row(printer, "reserved", verdict.reserved_bytes, parts)
    margin, cached = verdict.margin_bytes, peak.reserved_bytes - verdict.reserved_bytes
    given_back = f"after {_gib(cached)} of cache was given back by PyTorch" if cached else ""
    _row(printer, "to spare" if margin >= 0 else "short by", abs(margin), given_back)
    _row(printer, "nvidia-smi would show", verdict.process_bytes)


def _sequences(run: Run, verdict: Verdict, printer: Printer) -> None:
    """What one more sequence in the micro-batch costs a run that fits, or one fewer frees of one
    that does not; where known."""
    fits = verdict.margin_bytes >= 0
    other = replace(run, batch_size=run.batch_size + (1 if fits else -1))
    if not other.batch_size or not other.is_known:
        return
    change = peak_change(run, other, verdict.target.gpu)
    costs, frees = format_bytes(change), format_bytes(-change)
    printer.line(f"  one more sequence costs {costs}" if fits else f"  one fewer frees {frees}")


def _row(printer: Printer, label: str, nbytes: int, remark: str = "") -> None:
    sign = "-" if nbytes < 0 else ""
    amount = f"{sign}{_gib(abs(nbytes))}"
    printer.line(f"  {label:<{LABEL}}{amount:>{AMOUNT}}", (f"  {remark}".rstrip(), "dim"))


def _gib(nbytes: int) -> str:
    """One unit for the whole account, so that its lines can be compared."""
    return f"{nbytes / GIB:.2f} GiB"
