"""Texts whose length nobody knows, which a tokenizer cuts and a data set fills up."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.support.explained import explained
from tests.unit.trainers.test_own_data import HEAD, NET, peak

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


def test_what_is_compared_with_a_token_is_as_long_as_the_texts(tmp_path: Path) -> None:
    """Which token it is makes no matter: ``mask[1:]`` has one less than the sample."""
    sample = (
        "e = tok(self.samples[index]['text'], padding='max_length', truncation=True, "
        "max_length=self.length, return_tensors='pt')"
        "\n        ids = e.input_ids.squeeze()"
        "\n        mask = ids != tok.pad_token_id"
        "\n        return torch.tensor(ids[:-1]), torch.tensor(mask[1:], dtype=torch.long)"
    )
    known = KNOWN.replace("return ids, ids", "return ids[:-1], ids[1:]")
    assert peak(of(tmp_path / "texts", sample)) == peak(of(tmp_path / "known", known))


def test_one_that_is_only_cut_is_taken_for_as_long_in_doubt(tmp_path: Path) -> None:
    found = of(tmp_path / "texts", CUT + "\n        return torch.tensor(ids), torch.tensor(ids)")
    assert [each for each in found["doubts"] if "as long as its limit" in each]
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


BASED = """
from transformers import PretrainedConfig, PreTrainedModel
class Config(PretrainedConfig):
    def __init__(self, width=64, **kwargs):
        super().__init__(**kwargs)
        self.width = width
        self.rows = kwargs.get('rows', 400)
class Net(PreTrainedModel):
    def __init__(self, config=None):
        self.config = config or Config()
        super().__init__(self.config)
        self.wte = nn.Embedding(self.config.rows, self.config.width)
        self.layers = nn.ModuleList([nn.Linear(64, 64) for _ in range(3)])
        self.lm_head = nn.Linear(self.config.width, self.config.rows, bias=False)
        if {ties}:
            self.wte.weight = self.lm_head.weight
        self.post_init()
    def forward(self, idx, targets):
        x = self.wte(idx)
        for layer in self.layers:
            x = layer(x)
        logits = self.lm_head(x)
        return F.cross_entropy(logits.view(-1, logits.size(-1)), targets.reshape(-1))
"""


def based(folder: Path, *, ties: bool, train: str = TRAIN, words: tuple[str, ...] = ()) -> Any:
    folder.mkdir()
    text = HEAD + TOKENIZER + SAMPLES.format(sample=CUT + FILLED) + BASED.format(ties=ties)
    return explained(folder, text + train.format(behind="pass"), *words)


def test_a_model_on_transformers_base_has_its_shape_and_its_context(tmp_path: Path) -> None:
    found = based(tmp_path / "tied", ties=True)
    roles = {name: each["value"] for name, each in found["roles"].items()}
    assert (found["trust"], found["doubts"]) == ("read", [])
    assert (roles["layers"], roles["width"], roles["vocabulary"]) == (3, 64, 400)
    assert (roles["micro-batch"], roles["context"]) == (8, 64)


def test_whether_transformers_ties_by_itself_is_not_known(tmp_path: Path) -> None:
    found = based(tmp_path / "apart", ties=False)
    assert [each for each in found["doubts"] if "shares the weight of lm_head" in each]


def test_a_sampler_of_several_processes_has_samples(tmp_path: Path) -> None:
    """What is true of it does not wait for how many there are."""
    own = TRAIN.replace(
        "loader = DataLoader(Texts(T), batch_size=B, shuffle=True)",
        "from torch.utils.data import Sampler, DistributedSampler\n"
        "class Rows(Sampler):\n"
        "    def __init__(self, sampler, batch_size):\n"
        "        self.sampler, self.batch_size = sampler, batch_size\n"
        "samples = Texts(T)\n"
        "sampler = DistributedSampler(samples)\n"
        "sampler and sampler.set_epoch(0)\n"
        "rows = Rows(sampler or torch.randperm(len(samples)).tolist(), B)\n"
        "loader = DataLoader(samples, batch_sampler=rows)",
    )
    plain = based(tmp_path / "plain", ties=True)
    assert peak(based(tmp_path / "several", ties=True, train=own)) == peak(plain)


def test_what_cannot_be_read_of_such_a_branch_is_a_doubt(tmp_path: Path) -> None:
    """Nobody knows what it takes."""
    looks = (
        "if step == len(loader):"
        "\n        model.eval()"
        "\n        with torch.no_grad():"
        "\n            kept = [model(x, y) for _ in range(unknowable(x))]"
        "\n        model.train()"
    )
    folder = tmp_path / "texts"
    folder.mkdir()
    body = "from elsewhere import unknowable\n" + TRAIN.format(behind=looks)
    sample = SAMPLES.format(sample=CUT + FILLED)
    assert explained(folder, HEAD + TOKENIZER + sample + NET + body)["doubts"]
