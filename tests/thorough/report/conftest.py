"""The findings that the other tests of the formats have."""

from __future__ import annotations

from tests.unit.report.conftest import oom, results

__all__ = ["oom", "results"]
