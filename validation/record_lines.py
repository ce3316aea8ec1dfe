"""Record which line PyTorch says makes each allocation: validation/recorded/lines.json.

    python validation/record_lines.py --python path/to/python   # with a CUDA build of PyTorch 2.13
    python validation/record_lines.py --python path/to/python --zoo DIR   # compare, write nothing

The models are those of validation/recorded/read.json, run eagerly; with ``--zoo`` those public ones
of validation/zoo.py whose files lie in DIR. The line of a gradient is the one of the forward pass
that it belongs to, as PyTorch's anomaly mode has it.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).parents[1]))  # the root of the repository
from nanolint.gpus.lookup import find
from nanolint.recording.recording import located
from nanolint.tape.tape import last_pass
from nanolint.trace.process import PretendedCard
from validation.oracle import Row, record
from validation.record_read import CARD, TORCH, case_of, configs
from validation.zoo import case_in
from validation.zoo_models import ENTRIES

if TYPE_CHECKING:
    from nanolint.gpus.gpu import Gpu
    from nanolint.tape.tape import Tape
    from validation.read_models import Case

TABLE = Path(__file__).parent / "recorded" / "lines.json"
PLACE = re.compile(r"(?P<path>.+?\.py):(?P<line>\d+) ")
Places = list[tuple[str, int] | None]


def read_lines(case: Case, gpu: Gpu) -> tuple[Tape, Places]:
    """The tape of a case by reading, and the line of each allocation; None outside the model."""
    tape = located(case.run(TORCH), gpu).tape
    paths = {each.path for each in case.sources}
    lines = [None if each is None else each.stack[0] for each in tape.wheres]
    return tape, [each if each is not None and each.path in paths else None for each in lines]


def traced_lines(case: Case, tape: Tape) -> Places:
    """The same by PyTorch; lines of the script around the model count as None."""
    paths = {each.path for each in case.sources}
    found = (PLACE.match(name) for name in tape.names)
    return [(each["path"], int(each["line"])) if each and each["path"] in paths else None
            for each in found]  # fmt: skip


def figures_of(tape: Tape, places: Places) -> Row:
    """What each line keeps for the last backward pass, and one word for all lines."""
    start, end = last_pass(tape, len(tape.events))
    freed = {~event for event in tape.events[start:end] if event < 0}
    kept: Counter[str] = Counter()
    for handle in tape.events[start:end]:
        place = places[handle] if handle >= 0 else None
        if place is not None and handle not in freed:
            kept[f"{place[0]}:{place[1]}"] += tape.sizes[handle]
    words = json.dumps(places).encode()
    return {
        "allocations": len(places),
        "digest": hashlib.sha256(words).hexdigest()[:16],
        "kept": dict(sorted(kept.items())),
    }


def main() -> int:
    """Trace and write, or compare."""
    options = argparse.ArgumentParser(description=str(__doc__).split("\n", 1)[0])
    options.add_argument("--python", default=sys.executable)
    options.add_argument("--cache", type=Path, default=Path(tempfile.gettempdir()) / "nanolint")
    options.add_argument("--check", action="store_true", help="write nothing")
    options.add_argument("--rows", nargs="+", default=[], metavar="ROW")
    options.add_argument("--zoo", type=Path, metavar="DIR")
    given = options.parse_args()
    gpu = find(CARD).gpu
    assert gpu.compute_capability is not None and gpu.sm_count is not None
    card = PretendedCard(gpu.name, gpu.total_bytes, gpu.compute_capability, gpu.sm_count)

    def compared(case: Case, name: str) -> Row:
        tape = case.trace(given.python, given.cache, card).tape
        places = traced_lines(case, tape)
        _, mine = read_lines(case, gpu)
        differ = sum(one != other for one, other in zip(mine, places, strict=True))
        print(f"{name}: {len(places)} allocations, {differ} of another line", flush=True)
        return figures_of(tape, places)

    if given.zoo:
        for entry in ENTRIES:
            name = f"{entry.repository} {entry.path}"
            if any(each in name for each in given.rows or [""]):
                compared(case_in(entry, given.zoo, given.cache), name)
        return 0
    return record(
        TABLE,
        configs(),
        lambda row: compared(case_of(row), str(row["name"])),
        only=given.rows,
        check=given.check,
    )


if __name__ == "__main__":
    raise SystemExit(main())
