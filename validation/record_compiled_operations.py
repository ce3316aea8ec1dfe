"""Record what PyTorch allocates for single operations compiled: recorded/compiled_operations.json.

    python validation/record_compiled_operations.py path/to/python          # all
    python validation/record_compiled_operations.py path/to/python tril pad # some, by their names
    python validation/record_compiled_operations.py                         # say what is not met
    python validation/record_compiled_operations.py path/to/other --release 2.15  # each fifth

The operations are those of validation/operations.py, each a function that is compiled for itself
and run forward and backward. ``path/to/python`` has a CUDA build of PyTorch 2.13.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))  # the root of the repository

from tests.tables.operations import derived, recorded_entries
from validation.operations import EXPRESSIONS
from validation.operations import recorded as operations
from validation.record_operations import asked

TABLE = Path(__file__).parent / "recorded" / "compiled_operations.json"
EACH = 1
FIFTH = 5  # what another release is asked for
TOGETHER = 20  # cases of one process
Case = dict[str, Any]


def sample() -> list[Case]:
    """Some cases of each operation: those first that a gradient flows through."""
    found: dict[str, list[Case]] = {name: [] for name in EXPRESSIONS}
    cases = [case for case in operations() if "no_grad" not in case["mode"]]
    for case in sorted(cases, key=lambda case: not _learns(case)):  # none that torch refuses
        if len(found[case["name"]]) < EACH:
            found[case["name"]].append({key: case[key] for key in case if key != "events"})
    return [case for cases in found.values() for case in cases]


def recorded() -> list[Case]:
    """The table."""
    rows: list[Case] = json.loads(TABLE.read_text()) if TABLE.exists() else []
    return rows


def _learns(case: Case) -> bool:
    return any(learns for *_, learns in case["inputs"].values())


def _key(case: Case) -> str:
    return json.dumps({name: case[name] for name in ("name", "mode", "inputs", "expression")})


def compare(python: str, release: str) -> None:
    """Say what another release makes of each fifth, beside what is derived by its facts."""
    major, minor = map(int, release.split("."))
    cases = [{**case, "events": []} for case in recorded()[::FIFTH]]
    for start in range(0, len(cases), TOGETHER):
        for case in asked(python, cases[start : start + TOGETHER], "compiled"):
            found, doubts = derived(case, (major, minor))
            same = (
                "doubted" if doubts else "same" if found == recorded_entries(case) else "otherwise"
            )
            print(f"{case['name']} ({case['mode']}): {same}")


def main() -> int:
    """Record, or compare."""
    python, *names = [*sys.argv[1:], ""][:-1] or [""]
    if names[:1] == ["--release"]:
        compare(python, names[1])
        return 0
    known = {_key(case): case for case in recorded()}
    wanted = sample()
    if python:
        cases = [case for case in wanted if not names or case["name"] in names]
        cases = [case for case in cases if names or _key(case) not in known]
        for start in range(0, len(cases), TOGETHER):
            part = cases[start : start + TOGETHER]
            known |= {_key(case): case for case in asked(python, part, "compiled")}
            rows = [known[_key(case)] for case in wanted if _key(case) in known]
            TABLE.write_text("[\n" + ",\n".join(map(json.dumps, rows)) + "\n]\n")
    for case in recorded():
        if names and case["name"] not in names:
            continue
        found, doubts = derived(case)
        if doubts or found != recorded_entries(case):
            print(f"{case['name']} ({case['mode']}): {doubts or 'otherwise'}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
