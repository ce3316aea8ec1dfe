from __future__ import annotations

import pytest

from tests.support.harness import Bench

BENCH = Bench("NL405")
FLAGS = "torch.backends.cuda.matmul.allow_tf32 = True\ntorch.backends.cudnn.allow_tf32 = True\n"


@pytest.mark.parametrize(
    "text",
    [
        "from torch.backends.cuda import matmul as mm\r\nmm.allow_tf32 = größe",
        "import torch as t\nif t.backends.cudnn.allow_tf32: pass\n",
        "import torch\nwas, torch.backends.cudnn.allow_tf32 = 0, False\n",
    ],
    ids=["alias", "read", "one of two targets"],
)
def test_reported(text: str) -> None:
    assert len(BENCH.findings(text)) == 1


@pytest.mark.parametrize(
    "text",
    [
        "import mine as torch\ntorch.backends.cudnn.allow_tf32 = True\n",
        "torch.backends.cudnn.allow_tf32 = True\n",
        "import triton.language as tl\ntl.dot(a, b, allow_tf32=True)\n",
        "import torch\ntorch.backends.cudnn.benchmark = True  # not allow_tf32\n",
    ],
    ids=["another torch", "no torch", "another function's argument", "text only"],
)
def test_not_reported(text: str) -> None:
    assert BENCH.findings(text) == []


@pytest.mark.parametrize(("version", "count"), [((2, 8), 0), ((2, 9), 1), (None, 1)])
def test_older_releases_have_nothing_else(version: tuple[int, int] | None, count: int) -> None:
    assert len(Bench("NL405", torch=version).findings(f"import torch\n{FLAGS}")) == count
