"""Files by ``pathlib``: what is not known of one ends no script."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.support.explained import explained
from validation.variations import TEXTS

if TYPE_CHECKING:
    from pathlib import Path

BASE = TEXTS["settings: base"]


def test_the_size_of_a_file_that_is_printed_is_no_error(tmp_path: Path) -> None:
    above = "from pathlib import Path\nsize = Path('corpus.txt').stat().st_size\nprint(size)\n"
    found = explained(tmp_path, above + BASE)
    assert found["trust"] == "read", found
    assert found["peak"] == explained(tmp_path, BASE)["peak"]


def test_what_a_path_gives_besides_is_the_reason_where_memory_hangs_on_it(tmp_path: Path) -> None:
    above = "from pathlib import Path\nwidth = Path('corpus.txt').stat().st_size\n"
    text = above + BASE.replace(
        "B, T, V, C = 8, 256, 1000, 128", "B, T, V, C = 8, 256, 1000, width"
    )
    found = explained(tmp_path, text)
    assert found["trust"] == "unknown"
    assert "AttributeError" not in str(found)
