from __future__ import annotations

import pytest

from nanolint.units import parse_size


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("2GiB", 2 * 1024**3),
        ("2 gib", 2 * 1024**3),
        ("512MiB", 512 * 1024**2),
        ("1.5GB", 1_500_000_000),
        ("800MB", 800_000_000),
        ("4K", 4096),
        ("4KB", 4000),
        ("1G", 1024**3),
        ("1024B", 1024),
        ("6593445888", 6_593_445_888),
        ("0", 0),
        ("0.1GiB", 107_374_182),
    ],
)
def test_units(text: str, size: int) -> None:
    assert parse_size(text) == size


@pytest.mark.parametrize(
    "text",
    [
        "",
        "GiB",
        "-1GiB",
        "1e9",
        "1e999GB",
        "nan",
        "2 potatoes",
        "1,5GB",
        ".",
        "2",
        "0.5",
        "9" * 10**6,
    ],
)
def test_anything_else_is_refused_on_one_line(text: str) -> None:
    with pytest.raises(ValueError, match="is not a size; write a number and a unit") as error:
        parse_size(text)
    assert len(str(error.value)) < 150
