"""Data sets and transforms of torchvision: the sizes of what a loader loads."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.explained import explained

if TYPE_CHECKING:
    from pathlib import Path

SCRIPT = """
import torch, torch.nn as nn, torch.nn.functional as F
from torch.utils.data import DataLoader
from torchvision import datasets, transforms
from torchvision.transforms import ToTensor
batch_size = 64
transform = transforms.Compose([{transforms}])
data = datasets.{dataset}("data", train=True, download=True, transform=transform)
loader = DataLoader(data, batch_size=batch_size, shuffle=True)
model = nn.Sequential(nn.Flatten(), nn.Linear({width}, 512), nn.ReLU(), nn.Linear(512, 10))
model = model.to("cuda")
opt = torch.optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(3):
    for x, y in loader:
        x, y = x.to("cuda"), y.to("cuda")
        loss = F.cross_entropy(model(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
"""


@pytest.mark.parametrize(
    ("dataset", "how", "width"),
    [
        ("MNIST", "transforms.ToTensor(), transforms.Normalize((0.1,), (0.3,))", 784),
        ("CIFAR10", "transforms.RandomHorizontalFlip(), transforms.ToTensor()", 3072),
        ("CIFAR100", "transforms.Resize(64), transforms.CenterCrop(48), ToTensor()", 6912),
        ("FashionMNIST", "transforms.Pad(2), ToTensor(), transforms.Lambda(lambda t: t - 1)", 1024),
    ],
)
def test_a_batch_is_as_large_as_its_pictures(
    tmp_path: Path, dataset: str, how: str, width: int
) -> None:
    text = SCRIPT.format(dataset=dataset, transforms=how, width=width)
    found = explained(tmp_path, text, card="a100-80gb")
    assert (found["trust"], found["doubts"]) == ("read", [])
    batch = f"x, y = torch.rand(64, {width}), torch.randint(10, (64,))"
    drawn = text.replace("for x, y in loader:", f"for _ in range(1000):\n        {batch}")
    peak = explained(tmp_path, drawn, card="a100-80gb")["peak"]
    assert found["peak"]["allocated_bytes"] == peak["allocated_bytes"]
