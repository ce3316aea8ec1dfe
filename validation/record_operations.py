"""Record what PyTorch allocates for single operations: validation/recorded/operations.json.

    python validation/record_operations.py path/to/python
    python validation/record_operations.py path/to/other --release 2.8
    python validation/record_operations.py path/to/python --check --every 5

``path/to/python`` has a CUDA build of PyTorch 2.13; no card is needed, nanolint's own stands in.
Its cuDNN has plans for convolutions, which need no workspace: a real one's do.
``--release`` asks another release for each fifth case, and records those that differ from 2.13's,
in operations_of_releases.json. ``--check`` compares each fifth recorded case with what that PyTorch
does, of whatever release, and says for which operations it differs; nothing is written.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))  # the root of the repository

from nanolint.trace.build import build
from nanolint.trace.process import PretendedCard
from validation.operations import RECORDED, generate

OTHERS = RECORDED.parent / "operations_of_releases.json"
ASKED = 5  # each so-many-th case of the table is asked of other releases
ORACLE = Path(__file__).parent / "oracle_operations" / "run.py"
# Where it is, without importing it: its libraries may be nanolint's own alone.
TORCH = "from importlib.util import find_spec as f; print(*f('torch').submodule_search_locations)"
Case = dict[str, Any]


def asked(python: str, cases: list[Case], *how: str) -> list[Case]:
    """The cases with what ``python``'s PyTorch allocates; without those that it refuses.

    ``how`` is "compiled" where it compiles each first.
    """
    folder = subprocess.run([python, "-c", TORCH], stdout=subprocess.PIPE, text=True, check=True)
    card = build(Path(folder.stdout.strip()), Path.home() / ".cache" / "nanolint" / "trace")
    environment = {
        **os.environ,
        **PretendedCard().environment,
        "LD_PRELOAD": str(card.library),
        "LD_LIBRARY_PATH": str(card.folder),
        "NANOLINT_CARD_KERNELS": "80",
        "NANOLINT_CARD_CUDNN": "1",
    }
    done = subprocess.run(
        [python, str(ORACLE), *how],
        input=json.dumps(cases),
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        env=environment,
    )
    found: list[Case] = json.loads(done.stdout)
    return found


def differences(recorded: list[Case], found: list[Case]) -> Counter[str]:
    """How many cases of each operation have other events; those that were refused are none."""
    known = {_key(case): case["events"] for case in recorded}
    return Counter(case["name"] for case in found if case["events"] != known[_key(case)])


def _key(case: Case) -> str:
    return json.dumps({key: value for key, value in case.items() if key != "events"})


def of_releases() -> dict[str, list[Any]]:
    """What other releases allocate, by their number: for each ``ASKED``-th case its events, or
    "same" where they are those of 2.13; None where it is refused, or was not asked."""
    known: dict[str, list[Any]] = json.loads(OTHERS.read_text()) if OTHERS.exists() else {}
    return known


def write_release(release: str, sample: list[Case], found: list[Case]) -> None:
    """Put one release into the table."""
    ran = {_key(case): case["events"] for case in found}
    rows: list[Any] = []
    for case in sample:
        events = ran.get(_key(case))
        rows.append("same" if events == case["events"] else events)
    table = {**of_releases(), release: rows}
    lines = (
        f"{json.dumps(name)}: [\n" + ",\n".join(map(json.dumps, rows)) + "\n]"
        for name, rows in sorted(table.items(), key=lambda it: int(it[0].partition(".")[2]))
    )
    OTHERS.write_text("{" + ",\n".join(lines) + "}\n")


def main() -> int:
    """Ask about all cases at once, and write one a line; or compare some."""
    options = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    options.add_argument("python", help="that has a CUDA build of PyTorch")
    options.add_argument("--check", action="store_true", help="compare, and write nothing")
    options.add_argument("--every", type=int, default=1, metavar="N", help="compare each N-th")
    options.add_argument("--release", metavar="2.N", help="record that release, in its own table")
    given = options.parse_args()
    if given.release:
        sample = json.loads(RECORDED.read_text())[::ASKED]
        found = asked(given.python, [{**case, "events": []} for case in sample])
        write_release(given.release, sample, found)
        return 0
    if not given.check:
        lines = ",\n".join(json.dumps(case) for case in asked(given.python, generate()))
        RECORDED.write_text(f"[\n{lines}\n]\n")
        return 0
    recorded: list[Case] = json.loads(RECORDED.read_text())
    sample = recorded[:: given.every]
    found = asked(given.python, [{**case, "events": []} for case in sample])
    other = differences(sample, found)
    print(f"{len(found)} of {len(sample)} cases ran, {other.total()} are otherwise")
    for name, count in sorted(other.items()):
        print(f"  {name}: {count}")
    return int(bool(other))


if __name__ == "__main__":
    raise SystemExit(main())
