"""A compiled model that leaves tensors elsewhere, or keeps its graph: never a sure number."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.explained import explained
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
RETURN = "        return F.cross_entropy(logits.view(-1, V), targets.view(-1))\n"
SHARED = {
    "all of it twice": "logits, logits.view(-1, V)",
    "a part": "logits[:, -1], None",
    "the whole": "logits.view(-1, V), None",
    "two tensors": "x, logits",
}
BEFORE = "kept, seen, last = [], {}, None\nclass GPT(nn.Module):\n    kept = []\n"


def test_a_list_that_ends_with_the_call_is_of_no_matter(tmp_path: Path) -> None:
    text = TEXTS["settings: compiled"].replace(
        X, X + "        kept = [x]\n        kept.append(x * 2)\n"
    )
    found = explained(tmp_path, text, card=CARD)
    assert (found["trust"], found["doubts"]) == ("read", [])


@pytest.mark.parametrize("what", SHARED)
def test_results_that_share_memory_are_no_sure_number(tmp_path: Path, what: str) -> None:
    """AOTAutograd hands out what they are views of, and takes the gradient of that."""
    loss = RETURN.partition("return ")[2]
    text = TEXTS["settings: compiled"]
    assert RETURN in text
    text = text.replace(RETURN, f"        return {SHARED[what]}, {loss}")
    text = text.replace("loss = model(x, y)", "first, second, loss = model(x, y)")
    found = explained(tmp_path, text, card=CARD)
    sure = (found["trust"], found["doubts"]) == ("read", [])
    assert sure is (what in ("the whole", "two tensors"))


def test_a_model_that_changes_between_its_calls_has_other_graphs(tmp_path: Path) -> None:
    text, start = TEXTS["settings: compiled"], "range(9):\n"
    learning = text.replace(start, f"{start}    model.wte.requires_grad_(it > 0)\n")
    narrow = text.replace(start, f"{start}    if it == 1: model.bfloat16()\n")
    plain, learns, narrowed = (
        explained(tmp_path, each, card=CARD) for each in (text, learning, narrow)
    )
    assert (learns["trust"], learns["doubts"]) == ("read", [])
    assert learns["peak"]["allocated_bytes"] == plain["peak"]["allocated_bytes"]
    assert narrowed["peak"]["allocated_bytes"] < plain["peak"]["allocated_bytes"]
