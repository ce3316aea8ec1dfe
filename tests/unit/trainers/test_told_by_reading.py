"""What a fork's settings do not say of its batches, and the reading of its script does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.unit.trainers.test_whole_forks import MODEL, SCRIPT, explained

if TYPE_CHECKING:
    from pathlib import Path


def test_a_bar_whose_turns_ask_for_the_next_batch_has_one(tmp_path: Path) -> None:
    rows = """class Rows:
    def __getitem__(self, at):
        return torch.zeros(block_size, dtype=torch.long)

@torch.no_grad()
def validate():
    rows = iter(DataLoader(Rows(), batch_size))
"""
    script = SCRIPT.replace("@torch.no_grad()\ndef validate():\n", rows)
    turn = "for k in (bar := trange(eval_iters)):\n        bar.set_postfix(k=k)"
    script = script.replace("for k in range(eval_iters):", turn)
    batch = "X = next(rows).to(device)\n        losses.append(model(X, X)"
    script = script.replace("X, Y = get_batch()\n        losses.append(model(X, Y)", batch)
    script = f"from torch.utils.data import DataLoader\nfrom tqdm import trange\n{script}"
    found = explained(tmp_path, "batch_size = 16\neval_iters = 7\n", script=script)
    assert (found["trust"], found["doubts"]) == ("read", [])


def test_a_context_of_another_name_is_read(tmp_path: Path) -> None:
    """Which of the settings is the context is not known, and how long a batch is the reading
    tells."""
    model = MODEL.replace("block_size", "longest")
    script = SCRIPT.replace("block_size=block_size", "longest=longest")
    script = script.replace("block_size", "longest").replace("get_batch", "batch_of")
    found = explained(tmp_path / "a", "batch_size = 16\n", script=script, model=model)
    assert (found["trust"], found["doubts"]) == ("read", [])
    assert found["peak"] == explained(tmp_path / "b", "batch_size = 16\n")["peak"]
    other = script.replace("(batch_size,)", "(batch_size + 1,)")
    found = explained(tmp_path / "c", "batch_size = 16\n", script=other, model=model)
    assert found["doubts"] == ["assuming a batch of 16x128 tokens; in the script it is 17x128"]
