"""Several processes answer as one does, for every kind of project.

These take seconds each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from nanolint.cli import processes
from tests.support.command import nanolint
from tests.support.project_tree import write_project

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
from tests.stories.cli.test_worker_processes import KINDS


@pytest.mark.parametrize("kind", KINDS)
def test_what_workers_are_handed_and_hand_back_can_be_sent(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name, files = KINDS[kind]
    write_project(tmp_path, files)
    cards = ("--gpu=rtx-3060", "--gpu=rtx-4090")
    alone = nanolint("fit", name, *cards)
    assert (alone.status, alone.err) == (0, ""), alone
    from_pool: list[bool] = []

    def watched(*given: Any) -> Iterator[list[Any] | None]:
        for results in in_pool(*given):
            from_pool.append(results is not None)
            yield results

    in_pool = processes._in_pool
    monkeypatch.setattr(processes, "_in_pool", watched)
    monkeypatch.setattr(processes, "_processors", lambda: 2)
    monkeypatch.setattr(processes, "PARALLEL_AFTER_SECONDS", -1)
    assert nanolint("fit", name, *cards) == alone
    assert from_pool == [True, True]
