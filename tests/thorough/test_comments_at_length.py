"""Comments that the tokenizer finds are those that libcst's tree has.

These take seconds each.
"""

from __future__ import annotations

import pytest

from nanolint.source.comments import comments_of
from nanolint.source.parse import parse
from tests.unit.source.test_comments import OURS, TEXTS


@pytest.mark.parametrize("text", [*TEXTS, *OURS])
def test_they_agree(text: str) -> None:
    assert comments_of(text) == parse(text).comments
