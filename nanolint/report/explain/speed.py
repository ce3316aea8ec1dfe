"""How fast it could be: the count, the assumption, and the range that follows from both."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.verdict.speed import LEAST_PERCENT, MOST_PERCENT, speed

if TYPE_CHECKING:
    from nanolint.gpus.gpu import Machine
    from nanolint.report.printer import Printer
    from nanolint.run.run import Run
    from nanolint.verdict.speed import Speed

MINUTE, HOUR, DAY = 60, 3600, 86_400  # seconds


def render(run: Run, machine: Machine, printer: Printer, *, steps: int = 0) -> None:
    """Write the section; nothing where the card's or the run's operations are not known.

    ``steps`` are those of the whole run, 0 where that is not known.
    """
    found = speed(run, machine)
    if found is None:
        return
    cards = f" on {found.cards} cards" if found.cards > 1 else ""
    printer.blank()
    assumed = f"{LEAST_PERCENT} to {MOST_PERCENT} % of {found.peak_flops / 1e12:,.0f} TFLOPS"
    printer.line(("Speed", "bold"), f", if it reaches {assumed}{cards}")
    printer.line(f"  {operations(found.flops)} a step, as PyTorch's flop_counter counts")
    printer.line(f"  {tokens(found)} tokens a second")
    if steps:
        total = steps * found.tokens
        printer.line(f"  {duration(found, total)} for max_iters = {steps:,}: {total:,} tokens")


def operations(flops: int) -> str:
    """``420 TFLOP``, ``3.1 GFLOP``."""
    power, name = (1e12, "TFLOP") if flops >= 1e12 else (1e9, "GFLOP")
    return f"{flops / power:,.{0 if flops >= 10 * power else 1}f} {name}"


def tokens(found: Speed) -> str:
    """``17,000 to 34,000``: two digits that count."""
    return " to ".join(f"{_rounded(each):,}" for each in found.tokens_per_second)


def duration(found: Speed, count: int) -> str:
    """The time for so many tokens: ``2.0 to 4.1 days``."""
    shortest, longest = found.seconds(count)
    for unit, name in ((DAY, "days"), (HOUR, "hours"), (MINUTE, "minutes")):
        if longest >= 2 * unit:
            return f"{_short(shortest / unit)} to {_short(longest / unit)} {name}"
    return f"{shortest:.0f} to {longest:.0f} seconds"


def _short(number: float) -> str:
    return f"{number:.0f}" if number >= 10 else f"{number:.1f}"


def _rounded(number: int) -> int:
    """``number`` with two digits that count."""
    power = max(0, len(str(number)) - 2)
    return int(round(number, -power))
