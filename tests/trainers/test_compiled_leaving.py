"""A compiled model that leaves tensors elsewhere, or keeps its graph: never a sure number."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.trainers.test_own_data import explained
from validation.record_variations import CARD
from validation.variations import TEXTS

if TYPE_CHECKING:
    from pathlib import Path

X = "        x = self.wte(idx)\n"
CHANGES = {
    "a list": (X, X + "        kept.append(x)\n"),
    "a list of its own": (X, X + "        self.kept.append(x)\n"),
    "a dictionary": (X, X + "        seen['x'] = x\n"),
    "a global": (X, "        global last\n" + X + "        last = x\n"),
    "a graph that is kept": ("loss.backward()", "loss.backward(retain_graph=True)"),
}
BEFORE = "kept, seen, last = [], {}, None\nclass GPT(nn.Module):\n    kept = []\n"


@pytest.mark.parametrize("what", CHANGES)
def test_what_stays_behind_a_compiled_call_is_no_sure_number(tmp_path: Path, what: str) -> None:
    old, new = CHANGES[what]
    text = TEXTS["settings: compiled"]
    assert old in text
    text = text.replace("class GPT(nn.Module):\n", BEFORE).replace(old, new)
    found = explained(tmp_path, text, CARD)
    assert found["trust"] != "read" or found["doubts"]


def test_a_list_that_ends_with_the_call_is_of_no_matter(tmp_path: Path) -> None:
    text = TEXTS["settings: compiled"].replace(
        X, X + "        kept = [x]\n        kept.append(x * 2)\n"
    )
    found = explained(tmp_path, text, CARD)
    assert (found["trust"], found["doubts"]) == ("read", [])
