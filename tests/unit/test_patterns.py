"""Patterns of the settings match as those of .gitignore do."""

from __future__ import annotations

from pathlib import Path

import pytest

from nanolint.files.repository import matches

ROOT = Path("/project")


@pytest.mark.parametrize(
    ("pattern", "place", "expected"),
    [
        ("*.py", "config/sub/a.py", True),
        ("a.py", "config/sub/a.py", True),
        ("config", "config/a.py", False),
        ("config/*.py", "config/a.py", True),
        ("config/*.py", "config/sub/a.py", False),
        ("config/*.py", "old/config/a.py", False),
        ("config/**/*.py", "config/a.py", True),
        ("config/**/*.py", "config/sub/deep/a.py", True),
        ("**/node_*.py", "config/sub/node_1.py", True),
        ("config/sub", "config/sub/a.py", True),
        ("config/", "config/sub/a.py", True),
        ("config/[ab].py", "config/b.py", True),
        ("../*.py", "../a.py", True),
        ("A.py", "a.py", False),
    ],
)
def test_matches(pattern: str, place: str, expected: bool) -> None:
    assert matches(ROOT / place, (pattern,), ROOT) is expected
