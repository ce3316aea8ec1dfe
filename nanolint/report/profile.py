"""What a profile was made from and how good it is, for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.report.printer import printable
from nanolint.units import format_bytes, listed

if TYPE_CHECKING:
    from pathlib import Path

    from nanolint.report.printer import Printer
    from nanolint.run.profile import Profile


def written(path: Path, profile: Profile, printer: Printer, *, complete: bool) -> None:
    """Write the account of a profile that was written to ``path``."""
    traces = sum(len(each.traced) for each in profile.regimes)
    printer.line(("Wrote", "bold"), f" {printable(str(path))}: {traces} traces")
    for steps in sorted({each.micro_steps for each in profile.regimes}):
        known = listed(_range(*each) for each in profile.ranges(steps))
        times = f"{steps} micro-step{'s' * (steps > 1)}"
        printer.line(f"  {times}: micro-batches {known}")
    if not complete:
        printer.line(
            ("  not complete: ", "yellow"), "sizes between these are not known; raise --most-traces"
        )
    worst = max(profile.held_out, key=lambda each: abs(each.reserved_bytes), default=None)
    if worst is None:
        printer.line("  no micro-batch was left to hold out")
    elif profile.error_per_mille == 0:
        printer.line(f"  {len(profile.held_out)} held out, each exact to the byte")
    else:
        printer.line(
            f"  {len(profile.held_out)} held out, off by up to {profile.error_per_mille / 10} %: "
            f"{format_bytes(abs(worst.reserved_bytes))} reserved at {worst.batch_size}"
        )
    printer.line(f"  of {listed(profile.files)}, torch {profile.torch}")


def _range(low: int, high: int) -> str:
    return str(low) if low == high else f"{low} to {high}"
