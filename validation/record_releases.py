"""Record what other releases of PyTorch allocate: validation/recorded/releases.json.

    python validation/record_releases.py path/to/nanoGPT --torch 2.12 --python .venv-2.12/bin/python

Some rows of the compiled table, compiled and eager, for one release at a time: they hold what
``nanolint/memory/torch.py`` says of it. The options are those of record_compiled.py.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))  # the root of the repository
from validation.oracle import Oracle, Row, figures, parser, record
from validation.record_compiled import CARD, STEPS, configs

TABLE = Path(__file__).parent / "recorded" / "releases.json"
RELEASES = ("2.12", "2.15")
NAMES = ("mini", "mini-fp32", "tiny-l2-50304", "b3-t256", "shallow-wide", "odd-t")


def rows() -> list[Row]:
    """All of them, for each release, compiled and eager."""
    known = {config["name"]: config for config in configs()}
    return [
        {
            **known[name],
            "name": f"{release} {name} {'compiled' if compiled else 'eager'}",
            "torch": release,
            "compile": compiled,
        }
        for release in RELEASES
        for name in NAMES
        for compiled in (True, False)
    ]


def main() -> int:
    """Trace and write, or compare."""
    options = parser(str(__doc__))
    options.add_argument("--torch", choices=RELEASES, required=True, help="the release of --python")
    given = options.parse_args()
    oracle = Oracle(given.nanogpt, given.python, given.cache, CARD)

    def trace_row(config: Row) -> Row:
        found = oracle.run(config, compile=config["compile"], steps=STEPS, evaluate_late=True)
        return figures(found)

    only = given.rows or [row["name"] for row in rows() if row["torch"] == given.torch]
    return record(TABLE, rows(), trace_row, only=only, check=given.check)


if __name__ == "__main__":
    raise SystemExit(main())
