"""Forks that sample from prompts in files, and methods of a compiled model."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from tests.unit.trainers.test_whole_forks import SCRIPT, after, explained

if TYPE_CHECKING:
    from pathlib import Path

# Prompts of a file, each as many tokens as it has characters, are continued all at once.
SAMPLES = """
with open(os.path.join(data_dir, 'meta.pkl'), 'rb') as f:
    stoi = pickle.load(f)['stoi']
start = 'FILE:prompts.txt'
def is_number(text):
    try:
        return float(text) > 0
    except ValueError:
        return False

@torch.no_grad()
def sample():
    model.eval()
    with open(start[5:]) as f:
        lines = [line.rstrip() for line in f]
    encoded = [torch.tensor([stoi[c] for c in line], device=device) for line in lines]
    idx = torch.stack(encoded)
    for _ in range(3):
        logits, _ = model(idx, idx)
        idx = torch.cat((idx, idx[:, -1:]), dim=1)
    right = 0
    for row, line in zip(idx, lines):
        said = ''.join([str(each) for each in row.tolist()])
        if is_number(said) and said == line:
            right += 1
    model.train()
    return right / len(lines)

for it in"""
CONFIG = "batch_size = 2\nblock_size = 16\neval_interval = 10\n"
VOCABULARY = 500


def sampled(folder: Path, lines: int, length: int) -> dict[str, Any]:
    folder.mkdir()
    (folder / "prompts.txt").write_text(f"{'a' * length}\n" * lines, encoding="utf-8")
    script = SCRIPT.replace("\nfor it in", SAMPLES).replace("print(validate())", "print(sample())")
    return explained(folder, CONFIG, f"--set=vocab_size={VOCABULARY}", script=script, meta=True)


def test_prompts_of_a_file_are_as_many_and_as_long_as_its_lines(tmp_path: Path) -> None:
    many, few = sampled(tmp_path / "many", 512, 32), sampled(tmp_path / "few", 8, 8)
    assert (many["trust"], many["doubts"]) == ("read", [])
    more, fewer = 512 * 34, 8 * 10  # tokens in the last turn but one
    taken = after(many, "eval") - after(few, "eval")
    # Logits and their log-probabilities in float32, in the last turn beside a token more.
    assert 2 * 4 * VOCABULARY * (more - fewer) < taken < 4 * 4 * VOCABULARY * more


def test_a_long_text_is_not_read_line_by_line(tmp_path: Path) -> None:
    found = sampled(tmp_path / "long", 4000, 32)
    assert found["trust"] == "unknown"
    assert "the contents of a file" in json.dumps(found)


def test_a_method_of_a_compiled_model_runs_as_it_is(tmp_path: Path) -> None:
    """Its sizes change from turn to turn, of which no graph is made."""
    method = "for _ in range(3):\n        logits, _ = model(idx, idx)"
    script = SCRIPT.replace(
        "\nfor it in", SAMPLES.replace(method, method.replace("model(", "model.again("))
    ).replace("print(validate())", "print(sample())")
    again = (
        "import model as models\nmodels.GPT.again = lambda self, idx, targets: self(idx, targets)\n"
    )
    (tmp_path / "prompts.txt").write_text(f"{'a' * 8}\n" * 8, encoding="utf-8")
    script = script.replace(
        "optimizer = torch", "if compile: model = torch.compile(model)\noptimizer = torch"
    )
    found = explained(
        tmp_path, f"{CONFIG}compile = True\n", f"--set=vocab_size={VOCABULARY}",
        script=script.replace("import numpy", f"{again}import numpy"), meta=True,
    )  # fmt: skip
    assert (found["trust"], found["doubts"]) == ("read", [])
