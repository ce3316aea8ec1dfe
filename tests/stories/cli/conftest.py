"""No GPU, no settings and no terminal but those that a test brings."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from nanolint.settings import targets

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(autouse=True)
def bare_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".git").mkdir()  # the search for train.py ends here
    (tmp_path / "nanolint.toml").touch()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(targets, "_local_gpu", lambda: None)
    for variable in ("NANOLINT_GPU", "NANOLINT_TRACEBACK", "NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(variable, raising=False)
