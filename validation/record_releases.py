"""Record what other releases of PyTorch allocate: validation/recorded/releases.json.

    python validation/record_releases.py path/to/nanoGPT --torch 2.12 --python .venv-2.12/bin/python

Some rows of the compiled table, compiled and eager, on some cards, for one release at a time: they
hold what ``nanolint/memory/torch.py`` says of it. The options are those of record_compiled.py.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))  # the root of the repository
from nanolint.gpus.lookup import find
from nanolint.trace.process import PretendedCard
from validation.oracle import Oracle, Row, figures, parser, record
from validation.record_compiled import STEPS, configs

TABLE = Path(__file__).parent / "recorded" / "releases.json"
RELEASES = ("2.2", "2.4", "2.5", "2.6", "2.8", "2.10", "2.12", "2.13", "2.15")
# GPT-2's vocabulary and small ones, all types, dropout, biases, flash and efficient attention.
NAMES = (
    "mini",
    "mini-fp32",
    "tiny-l2-50304",
    "b3-t256",
    "shallow-wide",
    "odd-t",
    "tiny-fp32",
    "shakespeare-char",
    "fact1",
    "odd-everything",
    "v50257-fp32",
)
CARD = "rtx-4070"
OTHER_CARDS = ("h100", "rtx-5090")
ON_OTHER_CARDS = ("mini", "shallow-wide")
KERNELS_FOR_BLACKWELL_SINCE = (2, 7)


def rows() -> list[Row]:
    """All of them, for each release, compiled and eager."""
    known = {config["name"]: config for config in configs()}
    return [
        {
            **known[name],
            "name": f"{release} {name}{'' if card == CARD else f' {card}'} "
            f"{'compiled' if compiled else 'eager'}",
            "card": card,
            "torch": release,
            "compile": compiled,
        }
        for release in RELEASES
        for card, name in _on_cards(release)
        for compiled in (True, False)
    ]


def _on_cards(release: str) -> list[tuple[str, str]]:
    major, minor = release.split(".")
    blackwell = (int(major), int(minor)) >= KERNELS_FOR_BLACKWELL_SINCE
    others = OTHER_CARDS if blackwell else OTHER_CARDS[:1]
    return [(CARD, name) for name in NAMES] + [
        (card, name) for card in others for name in ON_OTHER_CARDS
    ]


def pretended(card: str) -> PretendedCard:
    """The card of the catalogue, as the library pretends it."""
    gpu = find(card).gpu
    assert gpu.compute_capability is not None and gpu.sm_count is not None
    return PretendedCard(gpu.name, gpu.total_bytes, gpu.compute_capability, gpu.sm_count)


def main() -> int:
    """Trace and write, or compare."""
    options = parser(str(__doc__))
    options.add_argument("--torch", choices=RELEASES, required=True, help="the release of --python")
    given = options.parse_args()

    def trace_row(config: Row) -> Row:
        oracle = Oracle(given.nanogpt, given.python, given.cache, pretended(config["card"]))
        found = oracle.run(config, compile=config["compile"], steps=STEPS, evaluate_late=True)
        if not found.torch.startswith(f"{given.torch}."):
            raise SystemExit(f"{given.python} has torch {found.torch}, not {given.torch}")
        return figures(found)

    only = given.rows or [row["name"] for row in rows() if row["torch"] == given.torch]
    return record(TABLE, rows(), trace_row, only=only, check=given.check)


if __name__ == "__main__":
    raise SystemExit(main())
