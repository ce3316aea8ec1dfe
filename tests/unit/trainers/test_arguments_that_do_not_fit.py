"""A script that calls its own functions as they cannot be called is no run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.explained import explained

if TYPE_CHECKING:
    from pathlib import Path

SCRIPT = """
import functools
from dataclasses import dataclass
import torch
from torch import nn
from elsewhere import told

@dataclass
class Config:
    width: int = 64

class Net(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.wte = nn.Embedding(1000, width)
        self.head = nn.Linear(width, 1000)
    def forward(self, x):
        return self.head(self.wte(x))

DECORATOR
def make_optimizer(net, rate=1e-3):
    return torch.optim.AdamW(net.parameters(), lr=rate)

net = Net(Config(CONFIG).width, WIDTH).cuda()
optimizer = make_optimizer(net, OPTIMIZER)
for step in range(100):
    x = torch.randint(0, 1000, (16, 128)).cuda()
    loss = nn.functional.cross_entropy(net(x, TARGETS).view(-1, 1000), x.view(-1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
WORDS = ("DECORATOR", "CONFIG", "WIDTH", "OPTIMIZER", "TARGETS")


def written(**given: str) -> str:
    text = SCRIPT if "DECORATOR" in given else SCRIPT.replace("from elsewhere import told\n", "")
    for word in WORDS:
        comma = "" if word in ("DECORATOR", "CONFIG") else ", "
        text = text.replace(f"{comma}{word}", f"{comma}{given[word]}" if word in given else "")
    return text


@pytest.mark.parametrize(
    ("word", "given", "reason"),
    [
        ("CONFIG", "depth=2", "Config() got an unexpected keyword argument 'depth'"),
        ("CONFIG", "64, 2", "Config() takes 1 arguments"),
        ("WIDTH", "2", "__init__() takes 2 positional arguments but 3 were given"),
        ("OPTIMIZER", "decay=0.1", "make_optimizer() got an unexpected keyword argument 'decay'"),
        ("TARGETS", "x", "forward() takes 2 positional arguments but 3 were given"),
    ],
)
def test_arguments_that_do_not_fit_end_the_run(
    tmp_path: Path, word: str, given: str, reason: str
) -> None:
    (why,) = explained(tmp_path, written(**{word: given}))["unresolved"]
    assert why["reason"].startswith(f"the script raises TypeError: {reason}")


def test_a_dictionary_that_is_called_ends_the_run(tmp_path: Path) -> None:
    text = written().replace("    width: int = 64", "    width: int = 64\n\nmake = {}\nmake()")
    (why,) = explained(tmp_path, text)["unresolved"]
    assert why["reason"].startswith("the script raises TypeError: 'dict' object is not callable")


def test_a_script_whose_arguments_fit_is_read(tmp_path: Path) -> None:
    assert explained(tmp_path, written())["trust"] == "read"


@pytest.mark.parametrize("decorator", ["@told", "@told(option=1)"])
def test_a_decorator_that_is_not_known_may_take_other_arguments(
    tmp_path: Path, decorator: str
) -> None:
    found = explained(tmp_path, written(DECORATOR=decorator, OPTIMIZER="decay=0.1"))
    assert found["trust"] == "unknown"
    assert not any(
        "raises" in each["reason"] and "the script raises" in each["reason"]
        for each in found["unresolved"]
    )


def test_a_function_that_a_library_calls_may_be_given_something_else(tmp_path: Path) -> None:
    text = written().replace(
        "for step in", "net.head.register_forward_hook(lambda module, args: None)\nfor step in"
    )
    found = explained(tmp_path, text)
    assert found["trust"] == "unknown"
    assert not any(each["reason"].startswith("the script raises") for each in found["unresolved"])
