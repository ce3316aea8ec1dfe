"""Record what PyTorch allocates for models that are read: validation/recorded/read.json.

    python validation/record_read.py --python path/to/python   # with a CUDA build of PyTorch 2.13

The models are those of validation/models, each with a few sizes and types; the loop around them is
nanoGPT's (validation/models/train.py).
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))  # the root of the repository
from nanolint.gpus.lookup import find
from nanolint.recording.recording import allocated_peak
from nanolint.run.program import SourceText
from nanolint.trace.process import PretendedCard
from validation.oracle import Row, record
from validation.read_models import MODELS, Case, digest, entries, first_difference

TABLE = Path(__file__).parent / "recorded" / "read.json"
CARD = "a100-80gb"
TORCH = (2, 13)
SIZES = {"batch_size": 2, "block_size": 64, "vocab_size": 512, "dtype": "bfloat16"}
# What each model is built with; "vocab_size" and "block_size" are added where its config has them.
BUILT: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("gpt", {"n_layer": 2, "n_head": 4, "n_embd": 64, "dropout": 0.1, "bias": True}, {}),
    ("gpt", {"n_layer": 3, "n_head": 2, "n_embd": 96, "bias": False}, {"dtype": "float32"}),
    ("llama", {"n_layer": 2, "n_head": 4, "n_embd": 64}, {}),
    ("llama", {"n_layer": 2, "n_head": 4, "n_kv_head": 2, "n_embd": 96, "softcap": 15.0}, {}),
    ("llama", {"n_layer": 3, "n_head": 4, "n_kv_head": 1, "n_embd": 128}, {"dtype": "float32"}),
    ("llama", {"n_layer": 2, "n_head": 2, "n_embd": 128}, {"batch_size": 5, "block_size": 96}),
    ("modern", {"n_layer": 4, "n_head": 4, "n_embd": 64}, {}),
    ("modern", {"n_layer": 3, "n_head": 2, "n_embd": 128}, {"batch_size": 3, "vocab_size": 1000}),
    ("modern", {"n_layer": 4, "n_head": 4, "n_embd": 64, "experts": 3}, {}),
]  # fmt: skip
CLASSES = {
    "gpt": ("GPT", "GPTConfig"),
    "llama": ("Llama", "LlamaConfig"),
    "modern": ("Modern", None),
    "chat": ("Chat", "ChatConfig"),
    "checkpointed": ("Checkpointed", "Config"),
}


def configs() -> list[Row]:
    """The rows of the table, without figures."""
    rows = []
    for model, arguments, sizes in BUILT:
        row = {"model": model, **SIZES, **sizes}
        row["arguments"] = {**arguments, "vocab_size": row["vocab_size"]}
        if CLASSES[model][1]:
            row["arguments"]["block_size"] = row["block_size"]
        numbers = (str(value) for value in arguments.values())
        names = [model, *numbers, *(str(value) for value in sizes.values())]
        rows.append({"name": "-".join(names), **row})
    return rows


def case_of(row: Row, *, compile: bool = False) -> Case:
    """The run of a row, eager or compiled."""
    path = MODELS / f"{row['model']}.py"
    cls, config = CLASSES[row["model"]]
    source = SourceText(row["model"], path.name, path.read_text(encoding="utf-8"))
    sizes = {key: row[key] for key in SIZES}
    return Case((source,), MODELS, cls, config, row["arguments"], **sizes, compile=compile)


def main() -> int:
    """Trace and write, or compare."""
    options = argparse.ArgumentParser(description=str(__doc__).split("\n", 1)[0])
    options.add_argument("--python", default=sys.executable)
    options.add_argument("--cache", type=Path, default=Path(tempfile.gettempdir()) / "nanolint")
    options.add_argument("--check", action="store_true", help="write nothing")
    options.add_argument("--rows", nargs="+", default=[], metavar="ROW")
    given = options.parse_args()
    gpu = find(CARD).gpu
    assert gpu.compute_capability is not None and gpu.sm_count is not None
    card = PretendedCard(gpu.name, gpu.total_bytes, gpu.compute_capability, gpu.sm_count)

    def figures(row: Row) -> Row:
        case = case_of(row)
        traced = case.trace(given.python, given.cache, card)
        if traced.failure is not None and not traced.complete:
            raise SystemExit(f"{row['name']}: {traced.failure}\n{traced.printed}")
        miss = first_difference(case.read(gpu, TORCH), traced.tape)
        if miss:
            print(f"{row['name']}: read otherwise: {miss}")
        return {
            "entries": len(entries(traced.tape)),
            "digest": digest(traced.tape),
            "allocated": allocated_peak(traced.tape),
        }

    return record(TABLE, configs(), figures, only=given.rows, check=given.check)


if __name__ == "__main__":
    raise SystemExit(main())
