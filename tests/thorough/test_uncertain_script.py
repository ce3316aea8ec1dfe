"""NL301 and NL313 where several scripts may run the config: nobody knows what its names mean."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.harness import Bench
from tests.support.project_tree import train_script, write_project

if TYPE_CHECKING:
    from pathlib import Path

TEXT = """\
# 12 batch size * 1024 block size * 5 gradaccum * 8 GPUs = 491,520
batch_size = 4
block_size = 1024
gradient_accumulation_steps = 15 * 8
optimizer_kind = 'lion'
"""


@pytest.mark.parametrize("code", ["NL301", "NL313"])
def test_silent_unless_it_is_certain_which_script_runs_the_config(
    tmp_path: Path, code: str
) -> None:
    one = write_project(tmp_path / "one") / "config" / "a.py"
    assert Bench(code, path=one).findings(TEXT)
    two = write_project(tmp_path / "two", {"train_b.py": train_script()}) / "config" / "a.py"
    assert Bench(code, path=two).findings(TEXT) == []
    launched = {"train_b.py": train_script(), "run.sh": "python train.py config/a.py\n"}
    three = write_project(tmp_path / "three", launched) / "config" / "a.py"
    assert Bench(code, path=three).findings(TEXT)
