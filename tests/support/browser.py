"""A real browser: what a page holds once its scripts have run."""

from __future__ import annotations

import os
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

REQUIRED = "NANOLINT_REQUIRE_BROWSER"  # CI sets it: without Chromium the tests fail there
NAMES = ("chromium", "chromium-browser", "google-chrome")
SECONDS = 120


def find_browser() -> str:
    """Chromium's command; the test that asks is skipped, in CI fails, where there is none."""
    found = next(filter(None, map(shutil.which, NAMES)), None)
    if found is not None:
        return found
    if os.environ.get(REQUIRED):
        pytest.fail(f"Chromium is not installed, and {REQUIRED} is set")
    pytest.skip("Chromium is not installed")


def loaded(page: Path | str, home: Path, *, budget_ms: int = 5000) -> str:
    """The document of ``page``, a file or an address, after its scripts have run for a while."""
    address = page if isinstance(page, str) else page.as_uri()
    run = subprocess.run(
        [
            *(find_browser(), "--headless", "--no-sandbox", "--disable-gpu"),
            *(f"--user-data-dir={home}", "--window-size=1280,900"),
            *(f"--virtual-time-budget={budget_ms}", "--dump-dom", address),
        ],
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    return run.stdout
