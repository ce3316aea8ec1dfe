from __future__ import annotations

import pytest

from tests.support.harness import Bench

BENCH = Bench("NL401")


def joined(*lines: str) -> str:
    return "\n".join((*lines, ""))


@pytest.mark.parametrize(
    ("text", "fixed"),
    [
        pytest.param(
            joined(
                "import torch", "scaler = torch.cuda.amp.GradScaler(enabled=(dtype == 'float16'))"
            ),
            joined(
                "import torch",
                "scaler = torch.amp.GradScaler('cuda', enabled=(dtype == 'float16'))",
            ),
            id="nanoGPT's own line",
        ),
        pytest.param(
            joined("import torch", 's = torch.cuda.amp.GradScaler(enabled="x" == dtype)'),
            joined("import torch", 's = torch.amp.GradScaler("cuda", enabled="x" == dtype)'),
            id="the file's quotes",
        ),
        pytest.param(
            joined("import torch as t", "t.cuda.amp.GradScaler()"),
            joined("import torch as t", "t.amp.GradScaler('cuda')"),
            id="torch under another name",
        ),
        pytest.param(
            joined("import torch.cuda.amp", "torch.cuda.amp.GradScaler(2.0**10)"),
            joined("import torch.cuda.amp", "torch.amp.GradScaler('cuda', 2.0**10)"),
            id="import of the module",
        ),
        pytest.param(
            joined("import torch", "from torch.cuda import amp", "amp.GradScaler()"),
            joined("import torch", "torch.amp.GradScaler('cuda')"),
            id="module by name, then unused",
        ),
        pytest.param(
            joined(
                "import torch", "from torch.cuda import amp", "amp.GradScaler()", "amp.autocast()"
            ),
            joined(
                "import torch",
                "from torch.cuda import amp",
                "torch.amp.GradScaler('cuda')",
                "amp.autocast()",
            ),
            id="module by name, still used",
        ),
        pytest.param(
            joined("from torch.cuda import amp", "amp.GradScaler()"),
            joined("import torch", "torch.amp.GradScaler('cuda')"),
            id="torch not imported",
        ),
        pytest.param(
            joined("import torch.cuda.amp as amp, os", "amp.GradScaler()"),
            joined("import torch", "import os", "torch.amp.GradScaler('cuda')"),
            id="one of several modules",
        ),
        pytest.param(
            joined("from torch.cuda.amp import GradScaler", "GradScaler()", "GradScaler(16.0)"),
            joined(
                "from torch.amp import GradScaler", "GradScaler('cuda')", "GradScaler('cuda', 16.0)"
            ),
            id="two calls, one import",
        ),
        pytest.param(
            joined("from torch.cuda.amp import autocast, GradScaler as GS", "GS(*a, **k)"),
            joined(
                "from torch.amp import GradScaler as GS",
                "from torch.cuda.amp import autocast",
                "GS('cuda', *a, **k)",
            ),
            id="one of several names, renamed",
        ),
        pytest.param(
            joined(
                "def f():",
                "    from torch.cuda.amp import (",
                "        GradScaler,",
                "        autocast,",
                "    )",
                "    return GradScaler()",
            ),
            joined(
                "def f():",
                "    from torch.amp import GradScaler",
                "    from torch.cuda.amp import (",
                "        autocast,",
                "    )",
                "    return GradScaler('cuda')",
            ),
            id="inside a function, over lines",
        ),
        pytest.param(
            joined("import torch", "torch.cpu.amp.GradScaler()"),
            joined("import torch", "torch.amp.GradScaler('cpu')"),
            id="the CPU's",
        ),
        pytest.param(
            "import torch\r\nx = torch.cuda.amp.GradScaler(  # größer\r\n    16.0,\r\n)",
            "import torch\r\nx = torch.amp.GradScaler(  # größer\r\n    'cuda',\r\n    16.0,\r\n)",
            id="CRLF, comment, no final newline",
        ),
    ],
)
def test_fixed(text: str, fixed: str) -> None:
    assert BENCH.fixed(text) == fixed


@pytest.mark.parametrize(
    "text",
    [
        joined("from torch.cuda.amp import GradScaler", "GradScaler()", "kind = GradScaler"),
        joined(
            "from torch.cuda.amp import (GradScaler,  # scales", "    autocast)", "GradScaler()"
        ),
        joined("import torch", "(torch.cuda", "  .amp  # here", "  .GradScaler)()"),
        joined("if True: from torch.cuda import amp", "amp.GradScaler()"),
    ],
    ids=["used for more than calls", "comment in the import", "comment in the name", "no own line"],
)
def test_reported_and_not_fixed(text: str) -> None:
    assert BENCH.finding(text).fix is None


@pytest.mark.parametrize(
    "text",
    [
        joined("def GradScaler():", "    pass", "GradScaler()"),
        joined("from mine import GradScaler", "GradScaler()"),
        joined("import torch", "torch.amp.GradScaler('cuda')"),
        joined("from torch.cuda.amp import GradScaler", "x: GradScaler"),
        joined("# torch.cuda.amp.GradScaler()", "s = 'torch.cuda.amp.GradScaler()'"),
        joined("torch = make()", "torch.cuda.amp.GradScaler()"),
        joined(
            "try:",
            "    from torch.amp import GradScaler",
            "except ImportError:",
            "    from torch.cuda.amp import GradScaler",
            "GradScaler()",
        ),
        joined(
            "import torch",
            "if hasattr(torch.amp, 'GradScaler'):",
            "    s = torch.amp.GradScaler('cuda')",
            "else:",
            "    s = torch.cuda.amp.GradScaler()",
        ),
    ],
    ids=[
        "local function",
        "another package's",
        "the new one",
        "annotation only",
        "text only",
        "another torch",
        "import fallback",
        "call fallback",
    ],
)
def test_not_reported(text: str) -> None:
    assert BENCH.findings(text) == []


@pytest.mark.parametrize(("version", "count"), [((2, 2), 0), ((2, 3), 1), ((2, 13), 1)])
def test_the_new_call_needs_a_release_that_has_it(version: tuple[int, int], count: int) -> None:
    text = joined("import torch", "torch.cuda.amp.GradScaler()")
    assert len(Bench("NL401", torch=version).findings(text)) == count
