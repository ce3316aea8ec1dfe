"""Record what nanoGPT allocates compiled where products of 50,257 columns are padded:
validation/recorded/padding.json.

    python validation/record_padding.py path/to/nanoGPT --python path/to/python

The checkout is copied, its vocabulary set to GPT-2's, and torch/_inductor/fx_passes/pad_mm.py told
which products to pad instead of timing them: that of the forward pass (f), of the gradient of its
input (x) and of its weight (w). Rows that are there are left.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TypeAlias

TABLE = Path(__file__).parent / "recorded" / "padding.json"
CARD = "a100-80gb"
CHOOSING = """import os
import torch
import torch._inductor.config, torch._inductor.fx_passes.pad_mm as _pads
torch._inductor.config.shape_padding = True
def _chosen(match, mat1, mat2, op, input=None):
    which = os.environ["PADS"]
    return (("f" in which and mat2.shape[-1] == 50257) or ("x" in which and mat1.shape[-1] == 50257)
            or ("w" in which and mat1.shape[0] == 50257))
_pads._should_pad = _chosen
"""
COMMON = ["--wandb_log=False", "--eval_iters=2", "--gradient_accumulation_steps=2"]
SMALL: dict[str, int | str] = {
    "batch_size": 8,
    "block_size": 256,
    "n_layer": 2,
    "n_head": 4,
    "n_embd": 256,
}
WIDE: dict[str, int | str] = {
    "batch_size": 1,
    "block_size": 64,
    "n_layer": 1,
    "n_head": 8,
    "n_embd": 1024,
}
Run: TypeAlias = "dict[str, int | str]"
ROWS: list[tuple[Run, str]] = [
    *((SMALL, pads) for pads in ("", "f", "x", "w", "fx", "xw", "fxw")),
    *((WIDE, pads) for pads in ("", "f", "fxw")),
    *(({**SMALL, "dtype": "float32"}, pads) for pads in ("", "fxw")),
]


def allocated(folder: Path, run: Run, pads: str, python: str) -> int:
    """Bytes at the peak."""
    words = [f"--{key}={value}" for key, value in run.items()]
    command = [sys.executable, "-m", "nanolint", "trace", "--yes", "--format", "json"]
    command += ["--gpu", CARD, "--python", python, "--", "python", "train.py", *COMMON, *words]
    environment = {**os.environ, "PADS": pads}
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=True
    )
    return int(json.loads(done.stdout)["peak"]["allocated_bytes"])


def main() -> None:
    """Trace what is missing."""
    parser = argparse.ArgumentParser(description="Record runs with padded products")
    parser.add_argument("checkout", type=Path)
    parser.add_argument("--python", required=True)
    options = parser.parse_args()
    found = json.loads(TABLE.read_text()) if TABLE.exists() else []
    known = {json.dumps([each["run"], each["pads"]]) for each in found}
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "nanoGPT"
        shutil.copytree(options.checkout, folder)
        script = folder / "train.py"
        text = script.read_text().replace("else 50304", "else 50257")
        script.write_text(text.replace("import torch\n", CHOOSING, 1))
        data = folder / "data" / "openwebtext"
        data.mkdir(parents=True, exist_ok=True)
        for name in ("train.bin", "val.bin"):
            (data / name).write_bytes(bytes(4_000_000))
        for run, pads in ROWS:
            if json.dumps([run, pads]) not in known:
                took = allocated(folder, run, pads, options.python)
                found.append({"run": run, "pads": pads, "allocated": took})
                rows = ",\n".join(map(json.dumps, found))
                TABLE.write_text(f"[\n{rows}\n]\n")


if __name__ == "__main__":
    main()
