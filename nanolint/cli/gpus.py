"""``nanolint gpus``: the cards that can be named as a target."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING

from nanolint.cli.parser import Parser, UsageError
from nanolint.cli.streams import printer
from nanolint.units import format_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from nanolint.cli.streams import Streams
    from nanolint.gpus.gpu import Gpu
    from nanolint.report.printer import Printer

LAPTOP = "Laptop"
INDENT, COLUMNS = 6, 80
DESCRIPTION = "List the cards that nanolint knows, and the memory that PyTorch reports."


def run(arguments: list[str], streams: Streams) -> int:
    """List the cards that ``arguments`` describe; returns the exit status."""
    options = parser().parse(arguments, streams)
    from nanolint.gpus.lookup import GpuError, find, search

    query = " ".join(options.query)
    found: Sequence[Gpu] = search(query)
    if not found:
        try:
            found = [find(query).gpu]  # 11.69GiB, 8xA100: what --gpu would take
        except GpuError as error:
            raise UsageError(str(error)) from error
    if options.format == "json":
        streams.stdout.write(json.dumps([asdict(gpu) for gpu in found], indent=2) + "\n")
    elif query:
        _print_table(found, printer(streams.stdout, options.color))
    else:
        _print_names(found, printer(streams.stdout, options.color))
    return 0


def parser() -> Parser:
    """The options of the command."""
    made = Parser("nanolint gpus", "[QUERY] [OPTION]...", DESCRIPTION)
    made.add_argument("query", nargs="*", help="part of a name, or a size: a100, 12GB")
    made.add_argument("--format", choices=("text", "json"), default="text")
    made.add_argument("--color", choices=("auto", "always", "never"), default="auto")
    return made


def _print_names(gpus: Sequence[Gpu], out: Printer) -> None:
    """Write the names by compute capability, the newest first; those of laptops are counted."""
    named: dict[str, list[str]] = {}
    newest = gpus[::-1]
    nvidia = [gpu for gpu in newest if gpu.vendor == "nvidia"]
    for gpu in (*nvidia, *(gpu for gpu in newest if gpu.vendor != "nvidia")):
        capability = gpu.compute_capability
        head = "AMD" if capability is None else ".".join(map(str, capability))
        named.setdefault(head, []).append(gpu.name)
    for head, names in named.items():
        shown = [name for name in names if LAPTOP not in name]
        rest = len(names) - len(shown)
        words = [*(f"{name}," for name in shown[:-1]), *shown[-1:]]
        if rest:
            words.append(f"and {rest} for laptops")
        for row, line in enumerate(_lines(words, (out.width or COLUMNS) - INDENT)):
            out.line((f"{head if row == 0 else '':<{INDENT}}", "bold"), line)
    out.line(("`nanolint gpus 4070` says details of a card; its capability stands first", "dim"))


def _lines(words: Sequence[str], width: int) -> Iterator[str]:
    """``words`` in lines of at most ``width``; none of them is broken."""
    line = ""
    for word in words:
        if line and len(line) + 1 + len(word) > width:
            yield line
            line = ""
        line = f"{line} {word}" if line else word
    yield line


def _print_table(gpus: Sequence[Gpu], out: Printer) -> None:
    widest = max(len("name"), *(len(gpu.name) for gpu in gpus))
    out.line((f"{'name':<{widest}}  {'total':>11}  {'SMs':>4}  capability", "bold"))
    for gpu in gpus:
        total = ("~" if gpu.estimated else "") + format_bytes(gpu.total_bytes)
        capability = ".".join(map(str, gpu.compute_capability)) if gpu.compute_capability else "-"
        out.line(f"{gpu.name:<{widest}}  {total:>11}  {gpu.sm_count or '-':>4}  {capability}")
    if any(gpu.estimated for gpu in gpus):
        out.line(("~ estimated: the figure that PyTorch reports for this card is not known", "dim"))
