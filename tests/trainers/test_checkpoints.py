"""Scripts that go on from a checkpoint if there is one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.support.explained import explained
from tests.trainers.test_own_data import HEAD, LOOP, NET, peak

if TYPE_CHECKING:
    from pathlib import Path

SCRIPT = f"""{HEAD}
vocab_size = 50
def get_batch():
    x = torch.randint(vocab_size, (B, T))
    return x, x
{NET}
def start(model):
    if not os.path.exists(os.path.join('out', 'ckpt.pt')):
        return 0
    model.load_state_dict(torch.load(os.path.join('out', 'ckpt.pt'))['model'])
    return 1
{LOOP.replace("for it", "first = start(model)" + chr(10) + "for it")}
"""


def test_none_is_there_so_training_begins(tmp_path: Path) -> None:
    assert peak(explained(tmp_path, SCRIPT)) > 0


def test_whether_it_goes_on_is_not_known_where_one_is(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "step-9.pt").write_bytes(b"")
    assert explained(tmp_path, SCRIPT)["trust"] == "unknown"
