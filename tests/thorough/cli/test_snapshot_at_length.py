"""``explain --snapshot``: a memory snapshot as PyTorch writes it, of a run that nobody has run.

These take seconds each.
"""

from __future__ import annotations

import pickletools
from pathlib import Path

from tests.stories.cli.test_snapshot import VIEWER_READS, snapshot


def test_the_viewer_can_read_it() -> None:
    snapshot("a100-40gb")
    codes = {code.name for code, _, _ in pickletools.genops(Path("run.pickle").read_bytes())}
    assert codes <= VIEWER_READS
