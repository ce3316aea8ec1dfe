"""With NANOLINT_ROWS=rest only rows are tested: all else was, with the sample."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if os.environ.get("NANOLINT_ROWS") == "rest":
        here = [item for item in items if "/tables/" in item.nodeid]
        again = [item for item in here if item.get_closest_marker("rows") is None]
        config.hook.pytest_deselected(items=again)
        items[:] = [item for item in items if item not in again]
