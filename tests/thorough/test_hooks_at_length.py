"""The hooks under the real pre-commit, in a throw-away repository that takes them from here.

pre-commit installs this checkout, as it stands, into an environment of its own.

These take seconds each.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    import pytest
from tests.stories.test_hooks import (
    CONFIG,
    FIXED,
    LARGE,
    Repository,
    environment,
    published,
    repository,
    run,
)


def test_a_commit_is_refused_and_passes_once_corrected(repository: Repository) -> None:
    repository.write(CONFIG, LARGE)
    passed, told = repository.commit()
    assert not passed
    assert "does not fit RTX 4070" in told
    assert repository.text() == LARGE
    repository.write(CONFIG, FIXED)
    assert repository.commit()[0]


def test_a_hook_without_a_target_is_seen_although_it_passes(repository: Repository) -> None:
    hooks = repository.root / ".pre-commit-config.yaml"
    text = hooks.read_text(encoding="utf-8").replace("    args: [--gpu=rtx-4070]\n", "")
    repository.write(hooks.name, text)
    repository.write(CONFIG, LARGE)
    passed, told = repository.commit()
    assert passed
    assert "--gpu" in told


def test_python_files_that_are_no_configs_pass(repository: Repository) -> None:
    repository.write("tools/plot.py", "import sys\n\nwidth = 3\nprint(sys.argv, width)\n")
    repository.write("config/__init__.py", "")
    assert repository.commit()[0]


def test_try_repo(repository: Repository, published: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NANOLINT_GPU", "rtx-4070")  # try-repo takes no arguments for the hook
    repository.write(CONFIG, LARGE)
    done = run(
        *(sys.executable, "-m", "pre_commit", "try-repo", str(published), "nanolint"),
        *("--files", CONFIG),
        cwd=repository.root,
        check=False,
    )
    assert done.returncode == 1
    assert "does not fit RTX 4070" in done.stdout


__all__ = ["environment", "published", "repository"]  # fixtures
