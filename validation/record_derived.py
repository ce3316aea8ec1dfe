"""Record what PyTorch allocates for models that are read and compiled: recorded/derived.json.

    python validation/record_derived.py --python path/to/python   # a CUDA build of PyTorch 2.13
    python validation/record_derived.py --python path/to/other --torch 2.9

The models are those of validation/models. What nanolint derives of them is printed beside.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).parents[1]))  # the root of the repository
from nanolint.gpus.lookup import find
from nanolint.tape.allocator.play import play
from nanolint.tape.tape import summits
from nanolint.trace.process import PretendedCard
from validation.oracle import Row, record
from validation.record_read import CARD, CLASSES, TORCH, case_of

if TYPE_CHECKING:
    from nanolint.tape.tape import Tape

TABLE = Path(__file__).parent / "recorded" / "derived.json"
# What each model is built with, and (batch, tokens, words, type).
BUILT: list[tuple[str, dict[str, Any], tuple[int, int, int, str]]] = [
    ("gpt", {"n_layer": 2, "n_head": 4, "n_embd": 256, "dropout": 0.0, "bias": True},
     (4, 256, 1024, "bfloat16")),
    ("llama", {"n_layer": 3, "n_head": 4, "n_embd": 256}, (4, 256, 1024, "bfloat16")),
    ("llama", {"n_layer": 3, "n_head": 4, "n_kv_head": 2, "n_embd": 256, "softcap": 15.0},
     (8, 512, 4096, "bfloat16")),
    ("llama", {"n_layer": 3, "n_head": 4, "n_embd": 512}, (16, 512, 4096, "float32")),
    ("modern", {"n_layer": 4, "n_head": 4, "n_embd": 256}, (8, 256, 4096, "bfloat16")),
    ("chat", {"n_layer": 4, "n_head": 2, "n_kv_head": 2, "n_embd": 256},
     (4, 256, 1024, "bfloat16")),
    ("chat", {"n_layer": 3, "n_head": 4, "n_kv_head": 2, "n_embd": 256, "backs_out": True},
     (8, 256, 4096, "bfloat16")),
    ("chat", {"n_layer": 2, "n_head": 2, "n_kv_head": 2, "n_embd": 256, "smears": True},
     (8, 512, 8192, "bfloat16")),
    ("llama", {"n_layer": 2, "n_head": 6, "n_embd": 384}, (12, 256, 8192, "bfloat16")),
    ("llama", {"n_layer": 4, "n_head": 2, "n_kv_head": 1, "n_embd": 128, "softcap": 30.0},
     (16, 128, 2048, "float16")),
    ("gpt", {"n_layer": 3, "n_head": 6, "n_embd": 384, "dropout": 0.1, "bias": False},
     (8, 256, 5000, "bfloat16")),
    ("llama", {"n_layer": 2, "n_head": 4, "n_kv_head": 2, "n_embd": 256, "repeats": True},
     (8, 256, 4096, "bfloat16")),
    ("checkpointed", {"n_layer": 4, "n_head": 4, "n_embd": 256}, (8, 256, 4096, "bfloat16")),
    ("checkpointed",
     {"n_layer": 4, "n_head": 6, "n_embd": 384, "every": 2, "reentrant": True},
     (16, 512, 512, "bfloat16")),
]  # fmt: skip
# Those that an older release was asked for as well, by their place.
OLDER = "2.9"
ASKED_OLDER = (0, 1, 2, 4, 5, 6, 7, 8)


def configs() -> list[Row]:
    """The rows of the table, without figures; those of an older release name it."""
    rows = [_row(*each) for each in BUILT]
    older = [_row(*BUILT[place]) for place in ASKED_OLDER]
    return rows + [{**row, "name": f"{OLDER} {row['name']}", "torch": OLDER} for row in older]


def _row(model: str, arguments: dict[str, Any], sizes: tuple[int, int, int, str]) -> Row:
    batch, tokens, words, dtype = sizes
    built = {**arguments, "vocab_size": words}
    if CLASSES[model][1]:
        built["block_size"] = tokens
    shapes = {"batch_size": batch, "block_size": tokens, "vocab_size": words, "dtype": dtype}
    name = "-".join([model, *map(str, arguments.values()), *map(str, shapes.values())])
    return {"name": name, "model": model, **shapes, "arguments": built}


def release_of(row: Row) -> tuple[int, int]:
    """The release of PyTorch that a row was recorded with."""
    if "torch" not in row:
        return TORCH
    major, minor = row["torch"].split(".")
    return int(major), int(minor)


def figures(tape: Tape) -> dict[str, int]:
    """The allocated peak of each phase and of all, and the reserved peak, bytes."""
    peaks = {phase.value: peak for phase, (peak, _) in summits(tape, len(tape.events)).items()}
    peaks["eval"] = max(peaks["eval"], peaks.pop("setup", 0))
    reserved = play(tape).peak_reserved_bytes
    return peaks | {"overall": max(peaks.values()), "reserved": reserved}


def main() -> int:
    """Trace and write, or compare."""
    options = argparse.ArgumentParser(description=str(__doc__).split("\n", 1)[0])
    options.add_argument("--python", default=sys.executable)
    options.add_argument("--cache", type=Path, default=Path(tempfile.gettempdir()) / "nanolint")
    options.add_argument("--check", action="store_true", help="write nothing")
    options.add_argument("--rows", nargs="+", default=[], metavar="ROW")
    options.add_argument("--torch", help="record the rows of that release alone")
    given = options.parse_args()
    gpu = find(CARD).gpu
    assert gpu.compute_capability is not None and gpu.sm_count is not None
    card = PretendedCard(gpu.name, gpu.total_bytes, gpu.compute_capability, gpu.sm_count)

    def traced(row: Row) -> Row:
        case = case_of(row, compile=True)
        found = case.trace(given.python, given.cache, card)
        if found.failure is not None and not found.complete:
            raise SystemExit(f"{row['name']}: {found.failure}\n{found.printed}")
        told, derived = figures(found.tape), figures(case.read(gpu, release_of(row)))
        print(f"{row['name']}: {derived['overall'] / told['overall'] - 1:+.4%}")
        return told

    rows = configs()
    only = given.rows or [row["name"] for row in rows if row.get("torch") == given.torch]
    return record(TABLE, rows, traced, only=only, check=given.check)


if __name__ == "__main__":
    raise SystemExit(main())
