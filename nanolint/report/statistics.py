"""How often each rule was broken, instead of each finding."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from nanolint.diagnostics import Safety
from nanolint.report.full import STYLES

if TYPE_CHECKING:
    from nanolint.report.printer import Printer
    from nanolint.report.results import Results


def render(results: Results, printer: Printer) -> None:
    """Write a line for each rule with findings, the most frequent first."""
    counts = Counter((d.code, d.name) for d in results.findings)
    gutter = max((len(str(count)) for count in counts.values()), default=0)
    for (code, name), count in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        mine = [diagnostic for diagnostic in results.findings if diagnostic.code == code]
        safe = sum(d.fix is not None and d.fix.safety is Safety.SAFE for d in mine)
        fixable = f"  ({safe} fixable)" if safe else ""
        style = STYLES[mine[0].severity]
        printer.line(f"{count:>{gutter}}  ", (code, style), f"  {name}{fixable}")
