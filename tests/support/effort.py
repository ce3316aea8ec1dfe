"""How many examples each property is tried on: enough for every change, or as many as one likes.

NANOLINT_EXAMPLES=5000 pytest tests/properties
"""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings


def examples(usual: int) -> settings:
    """``usual`` examples, or what NANOLINT_EXAMPLES says."""
    return settings(
        max_examples=int(os.environ.get("NANOLINT_EXAMPLES", usual)),
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )
