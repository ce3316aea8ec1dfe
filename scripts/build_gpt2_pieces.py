"""Collect the digests of build-nanogpt's model: ``build_gpt2_pieces.py PATH_OF_ITS_CHECKOUT``.

Its GPT-2 allocates what nanoGPT's does with biases and without dropout. ``validation/`` has no
recorded row of it; ``nanolint trace`` of its own train_gpt2.py gives 16.46 and 30.81 GiB allocated
with 16 and 32 sequences on an A100 and PyTorch 2.13, nanoGPT's replay 16.44 and 30.80.
"""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from nanolint.trainers.nanogpt.recognition import pieces  # noqa: E402
from nanolint.trainers.script.gpt2 import PIECES  # noqa: E402

SCRIPT = "train_gpt2.py"
# From here on it ties its weights, calls PyTorch's attention and fuses AdamW.
SINCE = "3a148e4"


def main(checkout: Path) -> None:
    """Write the data file."""
    known: dict[str, set[str]] = {}
    for commit in git(checkout, "log", "--format=%H", f"{SINCE}^..", "--", SCRIPT).split():
        tree = ast.parse(git(checkout, "show", f"{commit}:{SCRIPT}"))
        for piece, digest in pieces.digests(tree, pieces.model_pieces(tree)).items():
            known.setdefault(piece, set()).add(digest)
    text = json.dumps({key: sorted(known[key]) for key in sorted(known)}, indent=2) + "\n"
    PIECES.write_text(text, encoding="utf-8")


def git(checkout: Path, *arguments: str) -> str:
    """The output of a git command."""
    command = ["git", "-C", str(checkout), *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


if __name__ == "__main__":
    main(Path(sys.argv[1]))
