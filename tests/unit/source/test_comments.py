"""Comments that the tokenizer finds are those that libcst's tree has."""

from __future__ import annotations

import pytest

from nanolint.source.comments import comments_of
from tests.support.repository import ROOT

OURS = [
    path.read_text(encoding="utf-8")
    for folder in ("validation", "scripts", "nanolint/source")
    for path in sorted((ROOT / folder).glob("*.py"))
]
TEXTS = [
    "# a\r\nx = 1  # b\r\n\r\n# c\r\n",
    "x = '# no'\ny = '''\n# no\n'''  # yes ü\n",
    "x = (  # a\n    1,  # b\n    # c\n)\n# end",
    "if x:\n\ty = 1  # tab\n\t# own\n",
    "x = rb'#'  # a\ny = '''\\'#'''  # b\nz = u'\\'#'  # c\n",
    "x = f'{y}#'  # a\nz = f'{y[\"#\"]:{w}}'  # b\nv = f'{{#'  # c\n",
    "bar = 1  # a\nif x:  # b\n    rf = '#'\nelse: b'#'  # c\n",
    "x = 'a' \\\n    '#b'  # c\ny = ''  # d\nz = \"\"  # e\n''''''  # f\n",
    "",
]


@pytest.mark.parametrize("text", ["x = 1\r# a\r", "\ufeff# a\n", "x = '\n# a"])
def test_elsewhere_a_parser_is_asked(text: str) -> None:
    assert comments_of(text) is None
