from __future__ import annotations

import pytest

from tests.support.harness import Bench
from tests.support.project_tree import train_script

BENCH = Bench("NL408")


@pytest.mark.parametrize(
    ("text", "fixed"),
    [
        pytest.param(
            "import torch as t\r\nok = t.cuda.is_bf16_supported()  # größer",
            "import torch as t\r\nok = t.cuda.is_bf16_supported(including_emulation=False)"
            "  # größer",
            id="CRLF, no final newline",
        ),
        pytest.param(
            "from torch import cuda\nif cuda.is_bf16_supported(\n    # why\n): pass\n",
            "from torch import cuda\nif cuda.is_bf16_supported(including_emulation=False\n"
            "    # why\n): pass\n",
            id="comment between the parentheses",
        ),
    ],
)
def test_fixed(text: str, fixed: str) -> None:
    assert BENCH.fixed(text) == text, "the fix is unsafe"
    assert BENCH.fixed(text, unsafe=True) == fixed


def test_a_train_script() -> None:
    text = train_script()
    assert BENCH.marked(text) == ["torch.cuda.is_bf16_supported()"]
    assert BENCH.findings(BENCH.fixed(text, unsafe=True)) == []


@pytest.mark.parametrize(
    "text",
    [
        "import torch\ntorch.cuda.is_bf16_supported(False)\n",
        "from mine import is_bf16_supported\nis_bf16_supported()\n",
        "import torch\ncheck = torch.cuda.is_bf16_supported\n",
        "import torch\n"
        "if torch.cuda.get_device_capability() >= (8, 0) and torch.cuda.is_bf16_supported(): 0\n",
    ],
    ids=["by position", "another package's", "not called", "capability too"],
)
def test_not_reported(text: str) -> None:
    assert BENCH.findings(text) == []


@pytest.mark.parametrize(("version", "count"), [((2, 3), 0), ((2, 4), 1), (None, 1)])
def test_a_release_without_the_argument(version: tuple[int, int] | None, count: int) -> None:
    text = "import torch\ntorch.cuda.is_bf16_supported()\n"
    assert len(Bench("NL408", torch=version).findings(text)) == count


@pytest.mark.parametrize(
    ("gpu", "count"),
    [
        ("rtx-4070", 0),
        ("mi300x", 0),
        ("t4", 1),
        ("rtx-4070,t4", 1),
        ("12GB", 1),  # which card that is, nobody knows
        ("", 1),
    ],
)
def test_only_where_a_card_may_lack_bfloat16(gpu: str, count: int) -> None:
    text = "import torch\ntorch.cuda.is_bf16_supported()\n"
    assert len(Bench("NL408", gpu=gpu).findings(text)) == count
