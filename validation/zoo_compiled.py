"""The zoo under torch.compile: models read from their own files, beside PyTorch's own bytes.

    python validation/zoo_compiled.py --checkouts DIR --python PATH   # trace, derive, write it
    python validation/zoo_compiled.py --checkouts DIR       # derive again, write the page

The models are those of validation/zoo.py, on more tokens, so that what is saved for the backward
pass outweighs cuBLAS's workspaces. Traced figures are kept: only nanolint's are made anew.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).parents[1]))  # the root of the repository
from nanolint.gpus.lookup import find
from nanolint.interpreter.values import Unread
from nanolint.trace.guarded import CannotTrace
from nanolint.trace.process import PretendedCard, Request, trace
from nanolint.trace.traced import Traced, read
from validation.oracle import write
from validation.read_models import STEPS, TRAIN, Case
from validation.record_derived import figures
from validation.record_read import CARD, TORCH
from validation.zoo import PAGE, ZOOS, case_in, commit, words

if TYPE_CHECKING:
    from validation.zoo_models import Entry

TABLE = Path(__file__).parent / "recorded" / "zoo_compiled.json"
BATCH = 64  # sequences of 64 tokens
SECONDS = 900  # for one trace
NAME = "zoo_compiled"
Row = dict[str, Any]


def case_of(entry: Entry, checkouts: Path, scratch: Path) -> Case:
    """The compiled run of an entry."""
    return case_in(entry, checkouts, scratch)._replace(compile=True, batch_size=BATCH)


def traced(case: Case, python: str, cache: Path, packages: Path | None) -> Row:
    """What PyTorch allocates, or why it stops."""
    gpu = find(CARD).gpu
    assert gpu.compute_capability is not None and gpu.sm_count is not None
    card = PretendedCard(gpu.name, gpu.total_bytes, gpu.compute_capability, gpu.sm_count)
    environment = {"PYTHONPATH": str(packages)} if packages else {}
    request = Request(
        python, [str(TRAIN), json.dumps(case.said())], card=card, steps=STEPS, seconds=SECONDS,
        folder=case.folder, environment=environment,
    )  # fmt: skip
    try:
        found: Traced = read(trace(request, cache))
    except CannotTrace as error:
        return {"fails": str(error).splitlines()[0]}
    if found.failure is not None and not found.complete:
        return {"fails": f"{found.failure.kind}: {found.failure.message}".splitlines()[0][:200]}
    return {"torch": figures(found.tape)}


def derived(case: Case) -> Row:
    """What nanolint says of it, and its doubts; or why it says nothing."""
    try:
        tape = case.read(find(CARD).gpu, TORCH)
    except Unread as error:
        return {"unread": str(error)}
    return {"read": figures(tape), "doubts": list(tape.doubts)}


def error_of(row: Row) -> float | None:
    """How far the allocated peak is off, where both are known."""
    if "torch" not in row or "read" not in row:
        return None
    return float(row["read"]["overall"] / row["torch"]["overall"] - 1)


def page(rows: list[Row]) -> str:
    """The table, and what it says in all."""
    ran = [row for row in rows if "torch" in row]
    sure = [row for row in ran if "read" in row and not row["doubts"]]
    doubted = [row for row in ran if row.get("doubts")]
    errors = sorted(abs(error_of(row) or 0.0) for row in sure)
    close = sum(error <= 0.03 for error in errors)
    lines = [
        f"<!-- {NAME}: start -->",
        f"Of {len(rows)} rows {len(ran)} run compiled in PyTorch. Of these {len(sure)} are derived "
        f"whole: their peak is off by {median(errors) if errors else 0:.2%} in the median, by at "
        f"most 3 % in {close}, by {max(errors, default=0):.2%} in the worst. {len(doubted)} are "
        "replayed as they run without and doubted, "
        f"{len(ran) - len(sure) - len(doubted)} not read.",
        "",
        "| model | commit | type | peak, PyTorch's (bytes) | off by | reserved | doubt, or why |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        model = f"{row['repository']} `{row['path']}` {row['class']}"
        error = error_of(row)
        peak = f"{row['torch']['overall']:,}" if "torch" in row else "–"
        reserved = "–"
        if error is not None:
            reserved = f"{row['read']['reserved'] / row['torch']['reserved'] - 1:+.2%}"
        why = row.get("fails") or row.get("unread") or "; ".join(row.get("doubts", ()))
        off = "–" if error is None else f"{error:+.3%}"
        cells = (model, row["commit"][:7], row["dtype"], peak, off, reserved)
        lines.append(f"| {' | '.join(cells)} | {why.replace('|', '/')} |")
    return "\n".join((*lines, f"<!-- {NAME}: end -->"))


def main() -> int:
    """Record and write the page."""
    options = argparse.ArgumentParser(description=str(__doc__).split("\n", 1)[0])
    options.add_argument("--checkouts", type=Path)
    options.add_argument("--python", help="a CUDA build of PyTorch 2.13: trace what is not there")
    options.add_argument("--cache", type=Path, default=Path(tempfile.gettempdir()) / "nanolint")
    options.add_argument("--packages", type=Path, help="a folder with einops")
    options.add_argument("--zoo", choices=tuple(ZOOS), nargs="+", default=[*ZOOS])
    options.add_argument("--only", nargs="+", default=[], help="OWNER/NAME:PATH:CLASS of some")
    given = options.parse_args()
    rows = recorded()
    known = {(row["repository"], row["path"], row["class"]): row for row in rows}
    entries = [each for name in given.zoo for each in ZOOS[name]]
    scratch = Path(tempfile.mkdtemp())
    for entry in entries if given.checkouts else ():
        if given.only and words(entry) not in given.only:
            continue
        key = entry.repository, entry.path, entry.cls
        row = known.get(key, {})
        had: Row = {name: row[name] for name in ("torch", "fails") if name in row}
        if not had and not given.python:
            continue
        case = case_of(entry, given.checkouts, scratch)
        had = had or traced(case, given.python, given.cache, given.packages)
        folder = given.checkouts / entry.repository.replace("/", "+")
        known[key] = {
            "repository": entry.repository, "path": entry.path, "class": entry.cls,
            "commit": commit(folder), "dtype": entry.dtype, **had, **derived(case),
        }  # fmt: skip
        error = error_of(known[key])
        print(words(entry), "" if error is None else f"{error:+.3%}",
              known[key].get("fails", ""), known[key].get("doubts", ""), flush=True)  # fmt: skip
        write(TABLE, known.values())
    text = PAGE.read_text(encoding="utf-8")
    head, _, rest = text.partition(f"<!-- {NAME}: start -->")
    text = head + page(recorded()) + rest.partition(f"<!-- {NAME}: end -->")[2]
    PAGE.write_text(text, encoding="utf-8")
    return 0


def recorded() -> list[Row]:
    """The rows of the table."""
    rows: list[Row] = json.loads(TABLE.read_text()) if TABLE.exists() else []
    return rows


if __name__ == "__main__":
    raise SystemExit(main())
