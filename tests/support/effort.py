"""How many examples each property is tried on: enough for every change, or as many as one likes.

NANOLINT_EXAMPLES=5000 pytest tests/properties
"""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings


def examples(usual: int) -> settings:
    """``usual`` examples, ten times as many to explore, or what NANOLINT_EXAMPLES says."""
    explored = 10 * usual if os.environ.get("NANOLINT_EXPLORE") else usual
    return settings(
        max_examples=int(os.environ.get("NANOLINT_EXAMPLES", explored)),
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )
