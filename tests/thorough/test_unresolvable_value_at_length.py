"""

These take seconds each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.harness import Bench
from tests.support.project_tree import SETUP, train_script, write_project

if TYPE_CHECKING:
    from pathlib import Path
from tests.unit.rules.reading.test_unresolvable_value import without


@pytest.mark.parametrize("text", ["batch_size = 8\nblock_size = 64\n", "bias = True\nn_head = 6\n"])
def test_a_nanogpt_key_that_only_another_script_still_has_leaves_memory_judged(
    tmp_path: Path, text: str
) -> None:
    """A config inherits nothing by it, and configs are copied with keys that a fork dropped."""
    bare = train_script(
        settings=without("bias"),
        setup=SETUP.replace(
            "model_args['bias'], model_args['dropout'] = bias, dropout",
            "model_args['dropout'] = dropout",
        ),
    )
    files: dict[str, str | bytes] = {"train.py": bare, "train_moe.py": train_script()}
    path = write_project(tmp_path, files) / "config" / "a.py"
    assert Bench("NL004", path=path).findings(text) == []
