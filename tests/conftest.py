"""What holds for every test: a busy machine may take its time, and examples are always the same.

``scripts/test --explore`` draws new examples.
"""

from __future__ import annotations

import math
import os
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

from nanolint.cli import processes
from tests.support.installed import install

if TYPE_CHECKING:
    from pathlib import Path

SLOW = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("the same", SLOW, derandomize=True, database=None)
settings.register_profile("others", SLOW)
settings.load_profile("others" if os.environ.get("NANOLINT_EXPLORE") else "the same")

# A worker process does not have what a test puts in the place of something.
processes.PARALLEL_AFTER_SECONDS = math.inf


@pytest.fixture(scope="session")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The script of the wheel, built and installed once."""
    return install(tmp_path_factory.mktemp("wheel"))
