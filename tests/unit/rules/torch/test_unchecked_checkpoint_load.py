from __future__ import annotations

import pytest

from tests.support.harness import Bench

BENCH = Bench("NL406", torch=(2, 4))


@pytest.mark.parametrize(
    ("text", "fixed"),
    [
        (
            "from torch import load\nx = load( path )  # größer\n",
            "from torch import load\nx = load( path, weights_only=True )  # größer\n",
        ),
        (
            "import torch as t\r\nx = t.load(\r\n    path,\r\n    device,  # here\r\n)",
            "import torch as t\r\nx = t.load(\r\n    path,\r\n    device,  # here\r\n"
            "    weights_only=True,\r\n)",
        ),
    ],
)
def test_fixed(text: str, fixed: str) -> None:
    assert BENCH.fixed(text) == text, "the fix is unsafe"
    assert BENCH.fixed(text, unsafe=True) == fixed


@pytest.mark.parametrize(
    "text",
    [
        "import torch\ntorch.load(path, weights_only=False)\n",
        "import torch\ntorch.load(path, **options)\n",
        "import numpy\nnumpy.load(path)\n",
        "def load(path): pass\nload(1)\n",
    ],
)
def test_not_reported(text: str) -> None:
    assert BENCH.findings(text) == []


@pytest.mark.parametrize("version", [None, (2, 6), (1, 12)])
def test_other_versions(version: tuple[int, int] | None) -> None:
    assert Bench("NL406", torch=version).findings("import torch\ntorch.load(path)\n") == []
