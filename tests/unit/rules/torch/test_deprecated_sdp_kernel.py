from __future__ import annotations

import pytest

from tests.support.harness import Bench

BENCH = Bench("NL404")
IMPORT = "from torch.nn.attention import SDPBackend, sdpa_kernel"


def joined(*lines: str) -> str:
    return "\n".join((*lines, ""))


@pytest.mark.parametrize(
    ("text", "fixed"),
    [
        pytest.param(
            joined("import torch  # 2.x", "f = torch.backends.cuda.sdp_kernel(False, True, False)"),
            joined(
                "import torch  # 2.x",
                IMPORT,
                "f = sdpa_kernel([SDPBackend.MATH, SDPBackend.CUDNN_ATTENTION])",
            ),
            id="by position",
        ),
        pytest.param(
            joined("import torch", "torch.backends.cuda.sdp_kernel(False, False, False, False)"),
            joined("import torch", IMPORT, "sdpa_kernel([])"),
            id="nothing is enabled",
        ),
        pytest.param(
            joined(
                "import torch",
                "with torch.backends.cuda.sdp_kernel(True, False, False, False): pass",
                "with torch.backends.cuda.sdp_kernel(False, True, False, False): pass",
            ),
            joined(
                "import torch",
                IMPORT,
                "with sdpa_kernel([SDPBackend.FLASH_ATTENTION]): pass",
                "with sdpa_kernel([SDPBackend.MATH]): pass",
            ),
            id="twice, one import",
        ),
        pytest.param(
            joined(
                "from torch.backends import cuda",
                "cuda.sdp_kernel(enable_flash=False, enable_math=False, enable_cudnn=False)",
            ),
            joined(IMPORT, "sdpa_kernel([SDPBackend.EFFICIENT_ATTENTION])"),
            id="module by name, then unused",
        ),
        pytest.param(
            joined(
                "from torch.backends.cuda import sdp_kernel as sk, is_built",
                "sk(True, False, False, False)",
            ),
            joined(
                "from torch.backends.cuda import is_built",
                IMPORT,
                "sdpa_kernel([SDPBackend.FLASH_ATTENTION])",
            ),
            id="one of several names",
        ),
        pytest.param(
            joined(
                "import torch",
                "from torch.nn.attention import SDPBackend as Kernel, sdpa_kernel as allow",
                "allow(Kernel.MATH)",
                "torch.backends.cuda.sdp_kernel(False, True, False, False)",
            ),
            joined(
                "import torch",
                "from torch.nn.attention import SDPBackend as Kernel, sdpa_kernel as allow",
                "allow(Kernel.MATH)",
                "allow([Kernel.MATH])",
            ),
            id="imported already",
        ),
        pytest.param(
            "import torch\r\nf = torch.backends.cuda.sdp_kernel(\r\n    enable_cudnn=False,  \r\n"
            "    enable_math=False)  # größer",
            f"import torch\r\n{IMPORT}\r\nf = sdpa_kernel([\r\n    SDPBackend.FLASH_ATTENTION,\r\n"
            "    SDPBackend.EFFICIENT_ATTENTION,])  # größer",
            id="CRLF over lines, no final newline",
        ),
    ],
)
def test_fixed(text: str, fixed: str) -> None:
    assert BENCH.fixed(text) == fixed


@pytest.mark.parametrize(
    "text",
    [
        joined("import torch", "torch.backends.cuda.sdp_kernel(enable_flash=fast)"),
        joined("import torch", "torch.backends.cuda.sdp_kernel(**given)"),
        joined("import torch", "torch.backends.cuda.sdp_kernel(  # why", "    False)"),
        joined("import torch", "sdpa_kernel = None", "torch.backends.cuda.sdp_kernel(False)"),
    ],
    ids=["known at run time only", "passed on", "comment inside", "the name is taken"],
)
def test_reported_and_not_fixed(text: str) -> None:
    assert BENCH.finding(text).fix is None


@pytest.mark.parametrize(
    "text",
    [
        joined("def sdp_kernel(): pass", "sdp_kernel()"),
        joined("from mine import sdp_kernel", "sdp_kernel()"),
        joined(IMPORT, "sdpa_kernel([SDPBackend.MATH])"),
        joined("# torch.backends.cuda.sdp_kernel()"),
    ],
    ids=["local function", "another package's", "the new one", "text only"],
)
def test_not_reported(text: str) -> None:
    assert BENCH.findings(text) == []


@pytest.mark.parametrize(("version", "count"), [((2, 2), 0), ((2, 3), 1)])
def test_the_new_one_needs_a_release_that_has_it(version: tuple[int, int], count: int) -> None:
    text = joined("import torch", "torch.backends.cuda.sdp_kernel()")
    assert len(Bench("NL404", torch=version).findings(text)) == count
