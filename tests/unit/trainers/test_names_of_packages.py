"""What Python binds by itself: a module in the package that it is imported from, and texts."""

from __future__ import annotations

from textwrap import indent
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
    init = "import torch\ntorch.set_default_tensor_type(torch.cuda.HalfTensor)\n"
    assert explained(_package(tmp_path, init), named)["trust"] == "unknown"


@pytest.mark.parametrize(
    "sizes",
    [
        "__all__ = ['WIDTH']\nWIDTH = 64\nROWS = 2\n",  # lists what it brings
        "_ROWS = 2\n",
        "def _hidden():\n    pass\n",
    ],
)
def test_a_star_brings_what_python_brings(tmp_path: Path, sizes: str) -> None:
    """Neither what a module does not list nor its own ``__name__``, which is not the script's."""
    script = SCRIPT.replace("DECIDED", "True").replace("ROWS = 8", "ROWS = _ROWS = 8")
    folder = _package(tmp_path / "found", "from .wide import Wide\nKINDS = {'wide': Wide}\n")
    known = explained(folder, script)
    (folder / "sizes.py").write_text(sizes, encoding="utf-8")
    before, loop = script.split("for step")
    starred = before.replace("ROWS = _ROWS = 8", "ROWS = _ROWS = 8\nfrom sizes import *")
    guarded = f'{starred}if __name__ == "__main__":\n' + indent(f"for step{loop}", "    ")
    found = explained(folder, guarded.replace("(ROWS,", "(_ROWS if ROWS == 8 else 1,"))
    assert (found["trust"], found["peak"]) == ("read", known["peak"])


def test_what_a_star_brings_may_be_known_to_the_run_alone(tmp_path: Path) -> None:
    script = SCRIPT.replace("DECIDED", "True").replace("ROWS = 8", "ROWS = 8\nfrom sizes import *")
    folder = _package(tmp_path, "from .wide import Wide\nKINDS = {'wide': Wide}\n")
    sizes = "import os\n__all__ = os.environ['NAMES'].split()\nROWS = 2\n"
    (folder / "sizes.py").write_text(sizes, encoding="utf-8")
    assert explained(folder, script)["trust"] not in ("read", "exact")
