"""What holds for every test: a busy machine may take its time."""

from __future__ import annotations

import math

from hypothesis import HealthCheck, settings

from nanolint.cli import processes

settings.register_profile(
    "any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("any machine")

# A worker process does not have what a test puts in the place of something.
processes.PARALLEL_AFTER_SECONDS = math.inf
