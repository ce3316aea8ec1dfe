"""Scripts that train on texts, windows and files of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.support.explained import explained
from tests.unit.trainers.test_whole_forks import SCRIPT as FORK
from tests.unit.trainers.test_whole_forks import explained as fork

if TYPE_CHECKING:
    from pathlib import Path

HEAD = """
import json, os, random
from pathlib import Path
import numpy as np
import torch, torch.nn as nn
from torch.nn import functional as F
from torch.utils.data import Dataset, DataLoader
import tiktoken
device = 'cuda'
B, T = 8, 64
"""
NET = """
class Net(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.wte = nn.Embedding(vocab_size, width)
        self.head = nn.Linear(width, vocab_size, bias=False)
    def forward(self, idx, targets):
        logits = self.head(F.gelu(self.wte(idx)))
        return F.cross_entropy(logits.view(-1, logits.size(-1)), targets.reshape(-1))
"""
LOOP = """
model = Net().to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for it in range(9):
    x, y = get_batch()
    loss = model(x.to(device), y.to(device))
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
"""
CHARACTERS = """
text = Path('data') / 'input.txt'
text = text.read_text(encoding='utf-8')
chars = sorted(list(set(text)))
vocab_size = len(chars)
stoi = {ch: i for i, ch in enumerate(chars)}
encode = lambda s: [stoi[c] for c in s]
data = torch.tensor(encode(text), dtype=torch.long)
val_data = data[int(0.9 * len(data)):]
"""
BY_CHANCE = """
def get_batch():
    starts = [random.randint(0, len(val_data) - T - 1) for _ in range(B)]
    x = torch.stack([val_data[i:i+T] for i in starts])
    return x, torch.stack([val_data[i+1:i+T+1] for i in starts])
"""
IN_BLOCKS = """
def get_batch():
    blocks = np.random.randint(0, len(val_data) // T, size=B)
    x = torch.stack([val_data[i*T:(i+1)*T] for i in blocks])
    return x, torch.stack([val_data[i*T+1:(i+1)*T+1] for i in blocks])
"""


def peak(found: dict[str, Any]) -> int:
    assert (found["trust"], found["doubts"]) == ("read", [])
    return int(found["peak"]["allocated_bytes"])


@pytest.fixture(scope="module")
def with_fifty(tmp_path_factory: pytest.TempPathFactory) -> int:
    """The peak of a script whose vocabulary is 50 and whose batch stands in it."""
    batch = (
        "vocab_size = 50\ndef get_batch():\n    x = torch.randint(50, (B, T))\n    return x, x\n"
    )
    return peak(explained(tmp_path_factory.mktemp("plain"), HEAD + batch + NET + LOOP))


@pytest.mark.parametrize("get_batch", [BY_CHANCE, IN_BLOCKS])
def test_characters_of_a_text_that_is_here_are_counted(
    tmp_path: Path, get_batch: str, with_fifty: int
) -> None:
    (tmp_path / "data").mkdir()
    text = "".join(map(chr, range(40, 90))) * 20
    (tmp_path / "data" / "input.txt").write_text(text, encoding="utf-8")
    script = HEAD + CHARACTERS.replace("Path('data') / 'input.txt'", "Path('data/input.txt')")
    assert peak(explained(tmp_path, script + get_batch + NET + LOOP)) == with_fifty


def test_those_of_a_text_that_is_not_here_are_not(tmp_path: Path) -> None:
    found = explained(tmp_path, HEAD + CHARACTERS + BY_CHANCE + NET + LOOP)
    assert len(found["left_open"]) == 1
    downloaded = "# wget .../tinyshakespeare/input.txt\n"
    script = HEAD + downloaded + CHARACTERS.replace("Path('data') / ", "Path('.') / ")
    assert explained(tmp_path, script + BY_CHANCE + NET + LOOP)["left_open"] == []


WINDOWS = """
vocab_size = 50
class Windows(Dataset):
    def __init__(self, text, tokenizer, length, stride):
        self.inputs, self.targets = [], []
        ids = tokenizer.encode(text)
        for i in range(0, len(ids) - length, stride):
            self.inputs.append(torch.tensor(ids[i:i + length]))
            self.targets.append(torch.tensor(ids[i + 1:i + length + 1]))
    def __len__(self):
        return len(self.inputs)
    def __getitem__(self, idx):
        return self.inputs[idx], self.targets[idx]
with open('words.txt') as file:
    loader = DataLoader(Windows(file.read(), tiktoken.get_encoding('gpt2'), T, T), batch_size=B)
def validate(model):
    model.eval()
    with torch.no_grad():
        for x, y in loader:
            model(x.to(device), y.to(device)).item()
    model.train()
model = Net().to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x, y in loader:
    loss = model(x.to(device), y.to(device))
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
    validate(model)
"""


def test_windows_of_a_text_are_as_long_as_they_are_cut(tmp_path: Path, with_fifty: int) -> None:
    assert peak(explained(tmp_path, HEAD + NET + WINDOWS)) == with_fifty


def test_as_much_as_there_is_data_is_not_moved_to_the_card(tmp_path: Path) -> None:
    script = HEAD + "vocab_size = 50\n" + "data = torch.from_numpy(np.memmap('a.bin')).to(device)\n"
    batch = BY_CHANCE.replace("val_data", "data")
    assert explained(tmp_path, script + batch + NET + LOOP)["trust"] == "unknown"


PREPARE = """
import json, os
path = os.path.join(os.path.dirname(__file__), 'words.txt')
with open(path, encoding='utf-8') as f:
    data = f.read()
chars = sorted(list(set(data)))
with open(os.path.join(os.path.dirname(__file__), 'meta.json'), 'w') as f:
    json.dump({'vocab_size': len(chars)}, f)
"""


FILES = """train_data = torch.cat([
    torch.from_numpy(np.fromfile(each, dtype=np.uint16).astype(np.int64))
    for each in sorted(glob.glob(os.path.join(data_dir, '*.bin')))])
"""


def test_a_description_is_what_the_program_writes_that_makes_it(tmp_path: Path) -> None:
    """The data are of several files, too."""
    start, stop = FORK.index("train_data ="), FORK.index("def get_batch")
    own = FORK[:start] + FILES + FORK[stop:].replace("].astype(np.int64)", "]")
    own = own.replace("torch.from_numpy(each) for each in rows", "each for each in rows")
    own = own.replace("import os, pickle", "import os, json, glob")
    own = own.replace("meta.pkl", "meta.json").replace("pickle.load(f)", "json.load(f)")
    described = tmp_path / "described"
    (described / "data" / "words").mkdir(parents=True)
    text = "".join(map(chr, range(40, 90))) * 9
    (described / "data" / "words" / "words.txt").write_text(text, encoding="utf-8")
    found = fork(described, "batch_size = 4\n", script=own, prepare=PREPARE)
    assigned = "model_args['vocab_size'] = 50\nmodel = GPT("
    plain = fork(
        tmp_path / "plain", "batch_size = 4\n", script=own.replace("model = GPT(", assigned)
    )
    assert peak(found) == peak(plain)


STREAM = """
class Stream(torch.utils.data.IterableDataset):
    def __iter__(self):
        from datasets import load_dataset
        held = []
        for each in load_dataset('a/b', split='train', streaming=True):
            held.extend(tiktoken.get_encoding('gpt2').encode_ordinary(each['text']).ids)
            while len(held) > T:
                yield torch.tensor(held[:T]), torch.tensor(held[1:T + 1])
                held = held[T:]
"""


def test_a_batch_that_cannot_be_read_is_as_large_as_the_run_says(
    tmp_path: Path, with_fifty: int
) -> None:
    """In doubt, as nobody knows what its code makes of the data."""
    stream = STREAM + "loader = DataLoader(Stream(), batch_size=B)\n"
    fed = LOOP.replace("for it in range(9):\n    x, y = get_batch()", "for x, y in loader:")
    found = explained(tmp_path, HEAD + "vocab_size = 50\nblock_size = T\n" + NET + stream + fed)
    assert found["trust"] == "doubted", found["doubts"]
    assert "has 8 x 64 tokens" in found["doubts"][0]
    assert found["peak"]["allocated_bytes"] == with_fifty


QUEUED = """
from collections import deque
import pyarrow.parquet
def texts():
    while True:
        file = pyarrow.parquet.ParquetFile('a.parquet')
        for each in range(0, file.num_row_groups, 2):
            yield file.read_row_group(each).column('text').to_pylist()
def batches():
    held, documents = deque(), texts()
    while True:
        while len(held) < B * T + 1:
            for each in tiktoken.get_encoding('gpt2').encode_ordinary_batch(next(documents)):
                held.extend(each)
        tokens = [held.popleft() for _ in range(B * T + 1)]
        both = torch.tensor(tokens, dtype=torch.int64, pin_memory=(device == 'cuda'))
        yield both[:-1].view(B, T), both[1:].view(B, T)
loader = batches()
"""


def test_so_is_one_that_a_queue_of_tokens_makes(tmp_path: Path, with_fifty: int) -> None:
    fed = LOOP.replace("x, y = get_batch()", "x, y = next(loader)")
    found = explained(tmp_path, HEAD + "vocab_size = 50\nblock_size = T\n" + NET + QUEUED + fed)
    assert found["trust"] == "doubted", found["doubts"]
    assert "has 8 x 64 tokens" in found["doubts"][0]
    assert found["peak"]["allocated_bytes"] == with_fifty


ASKED = """
vocab_size = 50
class Rows(torch.utils.data.IterableDataset):
    def __iter__(self):
        while True:
            row = torch.randint(50, (T,))
            yield row, row
def batches():
    for x, y in DataLoader(Rows(), batch_size=B):
        yield x.to(device), y.to(device)
training = batches()
def get_batch():
    return next(training)
@torch.no_grad()
def estimate():
    rows = batches()
    for k in range(TURNS):
        x, y = next(rows)
        print(model(x, y).item())
"""


@pytest.mark.parametrize("turns", [2, 4, 6, 40])
def test_a_loader_gives_a_loop_over_numbers_each_batch_that_it_asks_for(
    tmp_path: Path, turns: int, with_fifty: int
) -> None:
    """As llama2.c's estimate_loss does: ``X, Y = next(batch_iter)``, eval_iters times."""
    fed = LOOP.replace("    x, y = get", "    estimate()\n    x, y = get")
    found = explained(tmp_path, HEAD + ASKED.replace("TURNS", str(turns)) + NET + fed)
    assert found["unresolved"] == []
    assert peak(found) >= with_fifty


LOOKS = """
import pickle
data_dir = os.path.join('data', '{name}')
if os.path.exists(os.path.join(data_dir, 'meta.pkl')):
    with open(os.path.join(data_dir, 'meta.pkl'), 'rb') as f:
        vocab_size = pickle.load(f)['vocab_size']
"""
TOKENS = """
def get_batch():
    return torch.randint(vocab_size, (B, T)), torch.randint(vocab_size, (B, T))
"""
BY_CHANCE_ALONE = f"{HEAD}vocab_size = 50304\n{{looks}}{TOKENS}{NET}{LOOP}"


def looking(folder: Path, name: str, prepares: str) -> dict[str, Any]:
    """A script that looks for the description of its data, and the program that makes those."""
    if prepares:
        (folder / "data" / name).mkdir(parents=True)
        (folder / "data" / name / "prepare.py").write_text(prepares, encoding="utf-8")
    return explained(folder, BY_CHANCE_ALONE.format(looks=LOOKS.format(name=name)))


@pytest.mark.parametrize(
    ("name", "prepares"), [("openwebtext", ""), ("mine", "np.save('train.bin', tokens)")]
)
def test_a_description_that_no_program_writes_is_not_there(
    tmp_path: Path, name: str, prepares: str
) -> None:
    found = looking(tmp_path, name, prepares)
    assert (found["trust"], found["doubts"]) == ("read", [])
    assert found["peak"] == explained(tmp_path, BY_CHANCE_ALONE.format(looks=""))["peak"]


@pytest.mark.parametrize(
    ("prepares", "trust"),
    [("", "doubted"), ("pickle.dump(found, open('meta.pkl', 'wb'))", "unknown")],
)
def test_one_that_may_be_there_is_not_known(tmp_path: Path, prepares: str, trust: str) -> None:
    """As if it was not there, in doubt; not if the program of the data writes it."""
    assert looking(tmp_path, "mine", prepares)["trust"] == trust
