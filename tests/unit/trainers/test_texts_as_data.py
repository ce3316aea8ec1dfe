"""Scripts that make their tokens of texts: lines split by patterns, characters numbered by a table
that the script itself writes to a file and loads again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.support.explained import explained
from validation.variations import TEXTS

if TYPE_CHECKING:
    from pathlib import Path

BASE = TEXTS["settings: base"]
SAVED = """import os, pickle, re, string
import numpy as np
import torch"""
DATA = """
def sums(path):
    found = []
    with open(path) as f:
        lines = f.readlines()
    for line in lines:
        if line[0] == '#':
            continue
        one, other = re.split(r'[+\\-*]', line.strip())
        found.append((int(one), int(other)))
    return found
def written(pairs):
    for at, (one, other) in enumerate(pairs):
        if at == 0:
            text = f"{one}+{other}\\n"
        else:
            text += f"{one}+{other}\\n"
    return text
characters = sorted(set(string.digits + string.ascii_letters + '+-*\\n'))
table = {each: at for at, each in enumerate(characters)}
with open('meta.pkl', 'wb') as f:
    pickle.dump({'vocab_size': len(characters), 'stoi': table}, f)
with open('meta.pkl', 'rb') as f:
    meta = pickle.load(f)
V = meta['vocab_size']
def encoded(text):
    numbers = [table[each] for each in text]
    return np.array(numbers, dtype=np.uint16)
data = encoded(written(sums('sums.txt')))
def batch():
    at = torch.randint(len(data) - T, (B,))
    rows = torch.stack([torch.from_numpy(data[i : i + T].astype(np.int64)) for i in at])
    return rows.to(device)
device = 'cuda'
"""
DRAWN = "torch.randint(V, (B, T)).to(device)"
PROMPTS = """@torch.no_grad()
def evaluate():
    model.eval()
    stoi = meta['stoi']
    rows = {}
    for one, other in sums('prompts.txt'):
        prompt = f"{one}+{other}="
        row = torch.tensor([stoi.get(each, 0) for each in prompt], device=device)[None]
        rows.setdefault(len(prompt), []).append(row)
    for length in rows:
        x = torch.cat(rows[length])
        model(x, x)
    model.train()
for it in range(9):
    evaluate()"""


def script(*, prompts: bool = False) -> str:
    text = BASE.replace("import torch", SAVED, 1).replace("device = 'cuda'\n", DATA, 1)
    text = text.replace(DRAWN, "batch()")
    return text.replace("for it in range(9):", PROMPTS) if prompts else text


def read(folder: Path, text: str) -> dict[str, Any]:
    found = explained(folder, text, card="h200")
    assert (found["trust"], found["doubts"]) == ("read", [])
    peak: dict[str, Any] = found["peak"]
    return peak


def sums(folder: Path, name: str, count: int) -> None:
    (folder / name).write_text("123+456\n" * count, encoding="utf-8")


def test_a_text_that_the_script_numbers_is_data(tmp_path: Path) -> None:
    sums(tmp_path, "sums.txt", 10_000)
    as_text = read(tmp_path, script())
    at_once = read(tmp_path, BASE.replace("V, C = 8, 256, 1000,", "V, C = 8, 256, 66,"))
    assert as_text["allocated_bytes"] == at_once["allocated_bytes"]


def test_what_a_file_may_have_been_given_is_not_what_it_holds(tmp_path: Path) -> None:
    sums(tmp_path, "sums.txt", 10_000)
    may = script().replace(
        "with open('meta.pkl', 'wb')", "if os.path.exists('a'):\n  with open('meta.pkl', 'wb')"
    )
    may = may.replace("    pickle.dump(", "      pickle.dump(")
    assert explained(tmp_path, may, card="h200")["trust"] == "unknown"


def test_a_pattern_that_could_take_for_ever_is_not_tried(tmp_path: Path) -> None:
    sums(tmp_path, "sums.txt", 1)
    slow = BASE.replace(
        "V, C = 8, 256, 1000,", "V, C = 8, 256, len(re.findall('(a*)*b', 'a' * 99)),"
    )
    found = explained(tmp_path, slow.replace("import torch", "import re, torch", 1))
    assert found["trust"] == "unknown"
