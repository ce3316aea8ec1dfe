"""Record what other releases of PyTorch allocate: validation/recorded/releases.json.

    python validation/record_releases.py path/to/nanoGPT --torch 2.12 --python .venv-2.12/bin/python

Some rows of the compiled table, compiled and eager, on some cards, and some that are eager alone,
for one release at a time: they hold what ``nanolint/tape/torch.py`` says of it. ``--eager``
traces the eager ones. The other options are those of record_compiled.py.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))  # the root of the repository
from nanolint.gpus.lookup import find
from nanolint.trace.process import PretendedCard
from validation.oracle import Oracle, Row, figures, parser, record
from validation.record_compiled import FULL, HALF, STEPS, configs, shaped

TABLE = Path(__file__).parent / "recorded" / "releases.json"
RELEASES = ("2.2", "2.4", "2.5", "2.6", "2.8", "2.10", "2.12", "2.13", "2.14", "2.15")
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
MATH = ("bfloat16", "math")
# Heads that cards with little shared memory take more for, slow attention, float16, dropout.
EAGER: tuple[tuple[str, Row], ...] = (
    (CARD, shaped("head-96-eff", (4, 256, 2, 4, 384, 1003), 2, *HALF)),
    (CARD, shaped("head-128-eff-drop", (4, 256, 2, 4, 512, 1003), 2, *HALF, dropout=0.1)),
    ("rtx-3060-12gb", shaped("head-96-eff-drop", (3, 200, 2, 4, 384, 65), 2, *HALF, dropout=0.1)),
    ("rtx-3060-12gb", shaped("head-80-fp32", (3, 333, 3, 3, 240, 1003), 2, *FULL, bias=True)),
    ("rtx-5090", shaped("head-128-eff", (4, 256, 2, 4, 512, 1003), 2, *HALF)),
    ("rtx-5090", shaped("head-72-eff-drop", (2, 333, 2, 4, 288, 300), 2, *HALF, dropout=0.2)),
    (CARD, shaped("head-128-fp16", (4, 256, 2, 4, 512, 50304), 3, "float16", dropout=0.1)),
    (CARD, shaped("slow", (4, 256, 3, 6, 384, 50257), 2, *MATH, bias=True)),
    (CARD, shaped("slow-fp16-drop", (3, 333, 3, 5, 320, 65), 2, "float16", "math", dropout=0.1)),
    (CARD, shaped("slow-fp32", (2, 127, 2, 4, 256, 50304), 1, "float32", "math")),
)


def rows() -> list[Row]:
    """All of them, for each release, compiled and eager."""
    known = {config["name"]: config for config in configs()}
    places = [(CARD, known[name]) for name in NAMES]
    places += [(card, known[name]) for card in OTHER_CARDS for name in ON_OTHER_CARDS]
    return [
        _row(release, card, config, compiled=compiled)
        for release in RELEASES
        for among, hows in ((places, (True, False)), (EAGER, (False,)))
        for card, config in among
        for compiled in hows
        if _runs_on(release, card)
    ]


def _row(release: str, card: str, config: Row, *, compiled: bool) -> Row:
    where = "" if card == CARD else f" {card}"
    name = f"{release} {config['name']}{where} {'compiled' if compiled else 'eager'}"
    return {**config, "name": name, "card": card, "torch": release, "compile": compiled}


def _runs_on(release: str, card: str) -> bool:
    major, minor = release.split(".")
    old = (int(major), int(minor)) < KERNELS_FOR_BLACKWELL_SINCE
    return not (old and pretended(card).compute_capability >= (10, 0))


def pretended(card: str) -> PretendedCard:
    """The card of the catalogue, as the library pretends it."""
    gpu = find(card).gpu
    assert gpu.compute_capability is not None and gpu.sm_count is not None
    return PretendedCard(gpu.name, gpu.total_bytes, gpu.compute_capability, gpu.sm_count)


def main() -> int:
    """Trace and write, or compare."""
    options = parser(str(__doc__))
    options.add_argument("--torch", choices=RELEASES, required=True, help="the release of --python")
    options.add_argument("--eager", action="store_true", help="only the rows that are not compiled")
    given = options.parse_args()

    def trace_row(config: Row) -> Row:
        oracle = Oracle(given.nanogpt, given.python, given.cache, pretended(config["card"]))
        found = oracle.run(config, compile=config["compile"], steps=STEPS, evaluate_late=True)
        if not found.torch.startswith(f"{given.torch}."):
            raise SystemExit(f"{given.python} has torch {found.torch}, not {given.torch}")
        return figures(found)

    own = (row for row in rows() if row["torch"] == given.torch)
    names = [row["name"] for row in own if not (given.eager and row["compile"])]
    only = given.rows or names
    return record(TABLE, rows(), trace_row, only=only, check=given.check)


if __name__ == "__main__":
    raise SystemExit(main())
