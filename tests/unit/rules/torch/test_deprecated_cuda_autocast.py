from __future__ import annotations

import pytest

from tests.support.harness import Bench

BENCH = Bench("NL402")


def joined(*lines: str) -> str:
    return "\n".join((*lines, ""))


@pytest.mark.parametrize(
    ("text", "fixed"),
    [
        pytest.param(
            joined("import torch", "with torch.cuda.amp.autocast(): pass"),
            joined("import torch", "with torch.amp.autocast('cuda'): pass"),
            id="no arguments",
        ),
        pytest.param(
            joined("from torch.cuda.amp import GradScaler, autocast as ac", "ac(a, b, c, **d)"),
            joined(
                "from torch.amp import autocast as ac",
                "from torch.cuda.amp import GradScaler",
                "ac('cuda', enabled=a, dtype=b, cache_enabled=c, **d)",
            ),
            id="every argument by position",
        ),
        pytest.param(
            joined("from torch.cuda.amp import autocast", "@autocast(False)", "def f(): pass"),
            joined(
                "from torch.amp import autocast",
                "@autocast('cuda', enabled=False)",
                "def f(): pass",
            ),
            id="a decorator",
        ),
        pytest.param(
            joined("import torch", "torch.cpu.amp.autocast(dtype=torch.bfloat16)"),
            joined("import torch", "torch.amp.autocast('cpu', dtype=torch.bfloat16)"),
            id="the CPU's",
        ),
        pytest.param(
            "import torch\r\nc = torch.cuda.amp.autocast(\r\n    on,  # ß\r\n)",
            "import torch\r\nc = torch.amp.autocast(\r\n    'cuda',\r\n    enabled=on,  # ß\r\n)",
            id="CRLF over lines",
        ),
    ],
)
def test_fixed(text: str, fixed: str) -> None:
    assert BENCH.fixed(text) == fixed


@pytest.mark.parametrize(
    "text",
    [
        joined("from torch.cuda.amp import autocast", "@autocast", "def f(): autocast()"),
        joined("import torch", "torch.cuda.amp.autocast(*given)"),
    ],
)
def test_reported_and_not_fixed(text: str) -> None:
    assert BENCH.finding(text).fix is None


@pytest.mark.parametrize(
    "text",
    [
        joined("import torch", "torch.amp.autocast('cuda')"),
        joined("import torch", "torch.autocast('cuda')"),
        joined("def autocast(): pass", "autocast()"),
        joined("# torch.cuda.amp.autocast()"),
    ],
)
def test_not_reported(text: str) -> None:
    assert BENCH.findings(text) == []


def test_both_moves_at_once() -> None:
    text = joined("from torch.cuda.amp import GradScaler, autocast", "GradScaler()", "autocast()")
    fixed = BENCH.fixed_by_all(text)
    assert fixed.endswith(joined("GradScaler('cuda')", "autocast('cuda')"))
    assert "torch.cuda" not in fixed
