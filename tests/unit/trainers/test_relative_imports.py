"""``from . import model`` in a script, which ``python -m package.train`` starts or ``train.py``."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.support.command import nanolint

if TYPE_CHECKING:
    from pathlib import Path

MODEL = "import torch\nnet = torch.nn.Linear(64, 64).cuda()\n"
TRAIN = """
import torch
try:
    from . import model
except ImportError:
    import model
optimizer = torch.optim.SGD(model.net.parameters(), lr=0.1)
for step in range(3):
    model.net(torch.randn(32, 64, device="cuda")).sum().backward()
    optimizer.step()
"""


@pytest.mark.parametrize("is_package", [True, False])
def test_module_beside_the_script_is_found(tmp_path: Path, is_package: bool) -> None:
    (tmp_path / "model.py").write_text(MODEL, "utf-8")
    (tmp_path / "train.py").write_text(TRAIN, "utf-8")
    if is_package:
        (tmp_path / "__init__.py").write_text("", "utf-8")
    script = str(tmp_path / "train.py")
    told = json.loads(nanolint("explain", "--gpu", "rtx-4090", "--format", "json", script).out)
    assert told["peak"] is not None
    assert not told["doubts"]


@pytest.mark.parametrize(
    ("text", "line", "runs"),
    [
        ("from .sizes import N", "python pkg/train.py", False),
        ("from .sizes import N", "python -m pkg.train", True),
        ("from sizes import N", "python pkg/train.py", True),
        ("from again import N", "python pkg/train.py", False),
        ("__package__ = 'pkg'\nfrom .sizes import N", "python pkg/train.py", True),
    ],
)
def test_a_script_started_as_a_file_has_no_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, line: str, runs: bool
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pkg").mkdir()
    (tmp_path / ".git").mkdir()
    (tmp_path / "pkg/sizes.py").write_text("N = 64\n", "utf-8")
    (tmp_path / "pkg/again.py").write_text("from .sizes import N\n", "utf-8")
    loop = TRAIN[TRAIN.index("optimizer") :].replace("model.net", "net")
    net = "net = torch.nn.Linear(N, 64).cuda()\n"
    (tmp_path / "pkg/train.py").write_text(f"import torch\n{text}\n{net}{loop}", "utf-8")
    words = ("explain", "--gpu", "rtx-4090", "--format", "json", "--", *line.split())
    told = json.loads(nanolint(*words).out)
    assert (told["peak"] is not None) == runs
    if not runs:
        assert told["unresolved"][0]["reason"].startswith("the script raises ImportError")


def test_a_script_that_imports_from_its_own_package_is_run_from_above(tmp_path: Path) -> None:
    """``python -m net.train``: ``utils`` is the folder next to the package, not the one in it."""
    (tmp_path / ".git").mkdir()
    loop = TRAIN[TRAIN.index("optimizer") :]
    imports = "import torch\nfrom utils.sizes import N\nfrom net import net as model\n"
    for name, text in (
        ("utils/sizes.py", "N = 64\n"),
        ("net/utils/sizes.py", "M = 1\n"),
        ("net/net.py", MODEL),
        ("net/train.py", imports + loop),
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, "utf-8")
    script = str(tmp_path / "net" / "train.py")
    assert "NL607" not in nanolint("check", "--gpu", "rtx-4090", script).out


OWN = """
import numpy as np
class Module:
    def parameters(self):
        return [each for part in vars(self).values() for each in part.parameters()]
class Weight(Module):
    def __init__(self, n):
        self.value = np.zeros(n)
    def parameters(self):
        return [self]
class Net(Module):
    def __init__(self):
        self.one = Weight(3)
net = Net()
for step in range(3):
    loss = Weight(1)
    loss.backward()
"""


def test_a_module_of_the_scripts_own_is_none_of_pytorchs(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(OWN, "utf-8")
    said = nanolint("check", "--gpu", "rtx-4090", str(tmp_path / "train.py")).out
    assert "before Module.__init__()" not in said
