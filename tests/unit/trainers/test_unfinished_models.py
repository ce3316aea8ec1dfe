"""Models with a part whose size nobody knows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.explained import explained
from validation.variations import TEXTS

if TYPE_CHECKING:
    from pathlib import Path

BASE = TEXTS["settings: base"]
HEAD = "        self.head = nn.Linear(C, V, bias=False)\n"
PARTS = {
    "a parameter": "self.spare = nn.Parameter(torch.zeros({rows}, C))",
    "a layer": "self.spare = nn.Linear(C, {rows})",
    "layers": "self.spare = nn.ModuleList([nn.Embedding({rows}, C) for _ in range(2)])",
}


@pytest.mark.parametrize("part", PARTS)
def test_a_part_that_forward_does_not_use_takes_memory_all_the_same(
    tmp_path: Path, part: str
) -> None:
    def trust(rows: str) -> str:
        added = f"{HEAD}        {PARTS[part].format(rows=rows)}\n"
        text = BASE.replace(HEAD, added).replace("import os", "import theirs, os", 1)
        found: str = explained(tmp_path, text)["trust"]
        return found

    assert trust("1000") == "read"
    assert trust("theirs.rows()") == "unknown"
