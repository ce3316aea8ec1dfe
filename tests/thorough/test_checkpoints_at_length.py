"""Scripts that go on from a checkpoint if there is one.

These take seconds each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.explained import explained

if TYPE_CHECKING:
    from pathlib import Path
from tests.unit.trainers.test_checkpoints import FINE_TUNED, MADE


@pytest.mark.parametrize("device", ["device", "torch.device('cuda:0')", "lambda s, l: s.cuda()"])
def test_weights_lie_on_the_card_until_their_name_goes(tmp_path: Path, device: str) -> None:
    loading = [
        "model = Net()",
        f"state = torch.load('base.pt', map_location={device})",
        "for name in list(state.keys()):",
        "    if name.startswith('_orig_mod.'):",
        "        state[name[10:]] = state.pop(name)",
        "model.load_state_dict(state, strict=False)",
    ]
    text = FINE_TUNED.replace(MADE, "\n".join((*loading, "model.to(device)")))
    kept = explained(tmp_path, text)
    gone = explained(tmp_path, text.replace("model.to(", "del state\nmodel.to("))
    if device.startswith("lambda"):  # where it puts them is not followed
        assert kept["peak"] == gone["peak"]
    else:
        assert kept["peak"]["allocated_bytes"] - gone["peak"]["allocated_bytes"] == 2 * 12_800_000
    for each in (kept, gone):
        (doubt,) = each["doubts"]
        assert "train.py:" in doubt
