"""Record what PyTorch allocates for single operations: validation/recorded/operations.json.

    python validation/record_operations.py path/to/python

``path/to/python`` has a CUDA build of PyTorch 2.13; no card is needed, nanolint's own stands in.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))  # the root of the repository

from nanolint.trace.build import build
from nanolint.trace.process import PretendedCard
from validation.operations import RECORDED, generate

ORACLE = Path(__file__).parent / "oracle_operations" / "run.py"
TORCH = "import torch; print(torch.__path__[0])"


def main() -> None:
    """Ask about all cases at once, and write one a line."""
    (python,) = sys.argv[1:]
    folder = subprocess.run([python, "-c", TORCH], stdout=subprocess.PIPE, text=True, check=True)
    card = build(Path(folder.stdout.strip()), Path.home() / ".cache" / "nanolint" / "trace")
    environment = {
        **os.environ,
        **PretendedCard().environment,
        "LD_PRELOAD": str(card.library),
        "LD_LIBRARY_PATH": str(card.folder),
        "NANOLINT_CARD_KERNELS": "80",
    }
    asked = json.dumps(generate())
    done = subprocess.run(
        [python, str(ORACLE)],
        input=asked,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        env=environment,
    )
    lines = ",\n".join(json.dumps(case) for case in json.loads(done.stdout))
    RECORDED.write_text(f"[\n{lines}\n]\n")


if __name__ == "__main__":
    main()
