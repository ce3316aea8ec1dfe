"""Collect the digests of nanoGPT's own code: ``build_known_pieces.py PATH_OF_A_NANOGPT_CHECKOUT``.

Walks the whole history of model.py and train.py and writes ``known_pieces.json`` beside pieces.py:
for each piece of code, the digest of every version that allocates what the replay says.
"""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from nanolint.run.settled import ManualAttention  # noqa: E402
from nanolint.trainers.nanogpt.recognition import pieces  # noqa: E402
from nanolint.trainers.nanogpt.recognition.strangers import STATEMENTS, digests_of  # noqa: E402

BIAS = "cc5444e1"  # biases became a setting; before, the model had other parameters
# The first commit from which on a piece allocates what the replay says, where that is not its
# first version.
SINCE = {
    "LayerNorm.__init__": BIAS,
    "CausalSelfAttention.__init__": BIAS,
    "MLP.__init__": BIAS,
    "MLP.forward": "594068e7",  # GELU was a formula, of which eager mode keeps every term
    "Block.__init__": BIAS,
    "GPT.__init__": BIAS,
    "GPT.configure_optimizers": "e170e408",  # AdamW was not fused
    "estimate_loss": "a855d316",  # autocast was bfloat16, whatever the config said
    "training loop": "553f949f",  # the loss was not divided by the accumulation
}
# No older version of a file has pieces that are all known.
OLDEST = {"train.py": SINCE["training loop"], "model.py": SINCE["MLP.forward"]}


def main(checkout: Path) -> None:
    """Write the data file."""
    known: dict[str, dict[str, str]] = {}
    for name, split in (("model.py", pieces.model_pieces), ("train.py", pieces.train_pieces)):
        for commit in history(checkout, name):
            tree = ast.parse(git(checkout, "show", f"{commit}:{name}"))
            if is_ancestor(checkout, OLDEST[name], commit):
                known.setdefault(STATEMENTS, {}).update(dict.fromkeys(digests_of(tree), ""))
            for piece, found in pieces.digests(tree, split(tree)).items():
                since = SINCE.get(piece)
                if since is None or is_ancestor(checkout, since, commit):
                    known.setdefault(piece, {})[found] = trait(piece, tree)
    text = json.dumps(known, indent=2, sort_keys=True) + "\n"
    pieces.KNOWN_PIECES.write_text(text, encoding="utf-8")


def history(checkout: Path, name: str) -> list[str]:
    """The commits that changed a file, oldest first."""
    return git(checkout, "log", "--reverse", "--format=%H", "--", name).split()


def is_ancestor(checkout: Path, older: str, newer: str) -> bool:
    """Whether ``newer`` contains ``older``."""
    command = ["git", "-C", str(checkout), "merge-base", "--is-ancestor", older, newer]
    return subprocess.run(command, check=False).returncode == 0


def trait(piece: str, tree: ast.Module) -> str:
    """When attention is computed by hand in the model.py that this piece comes from."""
    source = ast.unparse(tree)
    if piece == "CausalSelfAttention.forward" and "scaled_dot_product_attention" not in source:
        return ManualAttention.ALWAYS.value
    if piece == "CausalSelfAttention.__init__" and "self.dropout == 0.0" in source:
        return ManualAttention.WITH_DROPOUT.value
    return ""


def git(checkout: Path, *arguments: str) -> str:
    """The output of a git command."""
    command = ["git", "-C", str(checkout), *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


if __name__ == "__main__":
    main(Path(sys.argv[1]))
