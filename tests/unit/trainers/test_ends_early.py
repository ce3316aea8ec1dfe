"""Functions that end before they train where their data are not there: then there is no run."""

from __future__ import annotations

from textwrap import indent
from typing import TYPE_CHECKING

import pytest

from tests.support.explained import explained
from validation.variations import TEXTS

if TYPE_CHECKING:
    from pathlib import Path

BASE = TEXTS["settings: base"]
CARD = "h200"


def main(first: str) -> str:
    head, _, rest = BASE.partition("device = 'cuda'\n")
    return f"{head}def main(device):\n{indent(first + rest, '    ')}\nmain('cuda')\n"


@pytest.mark.parametrize(
    "first",
    [
        "if not os.path.exists('words.txt'):\n    print('prepare the data')\n    return\n",
        "if not os.path.exists('a.bin') or not os.path.exists('b.bin'): return 1\n",
    ],
)
def test_data_that_a_run_needs_are_there(tmp_path: Path, first: str) -> None:
    found = explained(tmp_path, main(first), card=CARD)
    assert (found["trust"], found["doubts"]) == ("read", [])
    assert found["peak"] == explained(tmp_path, main(""), card=CARD)["peak"]


def test_what_only_may_be_there_is_not_known(tmp_path: Path) -> None:
    loads = "def table():\n    if not os.path.exists('table.bin'): return None\n    return 1\n"
    kept = "kept = None if table() is None else torch.zeros(1 << 20, device=device)\n"
    found = explained(tmp_path, main(f"{loads}{kept}"), card=CARD)
    assert found["trust"] == "unknown"
