"""What would help a script that calls its values otherwise than nanoGPT: told by its own names.

These take seconds each.
"""

from __future__ import annotations

import re
from pathlib import Path

from tests.stories.cli.test_ways_out_of_scripts import LARGE, explained, script, ways_out
from tests.support.command import nanolint


def test_where_no_accumulation_keeps_the_step_the_batch_that_fits_is_told() -> None:
    """The loop goes backward once: half, half of that, and so on, where nothing keeps the batch."""
    path = Path("train.py")
    text = path.read_text(encoding="utf-8")
    text = text.replace("range(passes)", "range(1)")
    path.write_text(text, encoding="utf-8")
    told = ways_out("--batch-size=64")
    assert told == ["same result, slower", "blocks in torch.utils.checkpoint"]
    path.write_text(text.replace("block(x)", "block.forward(x)"), encoding="utf-8")
    told = ways_out("--batch-size=64")
    assert "another effective batch" in told
    smaller = told[told.index("another effective batch") + 1]
    found = re.fullmatch(r"--batch-size=(\d+) \(effective batch (\d+)\)", smaller)
    assert found
    assert found[1] == found[2]
    assert "\nfits RTX 3060 8GB" in explained(smaller.split()[0])


def test_where_nothing_helps_the_smallest_micro_batch_is_said_to_have_been_tried() -> None:
    words = ("--batch-size=64", f"--total-batch-size={64 * 1024}")
    out = nanolint("explain", "--gpu=680MiB", "--color=never", "train.py", "--", *LARGE, *words).out
    assert "nothing that was tried, even with --batch-size=1" in out


__all__ = ["script"]  # fixtures
