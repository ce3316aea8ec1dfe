"""What stands at a place of a half-typed text.

These take seconds each.
"""

from __future__ import annotations

import pytest

from nanolint.lsp.completion import complete
from nanolint.lsp.hover import hover
from nanolint.lsp.load import inlay_hints
from nanolint.trainers.nanogpt.project import NANOGPT
from tests.support.lsp_configs import RULES, SMALL, context_of
from tests.unit.lsp.test_cursor import TYPED


@pytest.mark.parametrize("end", range(len(TYPED) + 1))
def test_no_half_typed_text_is_too_odd(end: int) -> None:
    text = TYPED[:end] + TYPED[end + 1 :]
    context = context_of(SMALL)
    for offset in (0, end, len(text)):
        for each in complete(text, min(offset, len(text)), NANOGPT, RULES):
            assert 0 <= each.span.start <= each.span.end <= len(text)
        found = hover(context, text, min(offset, len(text)))
        assert found is None or 0 <= found.span.start < found.span.end <= len(text)
    assert all(hint.offset <= len(text) for hint in inlay_hints(context, text))
