"""Which lines an ignore comment covers."""

from __future__ import annotations

import pytest

from nanolint.source.parse import parse
from nanolint.source.suppressions import Suppression, find


def suppressions(text: str) -> tuple[Suppression, ...]:
    found = find(parse(text).comments, text)
    for suppression in found:
        assert text[suppression.span.start : suppression.span.end].startswith("#")
        for code in suppression.codes:
            assert text[code.span.start : code.span.end] == code.text
    return found


def only(text: str) -> Suppression:
    (suppression,) = suppressions(text)
    return suppression


def codes(comment: str) -> list[str]:
    return [code.text for code in only(f"x = 1  {comment}\n").codes]


@pytest.mark.parametrize(
    ("comment", "expected"),
    [
        ("# nanolint: ignore", []),
        ("# nanolint: ignore because it is so", []),
        ("# nanolint: ignore[NL101]", ["NL101"]),
        ("# nanolint: ignore[NL101, thin-margin] fits on ours", ["NL101", "thin-margin"]),
        ("#nanolint:ignore[ NL101 ,NL102 , ]", ["NL101", "NL102"]),
        ("# Nanolint: ignore [NL101]", ["NL101"]),
        ("# nanolint: ignore[\u00e9\N{ROCKET}, NL101]", ["\u00e9\N{ROCKET}", "NL101"]),
    ],
)
def test_codes_and_names(comment: str, expected: list[str]) -> None:
    assert codes(comment) == expected
    assert only(f"x = 1  {comment}\n").malformed is None


@pytest.mark.parametrize(
    ("comment", "reason"),
    [
        ("# nanolint: ignore[NL101", "not closed"),
        ("# nanolint: ignore[]", "no code"),
        ("# nanolint: ignore[ , ]", "no code"),
        ("# nanolint: ignored", "expected"),
        ("# nanolint: ignore-line", "expected"),
        ("# nanolint: noqa", "expected"),
        ("# nanolint:", "expected"),
    ],
)
def test_a_malformed_comment_covers_nothing_and_says_why(comment: str, reason: str) -> None:
    suppression = only(f"x = 1  {comment}\n")
    assert suppression.malformed is not None
    assert reason in suppression.malformed
    assert not any(suppression.covers(row) for row in range(5))


def test_other_comments_and_strings_are_no_suppressions() -> None:
    text = (
        "# about nanolint: ignore\nx = '# nanolint: ignore'\n'''\n# nanolint: ignore\n'''\n# noqa\n"
    )
    assert suppressions(text) == ()


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("x = 1\ny = 2  # nanolint: ignore\nz = 3\n", (2, 2)),
        ("x = (\n    1,  # nanolint: ignore\n    2,\n)\n", (1, 4)),
        ("x = (\n    # nanolint: ignore\n    2,\n)\n", (1, 4)),
        ("x = 1 + \\\n    2  # nanolint: ignore\n", (1, 2)),
        ("x = '''\n'''  # nanolint: ignore\n", (1, 2)),
        ("x = f'''{\n1}'''  # nanolint: ignore\n", (1, 2)),
        ("# nanolint: ignore\nx = 1\n", (1, 2)),
        ("# nanolint: ignore\n\n# why\nx = (\n    1)\ny = 2\n", (1, 5)),
        ("if x:\n    # nanolint: ignore\n    y = 1\n", (2, 3)),
        ("x = 1\n# nanolint: ignore\n", (2, 2)),
        ("x = 1\r\ny = 2  # nanolint: ignore\r\n", (2, 2)),
        ("x = 1\ry = 2  # nanolint: ignore\r", (2, 2)),
        ("# nanolint: ignore\n", (1, 1)),
    ],
)
def test_a_suppression_covers_its_statement(text: str, rows: tuple[int, int]) -> None:
    suppression = only(text)
    assert (suppression.kind, suppression.malformed) == ("line", None)
    assert (suppression.first_row, suppression.last_row) == rows


@pytest.mark.parametrize("above", ["", "#!/usr/bin/python\n", "\ufeff", "\n\n# c\n"])
def test_a_file_suppression_covers_the_file(above: str) -> None:
    suppression = only(f"{above}# nanolint: ignore-file[NL101] why\nx = 1\ny = 2\n")
    assert suppression.kind == "file"
    assert all(suppression.covers(row) for row in range(1, 4))
    assert [code.text for code in suppression.codes] == ["NL101"]


def test_a_file_suppression_below_code_covers_nothing() -> None:
    suppression = only("x = 1\n# nanolint: ignore-file\n")
    assert suppression.malformed == "ignore-file must stand above the first statement"
    assert not suppression.covers(1)


def test_many_suppressions_are_found_in_no_time() -> None:
    text = "x = 1  # nanolint: ignore[NL101]\n" * 5000
    assert len(suppressions(text)) == 5000
