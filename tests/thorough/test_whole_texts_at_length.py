"""Texts whose length is known, as they lie in the project or are downloaded by it, and what is done
with all of their characters.

These take seconds each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path
from tests.unit.trainers.test_whole_texts import BASE, COUNT, EVALUATED, MADE, peak, with_words

WORDS = with_words  # a fixture, under the name that the tests ask for


@pytest.mark.parametrize(
    ("size", "count"),
    [
        ("len(set(open('words.txt').read().lower()))", 11),
        ("len(set(open('words.txt').read().strip().replace('w', '')))", 10),
        ("len(set(open('words.txt').read().split()))", 3),
        ("len(''.join(open('words.txt').read().splitlines()[:2]))", 30),
        ("len(open('words.txt').read()[:100].upper())", 100),
        ("len(Counter(open('words.txt').read().split()).most_common(2))", 2),
        ("Counter(open('words.txt').read().split())['in']", COUNT // 16),
    ],
)
def test_what_is_made_of_a_text_is_known(words: Path, size: str, count: int) -> None:
    counts = "from collections import Counter\n"
    found = peak(words, BASE.replace(MADE, f"{counts}V = {size}\n{MADE}"))
    assert found == peak(words, BASE.replace(MADE, f"V = {count}\n{MADE}"))


def test_the_first_loss_is_below_infinity(tmp_path: Path) -> None:
    keeps = """best = float('inf')
for step in range(50):
    if step % 100 == 0:
        losses = estimate()
        if losses['val'] < best:
            best = losses['val']
            kept = {name: each.clone() for name, each in model.state_dict().items()}
"""
    loop = "for step in range(50):\n    if step % 10 == 0: print(estimate())\n"
    assert loop in EVALUATED
    kept = peak(tmp_path, EVALUATED.replace(loop, keeps))
    never = EVALUATED.replace(loop, keeps.replace("< best", "> best"))
    assert kept > peak(tmp_path, never) + 1_000_000
