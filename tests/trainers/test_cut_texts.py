"""Texts whose length nobody knows, which a tokenizer cuts and a data set fills up."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.support.explained import explained
from tests.trainers.test_own_data import HEAD, NET, peak

if TYPE_CHECKING:
    from pathlib import Path

TOKENIZER = """
from datasets import load_dataset
from transformers import AutoTokenizer
tok = AutoTokenizer.from_pretrained('./words')
vocab_size = 400
"""
SAMPLES = """
class Texts(Dataset):
    def __init__(self, length):
        self.samples = load_dataset('json', data_files='texts.jsonl', split='train')
        self.length = length
    def __len__(self):
        return len(self.samples)
    def __getitem__(self, index):
        {sample}
"""
TRAIN = """
model = Net().to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
loader = DataLoader(Texts(T), batch_size=B, shuffle=True)
for step, (x, y) in enumerate(loader):
    x, y = x.to(device), y.to(device)
    loss = model(x, y)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
    {behind}
"""
KNOWN = "ids = torch.zeros(self.length, dtype=torch.long)\n        return ids, ids"
CUT = (
    "ids = tok(self.samples[index]['text'], max_length=self.length - 2, truncation=True).input_ids"
    "\n        ids = [tok.bos_token_id] + ids + [tok.eos_token_id]"
)
FILLED = (
    "\n        ids = torch.tensor(ids + [tok.pad_token_id] * (self.length - len(ids)))"
    "\n        y = ids.clone()\n        y[ids == tok.pad_token_id] = -100\n        return ids, y"
)
SLICED = (
    "ids = tok(self.samples[index]['text']).input_ids[:self.length]"
    "\n        ids += [tok.pad_token_id] * (self.length - len(ids))"
)
MASKED = (
    "\n        y = [-100] * len(ids)\n        i = 0"
    "\n        while i < len(ids):"
    "\n            if ids[i] == tok.eos_token_id:\n                y[i] = ids[i]"
    "\n            i += 1"
    "\n        return torch.tensor(ids), torch.tensor(y)"
)


def of(folder: Path, sample: str, behind: str = "pass") -> dict[str, Any]:
    folder.mkdir()
    body = TRAIN.format(behind=behind)
    return explained(folder, HEAD + TOKENIZER + SAMPLES.format(sample=sample) + NET + body)


@pytest.mark.parametrize(
    "sample",
    [
        CUT + FILLED,
        SLICED + FILLED,
        SLICED + MASKED,
        "e = tok(self.samples[index]['text'], padding='max_length', truncation=True, "
        "max_length=self.length, return_tensors='pt')"
        "\n        ids = e.input_ids.squeeze(0)\n        return ids, ids.clone()",
    ],
)
def test_a_sample_that_is_filled_up_is_as_long_as_it_says(tmp_path: Path, sample: str) -> None:
    assert peak(of(tmp_path / "texts", sample)) == peak(of(tmp_path / "known", KNOWN))


def test_one_that_is_only_cut_is_taken_for_as_long_in_doubt(tmp_path: Path) -> None:
    found = of(tmp_path / "texts", CUT + "\n        return torch.tensor(ids), torch.tensor(ids)")
    assert [each for each in found["doubts"] if "as long as it is cut to" in each]
    known = peak(of(tmp_path / "known", KNOWN))
    assert found["peak"]["allocated_bytes"] == known


def test_one_that_is_neither_is_not_known(tmp_path: Path) -> None:
    sample = (
        "ids = torch.tensor(tok(self.samples[index]['text']).input_ids)\n        return ids, ids"
    )
    assert of(tmp_path / "texts", sample)["trust"] == "unknown"


SAVES = (
    "if step % 1000 == 0 or step == len(loader):"
    "\n        model.eval()"
    "\n        torch.save({k: v.half().cpu() for k, v in model.state_dict().items()}, 'x.pt')"
    "\n        model.train()"
)


def test_saving_behind_the_last_batch_of_data_that_nobody_counts_is_no_doubt(
    tmp_path: Path,
) -> None:
    found = peak(of(tmp_path / "texts", CUT + FILLED, SAVES))
    assert found == peak(of(tmp_path / "known", KNOWN))


def test_how_long_a_rotary_table_is_says_nothing_of_the_batch(tmp_path: Path) -> None:
    """It is made for far longer sequences than are trained on."""
    (tmp_path / "given").mkdir()
    text = HEAD + "vocab_size = 400\n" + NET.replace("width=64", "max_position_embeddings=32768")
    text = text.replace("width", "64") + (
        "model = Net(max_position_embeddings=32768).to(device)\n"
        "optimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n"
        "loader = DataLoader(json.load(open('x.json')), batch_size=B)\n"
        "for x, y in loader:\n"
        "    loss = model(x.to(device), y.to(device))\n"
        "    optimizer.zero_grad()\n    loss.backward()\n    optimizer.step()\n"
    )
    assert explained(tmp_path / "given", text)["trust"] == "unknown"
