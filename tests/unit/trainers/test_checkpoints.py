"""Scripts that go on from a checkpoint if there is one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.support.explained import explained
from tests.unit.trainers.test_own_data import HEAD, LOOP, NET, peak

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


LISTED = SCRIPT.replace(
    "if not os.path.exists(os.path.join('out', 'ckpt.pt')):",
    "import glob\n    if not glob.glob(os.path.join('out', 'model_*.pt')):",
)


def test_a_pattern_of_checkpoints_finds_none(tmp_path: Path) -> None:
    assert peak(explained(tmp_path, LISTED)) == peak(explained(tmp_path, SCRIPT))


def test_data_of_such_a_name_are_no_checkpoint(tmp_path: Path) -> None:
    (tmp_path / "tokens.pt").write_bytes(b"")
    assert peak(explained(tmp_path, SCRIPT)) > 0
    (tmp_path / "model_100.pt").write_bytes(b"")
    assert explained(tmp_path, LISTED)["trust"] == "unknown"


FINE_TUNED = f"""{HEAD}
vocab_size = 50_000
def get_batch():
    x = torch.randint(vocab_size, (B, T))
    return x, x
{NET}
{LOOP}
"""
MADE = "model = Net().to(device)"


def fine_tuned(folder: Path, *loading: str) -> dict[str, Any]:
    assert MADE in FINE_TUNED
    return explained(folder, FINE_TUNED.replace(MADE, "\n".join((*loading, MADE))))


def test_weights_of_an_entry_are_counted_and_the_others_doubted(tmp_path: Path) -> None:
    found = fine_tuned(
        tmp_path,
        "model = Net()",
        "saved = torch.load('base.pt', map_location=device)",
        "model.load_state_dict(saved['model'])",
        "step = saved['step']",
    )
    without = explained(tmp_path, FINE_TUNED)
    more = found["peak"]["allocated_bytes"] - without["peak"]["allocated_bytes"]
    assert more == 2 * 12_800_000
    (doubt,) = found["doubts"]
    assert "nothing else of the file is counted (train.py:" in doubt


def test_what_no_model_takes_is_not_counted_and_said(tmp_path: Path) -> None:
    found = fine_tuned(tmp_path, "table = torch.load('table.pt', map_location='cuda')")
    assert found["doubts"] == [
        "the size of what is loaded to the card here is not known (train.py:27)"
    ]


def test_without_map_location_it_is_not_known_where_weights_lie(tmp_path: Path) -> None:
    loading = ["first = Net()", "first.load_state_dict(torch.load('base.pt'))"]
    (doubt,) = fine_tuned(tmp_path, *loading)["doubts"]
    assert "without map_location" in doubt


@pytest.mark.parametrize("device", ["'cpu'", "lambda storage, place: storage"])
def test_weights_of_the_host_are_no_matter(tmp_path: Path, device: str) -> None:
    loading = ["first = Net()", f"state = torch.load('base.pt', map_location={device})"]
    found = fine_tuned(tmp_path, *loading, "first.load_state_dict(state)")
    assert found["doubts"] == []
    assert peak(found) == peak(explained(tmp_path, FINE_TUNED))


def test_two_models_have_their_own_weights(tmp_path: Path) -> None:
    """A policy and what it is compared with, both from one function."""
    start = ["def start(width):", "    made = Net(width)"]
    start += ["    state = torch.load('base.pt', map_location=device)"]
    start += ["    made.load_state_dict(state)", "    return made.to(device)"]
    both = [*start, "model = start(64)", "reference = start(128)"]
    text = FINE_TUNED.replace(MADE, "\n".join(both))
    found = explained(tmp_path, text)
    assert found["phases"][0]["allocated_bytes"] == 25_600_000 + 2 * 51_200_000
    assert len(found["doubts"]) == 1


RESUMED = """
import argparse, torch
from torch.nn import functional as F
parser = argparse.ArgumentParser()
parser.add_argument("--width", type=int, default=64)
parser.add_argument("--rows", type=int, default=4)
args = parser.parse_args()
saved = torch.load("last.pt", map_location="cpu")
TAKES
class Net(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.inner = torch.nn.Embedding(5000, width)
        self.head = torch.nn.Linear(width, 5000)
    def forward(self, x):
        return F.cross_entropy(self.head(self.inner(x)).flatten(0, 1), x.flatten())
model = Net(args.width).cuda()
model.load_state_dict(saved["model"])
optimizer = torch.optim.AdamW(model.parameters())
for step in range(20):
    loss = model(torch.randint(5000, (args.rows, 64), device="cuda"))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
TAKES = [
    "args.width = saved['args'].width",
    "for key in ['width']:\n    setattr(args, key, saved['args'][key])",
    "vars(args).update(saved['args'])",
    "args.__dict__.update(saved['args'])",
    "args = saved['args']",
    "def pick(width, bias=False): return width\nargs.width = pick(**saved['config'])",
]


@pytest.mark.parametrize("takes", TAKES)
def test_sizes_that_a_checkpoint_decides_are_asked_for(tmp_path: Path, takes: str) -> None:
    text = RESUMED.replace("TAKES", takes)
    untold = explained(tmp_path, text)
    assert untold["peak"] is None
    assert "width; --set gives it" in untold["unresolved"][0]["reason"]
    told = explained(tmp_path, text, "--set", "width=256", "--set", "rows=4")
    fresh = explained(tmp_path, RESUMED.replace("TAKES", ""), "--set", "width=256")
    assert told["peak"] == fresh["peak"]
    (doubt,) = told["doubts"]
    assert doubt.startswith("assuming that the checkpoint it resumes from has the settings")
