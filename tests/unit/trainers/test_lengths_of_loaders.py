"""How many batches a loader has, and what a script asks of the machine that it is on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from nanolint.run.described import Role
from nanolint.run.equation import NotKnown
from tests.support.explained import explained
from tests.unit.trainers.written_scripts import MODEL, read
from validation.variations import TEXTS

if TYPE_CHECKING:
    from pathlib import Path

BASE = TEXTS["settings: base"]
SIZES = "B, T, V, C = 8, 256, 1000, 128"
DATA = """
from torch.utils.data import *
class Rows(Dataset):
    def __len__(self):
        return 101
    def __getitem__(self, index):
        return torch.zeros(4)
rows = Rows()
"""

LENGTHS = [
    ("DataLoader(rows, batch_size=10)", 11),
    ("DataLoader(rows, 10, drop_last=True)", 10),
    ("DataLoader(rows)", 101),
    ("DataLoader(rows, batch_size=None)", 101),
    ("DataLoader(rows, 10, sampler=RandomSampler(rows))", 11),
    ("DataLoader(rows, 10, sampler=RandomSampler(rows, True, 35))", 4),
    ("DataLoader(rows, 10, sampler=SubsetRandomSampler(range(15)))", 2),
    ("DataLoader(rows, 10, sampler=DistributedSampler(rows, num_replicas=2))", 6),
    ("DataLoader(rows, batch_sampler=BatchSampler(SequentialSampler(rows), 25, True))", 4),
    ("DataLoader(Subset(rows, range(11)), batch_size=10)", 2),
    ("DataLoader(random_split(rows, [90, 11])[1], batch_size=10)", 2),
    ("random_split(rows, [0.9, 0.1])[0]", 91),
    ("random_split(rows, [0.9, 0.1])[1]", 10),
    ("DataLoader(TensorDataset(torch.zeros(30, 2)), batch_size=7)", 5),
]


HEAD = f"""{MODEL}
from torch.utils.data import DataLoader, Dataset
class Rows(Dataset):
    def __init__(self, count):
        self.count = count
    def __len__(self):
        return self.count
    def __getitem__(self, index):
        row = torch.randint(0, 9, (33,))
        return row[:-1], row[1:]
model = Net(Config())
optimizer = torch.optim.AdamW(model.parameters())
loader = DataLoader({{data}}, batch_size=10{{more}})
passes = len(loader)
for step in range(100):
    for _ in range(passes):
        x, y = next(iter(loader))
        model(x, y).backward()
    optimizer.step()
"""


@pytest.mark.parametrize(
    ("data", "more", "passes"),
    [
        ("Rows(40)", "", 4),
        ("Rows(45)", "", 5),
        ("Rows(45)", ", drop_last=True", 4),
        ("Rows(theirs())", "", None),
        ("theirs()", "", None),
        ("Rows(45)", ", sampler=theirs()", None),
    ],
)
def test_the_passes_of_a_whole_loader(data: str, more: str, passes: int | None) -> None:
    found = read(HEAD.format(data=data, more=more))
    assert found.value(Role.MICRO_BATCH) == 10
    assert found.value(Role.ACCUMULATION) == passes
    assert passes is not None or isinstance(found.roles[Role.ACCUMULATION], NotKnown)


@pytest.mark.parametrize(
    "asks",
    [
        "print(f'on {platform.node()}, {platform.platform()}, Python {platform.python_version()}')",
        "name = platform.uname().node",
        "if platform.system() == 'Windows':\n    V = 2000",
        "if platform.system().lower() != 'linux':\n    C = 256",
    ],
)
def test_what_is_asked_of_the_machine_does_not_matter(tmp_path: Path, asks: str) -> None:
    found = explained(tmp_path, BASE.replace(SIZES, f"{SIZES}\nimport platform\n{asks}"))
    assert (found["trust"], found["doubts"]) == ("read", [])
    assert found["peak"] == explained(tmp_path, BASE)["peak"]


def test_but_where_it_decides_it_is_not_known(tmp_path: Path) -> None:
    asks = "import platform\nif platform.machine() == 'aarch64':\n    C = 256"
    assert explained(tmp_path, BASE.replace(SIZES, f"{SIZES}\n{asks}"))["trust"] == "unknown"
