"""What comes twice as often in a file takes about twice the work, not four times.

Work is counted in calls of functions, so that a busy machine makes no difference. Which shapes are
slow, fuzz/growth.py finds out; those that once were stand here.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from tests.support.command import nanolint

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from types import FrameType

FEW = 50
CARD = "--gpu=1GiB"
MOST_GROWTH = 2.6  # of what is left of the work once that for an empty file is taken off

# Out of memory, but soon replayed.
LARGE = (
    "n_layer = 1\nn_head = 2\nn_embd = 64\nvocab_size = 512\neval_iters = 1\ncompile = False\n"
    "batch_size = 256\ngradient_accumulation_steps = 2\n"
)
TEXTS: dict[str, Callable[[int], str]] = {
    "codes in a suppression": lambda n: f"{LARGE}# nanolint: ignore[{','.join(['NL202'] * n)}]\n",
    "unknown codes in a suppression": lambda n: (
        f"{LARGE}# nanolint: ignore[{','.join(f'none-{i}' for i in range(n))}]\n"
    ),
    "suppressions": lambda n: LARGE + "# nanolint: ignore[NL202]\n" * n,
    "suppressions behind findings": lambda n: "n_layer = 1  # nanolint: ignore[NL305]\n" * n,
    "suppressions behind other lines": lambda n: (
        LARGE + "learning_rate = 1  # nanolint: ignore[NL202]\n" * n
    ),
    "comments with sums": lambda n: LARGE + "# 256 * 2 = 512\n" * n,
    "assignments of one key": lambda n: "".join(f"max_iters = {i + 1}\n" for i in range(n)),
    "types that drift": lambda n: "".join(f"max_iters = {i}e3\n" for i in range(n)),
    "calls of an old name": lambda n: (  # each of many nodes
        "import torch\n" + "scaler = torch.cuda.amp.GradScaler()\n" * (n // 8)
    ),
}
COMMANDS = [(), ("--fix", "--unsafe-fixes"), ("--add-ignore",)]


def calls(path: Path, text: str, *command: str) -> int:
    """How many functions are called to judge a file with this text."""
    path.write_text(text, encoding="utf-8")
    count = 0

    def counted(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(counted)
    try:
        nanolint(str(path), CARD, "--isolated", *command)
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: " ".join(command) or "check")
@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_twice_the_text_is_twice_the_work(
    text: Callable[[int], str], command: tuple[str, ...], tmp_path: Path
) -> None:
    path = tmp_path / "x.py"
    calls(path, text(FEW), *command)  # imports, and what is remembered
    once, twice, again = (calls(path, text(k * FEW), *command) for k in (1, 2, 4))
    assert again - twice <= MOST_GROWTH * (twice - once) + 5_000
