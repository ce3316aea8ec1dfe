"""docs/language-server.md shows what the language server says."""

from __future__ import annotations

import re

from nanolint.lsp.choosing import LIST_GPUS, SELECT_TARGET
from nanolint.lsp.hover import hover
from nanolint.lsp.load import code_lenses, inlay_hints
from tests.support.lsp_configs import context_of
from tests.support.repository import ROOT

PAGE = ROOT / "docs" / "language-server.md"


def test_the_page_shows_the_hover_the_hint_and_the_lens_of_its_example() -> None:
    page = PAGE.read_text(encoding="utf-8")
    found = re.search(r'```python [^\n]*gpu="([^"]+)"\n(.*?)```', page, re.DOTALL)
    assert found is not None
    gpu, example = found.groups()
    context = context_of(example, gpu=gpu)
    shown = hover(context, example, 1)
    assert shown is not None
    (hint,) = inlay_hints(context, example)
    blocks = re.findall(r"```text\n(.*?)\n```", page, re.DOTALL)
    assert blocks == [shown.markdown, "\n".join([hint.label, *code_lenses(context)])]


def test_the_page_names_the_commands() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert f"`{SELECT_TARGET}`" in page and f"`{LIST_GPUS}`" in page
