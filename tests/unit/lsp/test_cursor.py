"""What stands at a place of a half-typed text."""

from __future__ import annotations

import pytest

from nanolint.lsp.cursor import Kind, assigned_keys, assignment_line, cursor_at, name_at
from tests.support.lsp_configs import split

PLACES = [
    ("|", Kind.KEY, ""),
    ("bat|", Kind.KEY, "bat"),
    ("ba|tch = 4", Kind.KEY, "batch"),
    ("x = 1\n|\ny = 2", Kind.KEY, ""),
    ("x = 'open\nba|", Kind.KEY, "ba"),  # a quote that was never closed ends with its line
    ("x = (1,\nba|", Kind.KEY, "ba"),  # nor does a bracket swallow the keys below it
    ("dtype = |", Kind.VALUE, ""),
    ("dtype = 'bf|16'", Kind.VALUE, "'bf16'"),
    ("dtype: str = 'bf|", Kind.VALUE, "'bf"),
    ("dtype = 'float16'|", Kind.OTHER, ""),
    ("dtype = 'a' + |", Kind.OTHER, ""),
    ("  ba|", Kind.OTHER, ""),
    ("x == |", Kind.OTHER, ""),
    ("batch_size = 4  # no|", Kind.COMMENT, "# no"),
    ("'''\nba|\n'''", Kind.OTHER, ""),
    ("'''open\nba|", Kind.OTHER, ""),
    ("'''closed'''\nba|", Kind.KEY, "ba"),
    ("url = 'a#b|", Kind.OTHER, ""),
]


@pytest.mark.parametrize(("marked", "kind", "word"), PLACES)
def test_a_place_is_recognised_by_its_line(marked: str, kind: Kind, word: str) -> None:
    text, offset = split(marked)
    cursor = cursor_at(text, offset)
    assert (cursor.kind, text[cursor.span.start : cursor.span.end]) == (kind, word)


@pytest.mark.parametrize(
    ("marked", "name"),
    [
        ("batch|_size = 4", "batch_size"),
        ("batch_size| = 4", "batch_size"),
        ("x = 2 * batch|_size", "batch_size"),
        ("x = '|batch_size'", None),
        ("x = 'batch_|size'", None),
        ("x = 1  # batch|_size", None),
        ("x = config.batch|_size", None),
        ("x = 4|2", None),
        ("größe = 1; batch|_size = 2", "batch_size"),
    ],
)
def test_a_variable_is_found_in_code_only(marked: str, name: str | None) -> None:
    found = name_at(*split(marked))
    assert (found[0] if found else None) == name


def test_the_last_line_that_sets_a_key_counts_and_strings_do_not() -> None:
    text = "batch_size = 1\r\nbatch_size: int = 2\r\nx = '''\r\nbatch_size = 3\r\n'''\r\n"
    line = assignment_line(text, "batch_size")
    assert line is not None
    assert text[line.start : line.end] == "batch_size: int = 2"
    assert assigned_keys(text) == {"batch_size", "x"}
    assert assignment_line("batch_size == 1", "batch_size") is None


TYPED = "# ü\nbatch_size = 2 * 4  # nanolint: ignore[NL103]\ndtype = 'bf'\nx = (1,\n'''a\nb'''\n)\n"
