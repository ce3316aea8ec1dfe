"""Every rule about PyTorch's calls speaks on a train.py that was changed, and only then.

These take seconds each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.support.project_tree import (
    train_script,
    write_project,
)

if TYPE_CHECKING:
    from pathlib import Path

from tests.unit.rules.torch.test_train_script import RIGHT, bench, changed, every_rule


@every_rule
def test_only_the_change_is_found(code: str, tmp_path: Path) -> None:
    text = changed(code)
    root = write_project(tmp_path, {"train.py": text})
    assert len(bench(code, root).findings(text)) == 1
    assert bench(code, root).findings(train_script(**RIGHT)) == []
