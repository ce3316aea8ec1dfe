"""Evaluations of texts, each as long as it is: no longer than the model's context."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.support.explained import explained
from tests.unit.trainers.test_whole_forks import after

if TYPE_CHECKING:
    from pathlib import Path

SCRIPT = """
import json
import tiktoken
import torch
import torch.nn.functional as F
from torch import nn
B, T, V = 16, 128, 1000
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.wte = nn.Embedding(V, 64)
        self.wpe = nn.Embedding(T, 64)
        self.head = nn.Linear(64, V, bias=False)
    def forward(self, x, y=None):
        x = self.wte(x) + self.wpe(torch.arange(x.size(1), device=x.device))
        x = self.head(x)
        return x, None if y is None else F.cross_entropy(x.view(-1, V), y.view(-1))
encoding = tiktoken.get_encoding("gpt2")
def render(example):
    rows = [encoding.encode(" " + each) for each in example["endings"]]
    longest = max(len(each) for each in rows)
    tokens = torch.zeros((ROWS, longest), dtype=torch.long)
    for place, row in enumerate(rows):
        tokens[place, :len(row)] = torch.tensor(row)
    return tokens, example["label"]
def examples():
    with open("hellaswag_val.jsonl") as f:
        for line in f:
            yield json.loads(line)
model = Net().cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for step in range(100):
    if step % 50 == 0:
        model.eval()
        right = 0
        for number, example in enumerate(examples()):
            tokens, label = render(example)
            tokens = tokens.to("cuda")
            with torch.no_grad():
                logits, _ = model(tokens)
                right += int(logits.mean(dim=(1, 2)).argmax().item() == label)
    model.train()
    x = torch.randint(0, V, (B, T), device="cuda")
    _, loss = model(x, x)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
"""


def evaluated(folder: Path, rows: int) -> dict[str, Any]:
    """What is said of a script that evaluates so many texts at once."""
    (folder / "requirements.txt").write_text("torch==2.13\n")
    return explained(folder, SCRIPT.replace("ROWS", str(rows)))


def test_texts_of_an_evaluation_are_taken_for_as_long_as_the_context(tmp_path: Path) -> None:
    found = evaluated(tmp_path, 4)
    assert (found["trust"], found["doubts"]) == ("read", [])
    assert after(found, "eval") >= 4 * 128 * 1000 * 4


def test_where_they_would_be_the_peak_it_is_in_doubt(tmp_path: Path) -> None:
    found = evaluated(tmp_path, 64)
    assert found["trust"] == "doubted"
    assert "assuming that evaluated texts have 128 tokens" in str(found["doubts"])


def test_a_rank_evaluates_some_of_them(tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text("torch==2.13\n")
    skips = "            if number % 8 != 0:\n                continue\n"
    text = SCRIPT.replace("            tokens, label", f"{skips}            tokens, label")
    found = explained(tmp_path, text.replace("ROWS", "4"))
    assert (found["trust"], found["doubts"]) == ("read", [])
