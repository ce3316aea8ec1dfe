"""Texts whose length is known, as they lie in the project or are downloaded by it, and what is done
with all of their characters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.support.explained import explained
from validation.variations import TEXTS

if TYPE_CHECKING:
    from pathlib import Path

BASE = TEXTS["settings: base"]
EVALUATED = TEXTS["loops: evaluation function"]
CARD = "h200"
COUNT = 30_000
READ = """with open('words.txt') as file:
    text = file.read()
table = {each: at for at, each in enumerate(sorted(set(text)))}
data = torch.tensor([table[each] for each in text])
n = int(0.9 * len(data))
"""
ON_CARD = READ + "train, rest = data[:n].to(device), data[n:].to(device)\n"
SAMPLES = (
    READ
    + """class Samples:
    def __init__(self, data):
        self.data = data
    def __len__(self):
        return len(self.data) - T
    def __getitem__(self, at):
        return self.data[at : at + T + 1][:-1], self.data[at : at + T + 1][1:]
samples = Samples(data[:n])
def batch(which):
    at = torch.randint(len(samples), (B,))
    return torch.stack([samples[i][which] for i in at]).to(device)
"""
)
DRAWN = "torch.randint(V, (B, T)).to(device)"
MADE = "model = GPT().to(device)\n"


def script(data: str, x: str = DRAWN, y: str = DRAWN) -> str:
    text = BASE.replace(MADE, data + MADE).replace(f"x = {DRAWN}", f"x = {x}", 1)
    return text.replace(f"y = {DRAWN}", f"y = {y}", 1)


def peak(folder: Path, text: str) -> int:
    found: dict[str, Any] = explained(folder, text, card=CARD)
    assert (found["trust"], found["doubts"]) == ("read", [])
    return int(found["peak"]["allocated_bytes"])


@pytest.fixture(name="words")
def with_words(tmp_path: Path) -> Path:
    (tmp_path / "words.txt").write_text("wörter in Zeile\n" * (COUNT // 16), encoding="utf-8")
    return tmp_path


def test_a_whole_text_on_the_card_takes_a_number_for_each_character(words: Path) -> None:
    without = peak(words, script(READ))
    both = [-(-each * 8 // 512) * 512 for each in (COUNT * 9 // 10, COUNT // 10)]
    assert peak(words, script(ON_CARD)) == without + sum(both)


def test_of_other_bytes_the_characters_are_not_counted(words: Path) -> None:
    other = ON_CARD.replace("'words.txt'", "'words.txt', encoding='latin-1'")
    assert explained(words, script(other), card=CARD)["trust"] == "unknown"


def test_a_sample_of_a_short_text_is_as_long_as_it_says(words: Path) -> None:
    assert peak(words, script(SAMPLES, "batch(0)", "batch(1)")) == peak(words, script(READ))


@pytest.mark.parametrize("written", ["words.txt", "words.txt  # one a line", '"words.txt"'])
def test_a_text_that_settings_name_is_known(words: Path, written: str) -> None:
    (words / "settings.yaml").write_text(f"width: 64\ndata_path: {written}\n", encoding="utf-8")
    named = """import yaml
with open('settings.yaml') as file:
    path = yaml.safe_load(file)['data_path']
"""
    read = ON_CARD.replace("'words.txt'", "path")
    assert peak(words, script(named + read)) == peak(words, script(ON_CARD))


def test_what_the_readme_says_is_downloaded_is_known(tmp_path: Path) -> None:
    text = script(ON_CARD.replace("words.txt", "input.txt"))
    assert explained(tmp_path, text, card=CARD)["trust"] == "unknown"
    said = "wget https://host/char-rnn/master/data/tinyshakespeare/input.txt\n"
    (tmp_path / "README.md").write_text(said, encoding="utf-8")
    assert peak(tmp_path, text) > peak(tmp_path, script("")) + 8 * 1_115_394
