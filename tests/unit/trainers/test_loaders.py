"""What a DataLoader gives: as many samples as its batch_size says, of whatever it loads."""

from __future__ import annotations

import pytest

from nanolint.run.described import Role
from nanolint.run.equation import NotKnown
from tests.unit.trainers.written_scripts import MODEL, read

HEAD = f"""{MODEL}
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import BatchSampler, DataLoader, Dataset, IterableDataset, RandomSampler
from datasets import load_dataset
from transformers import AutoTokenizer, DataCollatorForLanguageModeling
tokenizer = AutoTokenizer.from_pretrained("gpt2")
data = load_dataset("roneneldan/TinyStories")["train"]
rows, width = 6, 128
model = Net(Config())
optimizer = torch.optim.AdamW(model.parameters())
"""
LOOP = """
for epoch in range(3):
    for step, batch in enumerate(loader):
        {batch}
        loss = model(x, y)
        loss.backward()
        optimizer.step()
"""
BY_NAME = 'x, y = batch["input_ids"].to("cuda"), batch["labels"].to("cuda")'
IN_ORDER = 'x, y = [each.to("cuda") for each in batch]'
PADDED = """
def collate(batch):
    ids = [torch.tensor(each["ids"]) for each in batch]
    x = pad_sequence([each[:-1] for each in ids], batch_first=True)
    return {"input_ids": x, "labels": pad_sequence([each[1:] for each in ids], batch_first=True)}
"""
UNZIPPED = """
def collate(batch):
    firsts, seconds = zip(*batch)
    return pad_sequence(firsts, batch_first=True), pad_sequence(seconds, batch_first=True)
"""
PADDED_IN_A_LOOP = """
def collate(batch):
    longest, rows = max(len(each) for each in batch), []
    for each in batch:
        ids = torch.tensor(each + [0] * (longest - len(each)))
        if ids.sum() > 5:
            ids = ids[:-1]
        rows.append(ids)
    x = torch.stack(rows)
    return {"input_ids": x, "labels": x}
"""
OF_SIX = {
    "samples that nobody knows, by name": ("loader = DataLoader(data, batch_size=rows)", BY_NAME),
    "samples that nobody knows, in order": ("loader = DataLoader(data, rows, True)", IN_ORDER),
    "moved to the card as they are": (
        "loader = DataLoader(data, batch_size=rows, drop_last=True)",
        'batch = {k: v.to("cuda") for k, v in batch.items()}\n'
        '        x, y = batch["x"], batch["y"]',
    ),
    "a sampler of batches": (
        "loader = DataLoader(data, batch_sampler=BatchSampler(RandomSampler(data), rows, False))",
        BY_NAME,
    ),
    "transformers' collator": (
        "collate = DataCollatorForLanguageModeling(tokenizer, mlm=False)\n"
        "loader = DataLoader(data, collate_fn=collate, batch_size=rows)",
        BY_NAME,
    ),
    "unzipped": (
        f"{UNZIPPED}\nloader = DataLoader(data, batch_size=rows, collate_fn=collate)",
        IN_ORDER,
    ),
    "padded in a loop": (
        f"{PADDED_IN_A_LOOP}\nloader = DataLoader(data, batch_size=rows, collate_fn=collate)",
        BY_NAME,
    ),
    "padded by a function of its own": (
        f"{PADDED}\nloader = DataLoader(data, batch_size=rows, collate_fn=collate)",
        BY_NAME,
    ),
}


@pytest.mark.parametrize("what", OF_SIX)
def test_the_batch_is_as_large_as_the_loader_says(what: str) -> None:
    settings, batch = OF_SIX[what]
    found = read(HEAD + settings + LOOP.format(batch=batch))
    assert found.value(Role.MICRO_BATCH) == 6
    context = found.roles[Role.CONTEXT]
    assert isinstance(context, NotKnown)
    assert "how long a sequence is" in str(context)


WINDOWS = """
class Windows({base}):
    def __init__(self, ids, width):
        self.ids, self.width = ids, width
    def __len__(self):
        return len(self.ids) - self.width
    def {method}
        {gives}
loader = DataLoader(Windows(np.load("ids.npy"), width), batch_size=rows)
"""


@pytest.mark.parametrize(
    ("base", "method", "gives"),
    [
        (
            "Dataset",
            "__getitem__(self, i):",
            "return torch.tensor(self.ids[i : i + self.width]), "
            "torch.tensor(self.ids[i + 1 : i + 1 + self.width])",
        ),
        (
            "IterableDataset",
            "__iter__(self):",
            "while True:\n            i = 8\n            part = self.ids[i : i + self.width + 1]\n"
            "            yield torch.tensor(part[:-1]), torch.tensor(part[1:])",
        ),
    ],
)
def test_the_context_is_that_of_a_sample(base: str, method: str, gives: str) -> None:
    windows = WINDOWS.format(base=base, method=method, gives=gives)
    found = read(HEAD + windows + LOOP.format(batch="x, y = batch"))
    assert (found.value(Role.MICRO_BATCH), found.value(Role.CONTEXT)) == (6, 128)


NOT_KNOWN = {
    "a function that a library brings": "loader = DataLoader(data, rows, collate_fn=pack)",
    "one row of all samples": "from transformers import DataCollatorWithFlattening\n"
    "loader = DataLoader(data, rows, collate_fn=DataCollatorWithFlattening())",
    "a sampler of a library": "from samplers import Balanced\n"
    "loader = DataLoader(data, batch_sampler=Balanced(data))",
}


@pytest.mark.parametrize("what", NOT_KNOWN)
def test_how_many_rows_is_not_known_where_something_else_decides(what: str) -> None:
    found = read(HEAD + "from packing import pack\n" + NOT_KNOWN[what] + LOOP.format(batch=BY_NAME))
    assert isinstance(found.roles[Role.MICRO_BATCH], NotKnown)


def test_rows_of_lists_that_nobody_knows_are_no_single_row() -> None:
    made = """
def get_batch(documents, rows):
    found = []
    for document in documents:
        found.append(tokenizer.encode(document))
    x = torch.tensor([each["ids"] for each in found])
    return x.to("cuda"), x
loader = [get_batch(data, rows)]
"""
    found = read(HEAD + made + LOOP.format(batch="x, y = get_batch(data, rows)"))
    assert isinstance(found.roles[Role.MICRO_BATCH], NotKnown)


FILLED = """
def get_batch(rows, width):
    found, attempts = [], 0
    while len(found) < rows and attempts < 10 * rows:
        attempts += 1
        start = attempts * 7
        found.append(tokens[start : start + width])
    x = torch.stack(found)
    return x, x
"""


def test_a_list_that_is_filled_until_it_has_enough_has_as_many() -> None:
    made = f"tokens = torch.from_numpy(np.load('x.npy'))\n{FILLED}\nloader = range(100)\n"
    found = read(HEAD + made + LOOP.format(batch="x, y = get_batch(rows, width)"))
    assert (found.value(Role.MICRO_BATCH), found.value(Role.CONTEXT)) == (6, 128)


def test_arguments_that_nobody_can_count_are_no_defaults() -> None:
    made = """
import sizes
def shape(rows=6, width=128):
    return rows, width
B, T = shape(*sizes.of_this_run())
"""
    found = read(HEAD + made + "loader = range(9)\n" + LOOP.format(batch="x, y = get_batch(B, T)"))
    assert isinstance(found.roles[Role.MICRO_BATCH], NotKnown)
