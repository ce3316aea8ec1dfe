"""Losses that say how they are reduced as programs did before ``reduction``; several samples.

These take seconds each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.explained import explained

if TYPE_CHECKING:
    from pathlib import Path
from tests.unit.interpreter.test_said_reductions import LOSSES, NOW, TEXT


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("said", NOW)
def test_it_is_the_reduction_that_it_stands_for(tmp_path: Path, loss: str, said: str) -> None:
    before, now = (
        explained(tmp_path, TEXT.replace("LOSS", loss.replace("SAID", each)))
        for each in (said, NOW[said])
    )
    assert before["trust"] == now["trust"] == "read"
    assert before["phases"] == now["phases"]
    assert before["peak"] == now["peak"]
