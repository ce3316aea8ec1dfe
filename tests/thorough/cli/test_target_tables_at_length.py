"""``[[tool.nanolint.target]]``: which card runs which files.

These take seconds each.
"""

from __future__ import annotations

from pathlib import Path

from tests.support.command import nanolint


def test_the_size_that_was_taken_for_a_name_is_said_once() -> None:
    for name in ("a.py", "b.py"):
        Path(name).write_text("batch_size = 4\nblock_size = 64\n", encoding="utf-8")
    outcome = nanolint("a.py", "b.py", "--gpu=a100")
    remark = "a100: assuming A100 40GB; for the other use A100 80GB\n"
    assert outcome.err == ""
    assert outcome.out.endswith(remark) and outcome.out.count(remark) == 1
    for command in ("explain", "fit"):
        told = nanolint(command, "a.py", "--gpu=a100")
        assert told.out.endswith(remark) and told.err == ""
    assert "for the other" not in nanolint("a.py", "--gpu=a100-80gb").out
    assert "for the other" not in nanolint("a.py", "--gpu=a100", "--output-format=json").out
