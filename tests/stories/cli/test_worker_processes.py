"""Several processes answer as one does, for every kind of project."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from nanolint.cli import processes
from tests.support.project_tree import train_script

if TYPE_CHECKING:
    from collections.abc import Callable

SCRIPT = """
import argparse, dataclasses, yaml
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.wte, self.head = nn.Embedding(1000, width), nn.Linear(width, 1000)
    def forward(self, x):
        return nn.functional.cross_entropy(self.head(self.wte(x)).view(-1, 1000), x.view(-1))

SETTINGS

model = Net(64).cuda()
optimizer = torch.optim.AdamW(model.parameters())
for step in range(10):
    x = torch.randint(1000, (batch_size, 64), device="cuda")
    model(x).backward()
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
"""
ARGPARSE = """
parser = argparse.ArgumentParser()
parser.add_argument("--batch-size", type=int, default=8)
batch_size = parser.parse_args().batch_size
"""
DATACLASS = """
@dataclasses.dataclass
class Args:
    batch_size: int = 8
batch_size = Args().batch_size
"""
YAML = """
batch_size = yaml.safe_load(open("settings.yaml"))["batch_size"]
"""
HYDRA = """
import hydra
import torch
from torch import nn

@hydra.main(version_base=None, config_path="conf", config_name="config")
def main(cfg):
    model = nn.Linear(64, 64).cuda()
    optimizer = torch.optim.AdamW(model.parameters())
    for step in range(10):
        model(torch.randn(cfg.batch_size, 64, device="cuda")).sum().backward()
        optimizer.step()
        optimizer.zero_grad()

if __name__ == "__main__":
    main()
"""
CONFIG = """
batch_size, block_size, gradient_accumulation_steps = 4, 64, 2
n_layer, n_head, n_embd, compile = 1, 2, 64, False
"""
KINDS: dict[str, tuple[str, dict[str, str]]] = {
    "nanoGPT config": ("config/a.py", {"config/a.py": CONFIG}),
    "config of two scripts": ("a.py", {"a.py": CONFIG, "train_too.py": train_script()}),
    "launch file": ("run.sh", {"a.py": CONFIG, "run.sh": "python train.py a.py --eval_iters=2\n"}),
    "argparse": ("train.py", {"train.py": SCRIPT.replace("SETTINGS", ARGPARSE)}),
    "dataclass": ("train.py", {"train.py": SCRIPT.replace("SETTINGS", DATACLASS)}),
    "YAML": (
        "train.py",
        {"train.py": SCRIPT.replace("SETTINGS", YAML), "settings.yaml": "batch_size: 8\n"},
    ),
    "hydra": ("train.py", {"train.py": HYDRA, "conf/config.yaml": "batch_size: 8\n"}),
}


def doubled(_: object, number: int) -> int:
    return 2 * number


def unsendable(_: object, number: int) -> Any:
    return Unsendable(number)


def refused(_: object, number: int) -> int:
    raise ValueError(f"no {number}")


class Unsendable(int):
    def __reduce__(self) -> Any:
        raise TypeError("cannot be sent")


@pytest.mark.parametrize(
    ("do", "common"),
    [(doubled, {}.keys()), (doubled, lambda: None), (unsendable, None)],
    ids=["what they have in common", "a function", "a result"],
)
def test_what_cannot_be_sent_is_done_in_this_process(
    do: Callable[[object, int], int], common: object
) -> None:
    found = list(processes.in_processes(do, common, [3, 4], 2))
    assert found == [do(None, 3), do(None, 4)]


def test_what_fails_in_a_worker_fails_as_it_does_in_this_process() -> None:
    with pytest.raises(ValueError, match="no 3"):
        list(processes.in_processes(refused, None, [3, 4], 2))
