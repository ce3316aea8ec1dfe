"""What numpy makes has its own types; events as PyTorch has them for the same statements."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.support.explained import explained
from validation.variations import TEXTS

if TYPE_CHECKING:
    from pathlib import Path

BASE = TEXTS["settings: base"]
CARD = "h200"
MADE = "model = GPT().to(device)\n"


def peak(folder: Path, *lines: str) -> int:
    text = BASE.replace(MADE, MADE + "".join(f"{each}\n" for each in lines))
    found: dict[str, Any] = explained(folder, f"import numpy as np\n{text}", card=CARD)
    assert (found["trust"], found["doubts"]) == ("read", [])
    return int(found["peak"]["allocated_bytes"])


@pytest.mark.parametrize(
    "statement",
    [
        "torch.zeros(np.frobnicate(5), 1000, device='cuda')",
        "torch.tril(torch.ones(1000, 1000), k=3).cuda()",
        "[torch.zeros(len(open('x').read()), 100).to('cuda') for _ in range(3)]",
    ],
)
def test_what_puts_something_on_the_card_is_not_passed_over(tmp_path: Path, statement: str) -> None:
    text = BASE.replace(MADE, f"{MADE}table = {statement}\n")
    found = explained(tmp_path, f"import numpy as np\n{text}", card=CARD)
    assert found["trust"] == "unknown"


def test_a_file_in_rows_has_rows_of_that_length(tmp_path: Path) -> None:
    rows = """class Rows(torch.utils.data.Dataset):
    def __init__(self):
        with open('rows.bin') as file:
            count = file.seek(0, 2) // 2
        self.data = np.memmap('rows.bin', dtype=np.uint16, shape=(count // (T + 1), T + 1))
    def __len__(self):
        return self.data.shape[0]
    def __getitem__(self, at):
        return torch.from_numpy(np.array(self.data[at][1:]).astype(np.int64))
loader = iter(torch.utils.data.DataLoader(Rows(), B))
"""
    drawn = "torch.randint(V, (B, T)).to(device)"
    text = BASE.replace(MADE, rows + MADE).replace(drawn, "next(loader).to(device)")
    found = explained(tmp_path, f"import numpy as np\n{text}", card=CARD)
    assert (found["trust"], found["doubts"]) == ("read", [])
    assert found["peak"] == explained(tmp_path, BASE, card=CARD)["peak"]
