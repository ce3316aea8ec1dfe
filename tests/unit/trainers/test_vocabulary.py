"""The size of a tokenizer that only a run reads, from where the project says it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from nanolint.files.notes import forget
from nanolint.trainers.script.tokenizers import project_vocabulary

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("VOCAB_SIZE = 8192\n", 8192),
        ("VOCAB_SIZE: int = 2**13  # of the tokenizer\n", 8192),
        ('parser.add_argument("--vocab-size", type=int, default=2**16, help="(32768)")\n', 65536),
        ("parser.add_argument('--vocab_size', type=int, default=50_304)\n", 50304),
        ("VOCAB_SIZE = 8192\nVOCAB_SIZE = 4096\n", None),  # which of them?
        ("VOCAB_SIZE = 64\n", None),  # no tokenizer
        ("VOCAB_SIZE = len(words)\n", None),
        ("  VOCAB_SIZE = 8192\n", None),
        ("", None),
    ],
)
def test_a_size_is_taken_where_there_is_one(tmp_path: Path, text: str, size: int | None) -> None:
    forget()
    (tmp_path / "prepare.py").write_text(text, encoding="utf-8")
    found = project_vocabulary((tmp_path,))
    assert (None if found is None else found.value) == size
    assert found is None or found.place.line == 1
