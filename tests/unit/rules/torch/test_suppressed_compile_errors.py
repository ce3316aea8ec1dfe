from __future__ import annotations

import pytest

from tests.support.harness import Bench
from tests.support.project_tree import SETUP, train_script

BENCH = Bench("NL410")
LINE = "torch._dynamo.config.suppress_errors = True"


def test_a_train_script() -> None:
    text = train_script()
    assert BENCH.findings(text) == []
    changed = train_script(setup=f"\n{LINE}{SETUP}")
    assert BENCH.marked(changed) == [LINE]
    assert BENCH.fixed(changed) == changed, "the fix is unsafe"
    assert BENCH.fixed(changed, unsafe=True) == train_script(setup=SETUP)


@pytest.mark.parametrize(
    ("text", "fixed"),
    [
        pytest.param(
            f"import torch\r\nx = 'größer'\r\n{LINE}",
            "import torch\r\nx = 'größer'\r\n",
            id="CRLF, no final newline",
        ),
        pytest.param(
            "from torch import _dynamo as d\nd.config.suppress_errors = (  # why\n  True)\n",
            "from torch import _dynamo as d\nd.config.suppress_errors = (  # why\n  False)\n",
            id="parentheses over lines",
        ),
        pytest.param(
            "import torch\nif hard: torch._dynamo.config.suppress_errors = True\n",
            "import torch\nif hard: torch._dynamo.config.suppress_errors = False\n",
            id="behind a colon",
        ),
        pytest.param(
            "from torch._dynamo import config\na = config.suppress_errors = True\nb = 1\n",
            "from torch._dynamo import config\na = config.suppress_errors = False\nb = 1\n",
            id="a chain",
        ),
    ],
)
def test_fixed(text: str, fixed: str) -> None:
    assert BENCH.fixed(text, unsafe=True) == fixed


@pytest.mark.parametrize(
    "text",
    [
        "import torch\ntorch._dynamo.config.suppress_errors = False\n",
        "import torch\nprint(torch._dynamo.config.suppress_errors)\n",
        "config.suppress_errors = True\n",
        "import torch\nrun(suppress_errors=True)\n",
    ],
    ids=["off", "read", "no torch", "an argument of that name"],
)
def test_not_reported(text: str) -> None:
    assert BENCH.findings(text) == []
