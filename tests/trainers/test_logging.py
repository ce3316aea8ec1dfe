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
    ],
)
def test_what_is_logged_takes_nothing(tmp_path: Path, before: str, after: str) -> None:
    found = read(tmp_path, before, after)
    assert (found["trust"], found["doubts"]) == ("read", [])
    assert found["peak"]["allocated_bytes"] == rows()["loops: plain"]["allocated"]


@pytest.mark.parametrize(
    "call", ["import wandb; wandb.watch(model)", "SummaryWriter().add_graph(model)"]
)
def test_what_a_logger_does_with_a_model_is_a_doubt(tmp_path: Path, call: str) -> None:
    before = f"from torch.utils.tensorboard import SummaryWriter\n{call}\n"
    (doubt,) = read(tmp_path, before)["doubts"]
    assert doubt.startswith("what is logged of the model is not known (train.py:")
