"""What a script writes down takes nothing of the card."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.support.explained import explained
from validation.record_variations import CARD, rows
from validation.variations import TEXTS

if TYPE_CHECKING:
    from pathlib import Path

LOOP = "for step in range(100):"


def read(folder: Path, before: str, after: str = "") -> dict[str, Any]:
    text = TEXTS["loops: plain"].rstrip()
    assert text.count(LOOP) == 1
    return explained(folder, f"{text.replace(LOOP, f'{before}{LOOP}')}\n{after}", card=CARD)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "from torch.utils.tensorboard import SummaryWriter\nw = SummaryWriter()\n",
            "    w.add_scalar('loss', loss, step)\n",
        ),
        ("import wandb\nwandb.init()\n", "    wandb.log({'loss': loss})\n"),
        ("import logging\nlog = logging.getLogger(__name__)\nlog.info('%s', model)\n", ""),
        ("torch.cuda.memory._record_memory_history(max_entries=9)\n", ""),
        ("if os.name != 'nt': torch.set_float32_matmul_precision('high')\n", ""),
        (
            "from tqdm import tqdm\nbar = tqdm(total=100, desc='steps')\n",
            "    bar.set_postfix_str(tqdm.format_sizeof(9))\n    bar.update()\n    bar.refresh()\n",
        ),
    ],
)
def test_what_is_logged_takes_nothing(tmp_path: Path, before: str, after: str) -> None:
    found = read(tmp_path, before, after)
    assert (found["trust"], found["doubts"]) == ("read", [])
    assert found["peak"]["allocated_bytes"] == rows()["loops: plain"]["allocated"]


@pytest.mark.parametrize("bar", ["tqdm(range(100), desc='steps')", "trange(0, 100, ncols=80)"])
def test_a_bar_around_the_loop_takes_nothing(tmp_path: Path, bar: str) -> None:
    text = TEXTS["loops: plain"].rstrip().replace(LOOP, f"bar = {bar}\nfor step in bar:")
    said = "    bar.set_postfix(loss=loss.item(), rate=len(bar))\n    bar.set_description('x')\n"
    found = explained(tmp_path, f"from tqdm import tqdm, trange\n{text}\n{said}", card=CARD)
    assert (found["trust"], found["doubts"]) == ("read", [])
    assert found["peak"]["allocated_bytes"] == rows()["loops: plain"]["allocated"]


def test_how_far_a_bar_is_decides_nothing_that_is_known(tmp_path: Path) -> None:
    before = "from tqdm import tqdm\nbar = tqdm(total=100)\n"
    found = read(tmp_path, before, "    if bar.n > 1: kept = torch.zeros(1000000, device='cuda')\n")
    assert found["trust"] not in ("read", "exact")


@pytest.mark.parametrize(
    "call", ["import wandb; wandb.watch(model)", "SummaryWriter().add_graph(model)"]
)
def test_what_a_logger_does_with_a_model_is_a_doubt(tmp_path: Path, call: str) -> None:
    before = f"from torch.utils.tensorboard import SummaryWriter\n{call}\n"
    (doubt,) = read(tmp_path, before)["doubts"]
    assert doubt.startswith("nanolint does not model this logging of the model (train.py:")


@pytest.mark.parametrize("kept", ["5, device=device", "5, device=device, dtype=torch.float64"])
def test_losses_may_be_kept_on_the_card(tmp_path: Path, kept: str) -> None:
    """The number that ``loss.item()`` gives need not be known to be written down."""
    text = TEXTS["loops: evaluation function"]
    assert text.count("torch.zeros(5)") == 1
    found = explained(tmp_path, text.replace("zeros(5)", f"zeros({kept})"), card=CARD)
    known = rows()["loops: evaluation function"]["allocated"]
    assert (found["trust"], found["doubts"]) == ("read", [])
    assert found["peak"]["allocated_bytes"] in range(known, known + 4096)
