"""Tokenizers that lie in the project, as transformers saves them: how large they are."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.explained import explained
from tests.unit.trainers.small_net import NET

if TYPE_CHECKING:
    from pathlib import Path

HEAD = """
import os
import torch
import torch.nn.functional as F
from torch import nn
from tokenizers import Tokenizer
from transformers import AutoTokenizer, PreTrainedTokenizerFast
device = "cuda"
SIZE
"""
BATCH = "torch.randint(0, size, (16, 128))"
READ = {
    "its length": 'size = len(AutoTokenizer.from_pretrained("words"))',
    "of a folder": 'size = len(AutoTokenizer.from_pretrained(os.path.join(".", "words")))',
    "fast": 'size = len(PreTrainedTokenizerFast.from_pretrained("words"))',
    "with what is added": 'size = Tokenizer.from_file("words/tokenizer.json").get_vocab_size()',
}
OWN = 'size = AutoTokenizer.from_pretrained("words").vocab_size'
VOCABULARY: dict[str, Any] = {
    "BPE": {f"w{each}": each for each in range(300)},
    "Unigram": [[f"w{each}", -1.0] for each in range(300)],
}


def project(folder: Path, vocabulary: Any) -> None:
    words = folder / "words"
    words.mkdir()
    saved = {"model": {"vocab": vocabulary}, "added_tokens": [{"id": 300, "content": "<end>"}]}
    (words / "tokenizer.json").write_text(json.dumps(saved), encoding="utf-8")
    settings = {"eos_token": "<end>", "pad_token": {"content": "w0"}}
    (words / "tokenizer_config.json").write_text(json.dumps(settings), encoding="utf-8")


def peak(folder: Path, size: str) -> object:
    text = NET.replace("1000", "size").replace("BATCH", BATCH)
    found = explained(folder, HEAD.replace("SIZE", size) + text)
    assert (found["trust"], found["doubts"]) == ("read", [])
    return found["peak"]


@pytest.mark.parametrize("kind", VOCABULARY)
@pytest.mark.parametrize("how", READ)
def test_sizes_are_those_of_its_files(tmp_path: Path, kind: str, how: str) -> None:
    project(tmp_path, VOCABULARY[kind])
    assert peak(tmp_path, READ[how]) == peak(tmp_path, "size = 301")


def test_its_own_vocabulary_is_without_what_is_added(tmp_path: Path) -> None:
    project(tmp_path, VOCABULARY["BPE"])
    assert peak(tmp_path, OWN) == peak(tmp_path, "size = 300")


def test_one_that_is_not_there_is_left_open(tmp_path: Path) -> None:
    text = NET.replace("1000", "size").replace("BATCH", BATCH)
    found = explained(tmp_path, HEAD.replace("SIZE", READ["its length"]) + text)
    assert "262,144 at most" in found["left_open"][0]


@pytest.mark.parametrize("place", ["", "assets"])
@pytest.mark.parametrize(
    "above", ["Path(__file__).parent.parent", "Path(__file__).resolve().parents[1]"]
)
def test_one_above_the_script_is_in_reach(tmp_path: Path, above: str, place: str) -> None:
    (tmp_path / "pyproject.toml").touch()
    for each in (tmp_path / "train", tmp_path / place):
        each.mkdir(exist_ok=True)
    project(tmp_path / place, VOCABULARY["BPE"])
    path = " / ".join([above, *([f'"{place}"'] if place else []), '"words"'])
    size = f"from pathlib import Path\nsize = len(AutoTokenizer.from_pretrained(str({path})))"
    assert peak(tmp_path / "train", size) == peak(tmp_path / "train", "size = 301")
