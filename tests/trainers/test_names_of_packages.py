"""What Python binds by itself: a module in the package that it is imported from, and texts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.explained import explained

if TYPE_CHECKING:
    from pathlib import Path

SCRIPT = """
import torch, torch.nn as nn
from torch.nn import functional as F
from layers import KINDS
ROWS = 8
device = torch.device("cuda:0")
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.wte = nn.Embedding(1000, 64)
        self.mixed = KINDS["wide"](64)
        self.head = nn.Linear(64, 1000, bias=False)
    def forward(self, x, y):
        x = self.head(self.mixed(self.wte(x)))
        return F.cross_entropy(x.view(-1, 1000), y.view(-1))
model = Net().to(device)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
kind = "cuda" if DECIDED else "cpu"
for step in range(100):
    x = torch.randint(1000, (ROWS, 128)).to(device)
    with torch.autocast(device_type=kind, dtype=torch.bfloat16):
        loss = model(x, x)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
"""
WIDE = """
from torch import nn
class Wide(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.up = nn.Linear(width, 4 * width)
        self.down = nn.Linear(4 * width, width)
    def forward(self, x):
        return self.down(self.up(x).relu())
"""


def _package(folder: Path, init: str) -> Path:
    package = folder / "layers"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(init, encoding="utf-8")
    (package / "wide.py").write_text(WIDE, encoding="utf-8")
    (package / "gated.py").write_text("from .wide import Wide\n", encoding="utf-8")
    return folder


@pytest.mark.parametrize(
    "init",
    [
        # An import of gated imports wide, which is bound in the package, too.
        "from . import gated\nKINDS = {'wide': wide.Wide}\n",
        "from .wide import Wide\nKINDS = {'wide': wide.Wide}\n",
        "import layers.wide\nKINDS = {'wide': wide.Wide}\n",
    ],
)
def test_a_package_knows_its_modules_by_name(tmp_path: Path, init: str) -> None:
    plain = _package(tmp_path / "plain", "from .wide import Wide\nKINDS = {'wide': Wide}\n")
    known = explained(plain, SCRIPT.replace("DECIDED", "True"))
    found = explained(_package(tmp_path / "found", init), SCRIPT.replace("DECIDED", "True"))
    assert known["trust"] == "read"
    assert (found["trust"], found["peak"]) == ("read", known["peak"])


def test_a_name_that_nothing_binds_fails_all_the_same(tmp_path: Path) -> None:
    init = "from .wide import Wide\nKINDS = {'wide': gated.Wide}\n"
    found = explained(_package(tmp_path, init), SCRIPT.replace("DECIDED", "True"))
    assert found["trust"] == "unknown"


@pytest.mark.parametrize(
    ("decided", "is_known"),
    [
        ("'cuda' in str(device)", True),
        ("str(device).startswith('cuda')", True),
        ("str(device) != 'cpu'", True),
        ("str(device) == 'cuda:0'", False),  # a tensor's device has its number, others may not
    ],
)
def test_the_text_of_a_device_tells_the_card_from_the_host(
    tmp_path: Path, decided: str, is_known: bool
) -> None:
    folder = _package(tmp_path, "from .wide import Wide\nKINDS = {'wide': Wide}\n")
    found = explained(folder, SCRIPT.replace("DECIDED", decided))
    known = explained(folder, SCRIPT.replace("DECIDED", "True"))
    assert (found["trust"] == "read") is is_known
    assert not is_known or found["peak"] == known["peak"]


def test_a_package_is_run_before_what_lies_in_it(tmp_path: Path) -> None:
    """What its ``__init__.py`` does is done, although the script names a module of it alone."""
    named = SCRIPT.replace("from layers import KINDS", "from layers.sizes import WIDTH")
    named = named.replace('KINDS["wide"](64)', "nn.Linear(64, WIDTH, bias=False)")
    named = named.replace("nn.Linear(64, 1000", "nn.Linear(WIDTH, 1000").replace("DECIDED", "True")
    package = _package(tmp_path, "from . import sizes\nsizes.WIDTH = 128\n") / "layers"
    (package / "sizes.py").write_text("WIDTH = 64\n", encoding="utf-8")
    found = explained(tmp_path, named)
    (tmp_path / "known").mkdir()
    known = named.replace("from layers.sizes import WIDTH", "WIDTH = 128")
    assert found["trust"] == "read"
    assert found["peak"] == explained(tmp_path / "known", known)["peak"]


def test_a_package_that_does_what_is_not_known_leaves_no_number(tmp_path: Path) -> None:
    named = SCRIPT.replace("from layers import KINDS", "from layers.wide import Wide")
    named = named.replace('KINDS["wide"](64)', "Wide(64)").replace("DECIDED", "True")
    init = "import torch\ntorch.set_default_dtype(torch.bfloat16)\n"
    assert explained(_package(tmp_path, init), named)["trust"] == "unknown"
