"""Tokenizers that packages bring by name: their vocabulary is known."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.explained import explained
from tests.unit.trainers.test_own_data import HEAD, LOOP, NET, peak

if TYPE_CHECKING:
    from pathlib import Path

BATCH = "def get_batch():\n    x = torch.randint(vocab_size, (B, T))\n    return x, x\n"
TRANSFORMERS = (
    "from transformers import AutoTokenizer\ntok = AutoTokenizer.from_pretrained('gpt2')\n"
)


def of(folder: Path, tokenizer: str) -> dict[str, object]:
    return explained(folder, HEAD + tokenizer + BATCH + NET + LOOP)


ASSUMED = "assuming a vocabulary of 50,257 tokens"


@pytest.mark.parametrize(
    ("tokenizer", "size"),
    [
        ("vocab_size = tiktoken.get_encoding('gpt2').n_vocab\n", 50257),
        ("vocab_size = tiktoken.encoding_for_model('gpt-4').max_token_value + 1\n", 100277),
        (TRANSFORMERS + "vocab_size = tok.vocab_size\n", 50257),
        (TRANSFORMERS + "vocab_size = len(tok)\n", 50257),
    ],
)
def test_its_size_is_the_packages(tmp_path: Path, tokenizer: str, size: int) -> None:
    (tmp_path / "named").mkdir()
    (tmp_path / "written").mkdir()
    written = of(tmp_path / "written", f"vocab_size = {size}\n")
    assert peak(of(tmp_path / "named", tokenizer)) == peak(written)


@pytest.mark.parametrize(
    "tokenizer",
    [
        "vocab_size = tiktoken.get_encoding('of our own').n_vocab\n",
        TRANSFORMERS + "tok.add_special_tokens({'pad_token': '<pad>'})\nvocab_size = len(tok)\n",
    ],
)
def test_another_one_or_a_larger_one_is_left_open(tmp_path: Path, tokenizer: str) -> None:
    assert ASSUMED in str(of(tmp_path, tokenizer)["left_open"])


PIECES = (
    "from sentencepiece import SentencePieceProcessor\n"
    "sp = SentencePieceProcessor(model_file='words.model')\n"
)


def test_of_a_model_of_pieces_the_tokens_of_a_prompt_are_bounded(tmp_path: Path) -> None:
    prompt = "start = torch.tensor([sp.bos_id()] + sp.encode('Once upon a time')).to(device)\n"
    for each in ("with", "without"):
        (tmp_path / each).mkdir()
    found = peak(of(tmp_path / "with", f"{PIECES}vocab_size = 400\n{prompt}"))
    assert found - peak(of(tmp_path / "without", "vocab_size = 400\n")) == 512


def test_how_many_pieces_there_are_only_a_run_tells(tmp_path: Path) -> None:
    found = of(tmp_path, f"{PIECES}vocab_size = sp.vocab_size()\n")
    assert ASSUMED in str(found["left_open"])


def test_a_size_that_is_left_open_is_that_of_gpt_2(tmp_path: Path) -> None:
    rounded = "vocab_size = (sp.vocab_size() + 63) // 64 * 64\n"
    (tmp_path / "open").mkdir()
    assert peak(of(tmp_path / "open", PIECES + rounded)) == peak(
        of(tmp_path, "vocab_size = 50304\n")
    )
