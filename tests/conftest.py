"""What holds for every test: a busy machine may take its time, and examples are always the same.

``NANOLINT_EXPLORE=1 pytest tests/properties`` draws new examples.
"""

from __future__ import annotations

import math
import os

from hypothesis import HealthCheck, settings

from nanolint.cli import processes

SLOW = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("the same", derandomize=True, database=None, **SLOW)
settings.register_profile("others", **SLOW)
settings.load_profile("others" if os.environ.get("NANOLINT_EXPLORE") else "the same")

# A worker process does not have what a test puts in the place of something.
processes.PARALLEL_AFTER_SECONDS = math.inf
