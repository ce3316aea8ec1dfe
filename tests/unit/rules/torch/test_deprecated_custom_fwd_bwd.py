from __future__ import annotations

import pytest

from tests.support.harness import Bench

BENCH = Bench("NL403")


def joined(*lines: str) -> str:
    return "\n".join((*lines, ""))


@pytest.mark.parametrize(
    ("text", "fixed"),
    [
        pytest.param(
            joined("import torch", "f = torch.cuda.amp.custom_fwd(g)"),
            joined("import torch", "f = torch.amp.custom_fwd(g, device_type='cuda')"),
            id="a call",
        ),
        pytest.param(
            joined("from torch.cuda.amp import custom_fwd, autocast", "@custom_fwd", "def f(): 0"),
            joined(
                "from torch.amp import custom_fwd",
                "from torch.cuda.amp import autocast",
                "@custom_fwd(device_type='cuda')",
                "def f(): 0",
            ),
            id="one of several names",
        ),
        pytest.param(
            joined("from torch.cuda import amp", "f = amp.custom_fwd(g)", "h = amp.custom_bwd(g)"),
            joined(
                "import torch",
                "f = torch.amp.custom_fwd(g, device_type='cuda')",
                "h = torch.amp.custom_bwd(g, device_type='cuda')",
            ),
            id="both through a module, then unused",
        ),
        pytest.param(
            joined("from torch.cuda.amp.autocast_mode import custom_bwd as cb", "cb(g)"),
            joined("from torch.amp import custom_bwd as cb", "cb(g, device_type='cuda')"),
            id="where it is defined, renamed",
        ),
        pytest.param(
            "import torch\r\nf = torch.cuda.amp.custom_fwd(\r\n    g,  # größer\r\n)",
            "import torch\r\nf = torch.amp.custom_fwd(\r\n    g,  # größer\r\n"
            "    device_type='cuda',\r\n)",
            id="CRLF over lines, no final newline",
        ),
    ],
)
def test_fixed(text: str, fixed: str) -> None:
    assert BENCH.fixed(text) == fixed


@pytest.mark.parametrize(
    "text",
    [
        joined("import torch", "wrap = torch.cuda.amp.custom_fwd"),
        joined("from torch.cuda.amp import (custom_fwd,  # why", "    autocast)", "custom_fwd(f)"),
    ],
    ids=["handed around", "comment in the import"],
)
def test_reported_and_not_fixed(text: str) -> None:
    assert BENCH.finding(text).fix is None


@pytest.mark.parametrize(
    "text",
    [
        joined("from flash import custom_fwd", "@custom_fwd", "def f(): 0"),
        joined("import torch", "f(custom_fwd=torch.amp.custom_bwd(device_type='cuda'))"),
        joined("# torch.cuda.amp.custom_fwd"),
        joined("from torch.cuda.amp import custom_fwd"),
        joined(
            "try:",
            "    from torch.amp import custom_fwd",
            "except ImportError:",
            "    from torch.cuda.amp import custom_fwd",
            "custom_fwd(f)",
        ),
    ],
    ids=["another package's", "the new one", "text only", "not used here", "import fallback"],
)
def test_not_reported(text: str) -> None:
    assert BENCH.findings(text) == []


@pytest.mark.parametrize(("version", "count"), [((2, 3), 0), ((2, 4), 1)])
def test_the_new_one_needs_a_release_that_has_it(version: tuple[int, int], count: int) -> None:
    text = joined("import torch", "torch.cuda.amp.custom_fwd(f)")
    assert len(Bench("NL403", torch=version).findings(text)) == count
