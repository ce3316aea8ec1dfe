from __future__ import annotations

import pytest

from tests.support.harness import Bench

BENCH = Bench("NL407")


@pytest.mark.parametrize(
    ("text", "fixed"),
    [
        pytest.param(
            "import torch\ny = torch.utils.checkpoint.checkpoint(f, x)  # größer\n",
            "import torch\ny = torch.utils.checkpoint.checkpoint(f, x, use_reentrant=False)"
            "  # größer\n",
            id="through torch",
        ),
        pytest.param(
            "from torch.utils import checkpoint as c\r\ny = c.checkpoint_sequential(\r\n fs, 2, x)",
            "from torch.utils import checkpoint as c\r\ny = c.checkpoint_sequential(\r\n"
            " fs, 2, x, use_reentrant=False)",
            id="a module's alias, CRLF, no final newline",
        ),
        pytest.param(
            "from torch.utils.checkpoint import checkpoint as ck\n"
            "y = ck(f, x, preserve_rng_state=False,)\n",
            "from torch.utils.checkpoint import checkpoint as ck\n"
            "y = ck(f, x, preserve_rng_state=False, use_reentrant=False,)\n",
            id="a comma at the end",
        ),
        pytest.param(
            "import torch.utils.checkpoint as c\nc.checkpoint(\n    f,\n    (x  # in\n    )\n)\n",
            "import torch.utils.checkpoint as c\nc.checkpoint(\n    f,\n    (x  # in\n    ),\n"
            "    use_reentrant=False\n)\n",
            id="parentheses over lines",
        ),
    ],
)
def test_fixed(text: str, fixed: str) -> None:
    assert BENCH.fixed(text) == text, "the fix is unsafe"
    assert BENCH.fixed(text, unsafe=True) == fixed


@pytest.mark.parametrize(
    "text",
    [
        "from torch.utils.checkpoint import checkpoint\ncheckpoint(f, x, use_reentrant=flag)\n",
        "from deepspeed.checkpointing import checkpoint\ncheckpoint(f, x)\n",
        "def checkpoint(f, x): pass\ncheckpoint(f, x)\n",
        "from torch.utils.checkpoint import checkpoint\nrun(checkpoint)\n",
        "torch.save(checkpoint, path)\n",
    ],
    ids=["given", "another package's", "local function", "not called", "a value of that name"],
)
def test_not_reported(text: str) -> None:
    assert BENCH.findings(text) == []


@pytest.mark.parametrize(("version", "count"), [((1, 10), 0), ((1, 11), 1), (None, 1)])
def test_a_release_without_the_argument(version: tuple[int, int] | None, count: int) -> None:
    text = "from torch.utils.checkpoint import checkpoint\ncheckpoint(f, x)\n"
    assert len(Bench("NL407", torch=version).findings(text)) == count
