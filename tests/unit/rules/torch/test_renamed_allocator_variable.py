from __future__ import annotations

import pytest

from nanolint.diagnostics import Safety, Severity
from tests.support.harness import Bench
from tests.support.project_tree import IMPORTS, train_script

BENCH = Bench("NL411", torch=(2, 9))
LINE = "os.environ['PYTORCH_ALLOC_CONF'] = 'expandable_segments:True'\n"


def test_a_train_script() -> None:
    assert BENCH.findings(train_script()) == []
    text = train_script(imports=IMPORTS + LINE)
    assert BENCH.marked(text) == ["'PYTORCH_ALLOC_CONF'"]
    assert BENCH.finding(text).severity is Severity.WARNING


@pytest.mark.parametrize(
    ("text", "fixed"),
    [
        pytest.param(
            'import os\r\nos.environ.setdefault(\r\n    "PYTORCH_ALLOC_CONF",  # größer\r\n'
            '    "x",\r\n)',
            'import os\r\nos.environ.setdefault(\r\n    "PYTORCH_CUDA_ALLOC_CONF",  # größer\r\n'
            '    "x",\r\n)',
            id="setdefault, CRLF, no final newline",
        ),
        pytest.param(
            "from os import environ as e, putenv\n"
            "old = e.get('PYTORCH_ALLOC_CONF', '')\n"
            "putenv('PYTORCH_ALLOC_CONF', old + ',x')  # PYTORCH_ALLOC_CONF\n",
            "from os import environ as e, putenv\n"
            "old = e.get('PYTORCH_CUDA_ALLOC_CONF', '')\n"
            "putenv('PYTORCH_CUDA_ALLOC_CONF', old + ',x')  # PYTORCH_ALLOC_CONF\n",
            id="reads go along, comments do not",
        ),
        pytest.param(
            "import os\nos.environ[u'PYTORCH_ALLOC_CONF'] += ',x'\n",
            "import os\nos.environ[u'PYTORCH_CUDA_ALLOC_CONF'] += ',x'\n",
            id="a prefix",
        ),
    ],
)
def test_fixed(text: str, fixed: str) -> None:
    fix = BENCH.finding(text).fix
    assert fix is not None
    assert fix.safety is Safety.UNSAFE
    assert BENCH.fixed(text) == text
    assert BENCH.fixed(text, unsafe=True) == fixed


def test_a_name_that_is_handed_elsewhere() -> None:
    text = f"import os\n{LINE}run(env={{'PYTORCH_ALLOC_CONF': ''}})\n"
    assert BENCH.finding(text).fix is None


@pytest.mark.parametrize(
    "text",
    [
        "import os\nos.environ['PYTORCH_CUDA_ALLOC_CONF'] = 'x'\n",
        "import os\nos.environ['PYTORCH_HIP_ALLOC_CONF'] = 'x'\n",
        "import os\ndel os.environ['PYTORCH_ALLOC_CONF']\n",
        "import mine as os\nos.environ['PYTORCH_ALLOC_CONF'] = 'x'\n",
        "import os\nos.environ[name] = 'x'  # PYTORCH_ALLOC_CONF\n",
        "import os\ndef f(os):\n    os.environ['PYTORCH_ALLOC_CONF'] = 'x'\n",
    ],
    ids=["the old name", "another", "taken away", "another os", "text only", "an argument"],
)
def test_not_reported(text: str) -> None:
    assert BENCH.findings(text) == []


@pytest.mark.parametrize("version", [None, (2, 10), (2, 15)])
@pytest.mark.parametrize("name", ["PYTORCH_ALLOC_CONF", "PYTORCH_CUDA_ALLOC_CONF"])
def test_a_name_that_the_release_reads_is_as_good_as_the_other(
    version: tuple[int, int] | None, name: str
) -> None:
    bench = Bench("NL411", torch=version)
    assert bench.findings(f"import os\nos.environ['{name}'] = 'x'\n") == []
