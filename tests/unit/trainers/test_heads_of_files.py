"""The head of a file of tokens, which a script compares with what it expects."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.support.explained import explained
from validation.variations import TEXTS

if TYPE_CHECKING:
    from pathlib import Path

BASE = TEXTS["settings: base"]
DRAWN = "x = torch.randint(V, (B, T)).to(device)"
READ = """import numpy as np
    header = np.fromfile("train.bin", dtype=np.int32, count=256)
    if header.size != 256 or int(header[0]) != 20240520:
        raise ValueError("an unexpected header")
    data = np.fromfile("train.bin", dtype=np.uint16, count=int(header[2]), offset=1024)
    x = torch.from_numpy(data[: B * T].astype(np.int64)).view(B, T).to(device)"""


def test_a_head_is_taken_for_what_the_script_expects(tmp_path: Path) -> None:
    found = explained(tmp_path, BASE.replace(DRAWN, READ), card="h200")
    assert found["trust"] != "unknown"
    known = explained(tmp_path, BASE, card="h200")
    assert found["peak"]["allocated_bytes"] == known["peak"]["allocated_bytes"]
