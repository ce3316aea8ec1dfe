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
