"""Runs of Lightning's Trainer: what its arguments and a module's own methods do. Their bytes are in
the recorded table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.support.explained import explained

if TYPE_CHECKING:
    from pathlib import Path

HEAD = """
import torch
import torch.nn.functional as F
import lightning as L
from torch import nn
from torch.utils.data import DataLoader, Dataset

class Tokens(Dataset):
    def __len__(self):
        return 512
    def __getitem__(self, index):
        row = torch.randint(0, 1000, (65,))
        return row[:-1], row[1:]

class Net(L.LightningModule):
    def __init__(self, width=128, rate=1e-3):
        super().__init__()
        self.save_hyperparameters()
        self.wte = nn.Embedding(1000, self.hparams.width)
        self.head = nn.Linear(width, 1000)
    def loss(self, batch):
        x, y = batch
        return F.cross_entropy(self.head(self.wte(x)).view(-1, 1000), y.reshape(-1))
    def training_step(self, batch, batch_idx):
        return self.loss(batch)
    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=self.hparams.rate)

def loader(size=8):
    return DataLoader(Tokens(), batch_size=size)
"""


def told(folder: Path, script: str, *words: str) -> dict[str, Any]:
    return explained(folder, HEAD + script, *words, card="rtx-4090")


def peak(folder: Path, given: str = "", fit: str = "Net(), loader()", own: str = "") -> int:
    script = f"{own}\nL.Trainer(devices=1, max_steps=9, {given}).fit({fit})\n"
    found = told(folder, script)
    assert found["trust"] == "read", found
    return int(found["peak"]["allocated_bytes"])


def test_its_arguments_decide_what_a_step_takes(tmp_path: Path) -> None:
    plain = peak(tmp_path)
    assert peak(tmp_path, "precision='bf16-true'") < plain
    assert peak(tmp_path, "gradient_clip_val=1.0") >= plain
    assert peak(tmp_path, fit="Net(), loader(16)") > plain
    assert peak(tmp_path, fit="Net(width=256), loader()") > plain


def test_a_data_module_gives_the_batches(tmp_path: Path) -> None:
    own = """
class Data(L.LightningDataModule):
    def __init__(self, size=8):
        super().__init__()
        self.save_hyperparameters()
    def setup(self, stage):
        self.rows = Tokens()
    def train_dataloader(self):
        return DataLoader(self.rows, batch_size=self.hparams.size)
"""
    assert peak(tmp_path, fit="Net(), datamodule=Data()", own=own) == peak(tmp_path)
    assert peak(tmp_path, fit="Net(), Data(16)", own=own) > peak(tmp_path)


def test_an_evaluation_counts(tmp_path: Path) -> None:
    own = """
class Checked(Net):
    def validation_step(self, batch, batch_idx):
        self.log("loss", self.loss(batch))
"""
    large = peak(tmp_path, fit="Checked(), loader(), loader(128)", own=own)
    assert large > peak(tmp_path, fit="Checked(), loader(), loader()", own=own)
    none = peak(tmp_path, "limit_val_batches=0", "Checked(), loader(), loader(128)", own)
    assert none == peak(tmp_path)


def test_a_module_may_make_its_own_step(tmp_path: Path) -> None:
    own = """
class Own(Net):
    automatic_optimization = False
    def training_step(self, batch, batch_idx):
        optimizer = self.optimizers()
        optimizer.zero_grad()
        self.manual_backward(self.loss(batch))
        optimizer.step()
"""
    assert peak(tmp_path, fit="Own(), loader()", own=own) <= peak(tmp_path)


def test_the_micro_batch_stands_where_the_loader_is_made(tmp_path: Path) -> None:
    script = "L.Trainer(devices=1, max_steps=9).fit(Net(), DataLoader(Tokens(), batch_size=32))\n"
    found = told(tmp_path, script)
    assert found["roles"]["micro-batch"]["value"] == 32


@pytest.mark.parametrize("given", ["devices=2", "strategy='fsdp'", "strategy='deepspeed'"])
def test_several_cards_are_not_known(tmp_path: Path, given: str) -> None:
    found = told(tmp_path, f"L.Trainer(max_steps=9, {given}).fit(Net(), loader())\n")
    assert (found["trust"], found["peak"]) == ("unknown", None)


def test_an_argument_that_is_not_known_is_a_doubt(tmp_path: Path) -> None:
    found = told(tmp_path, "L.Trainer(max_steps=9, gpus=1).fit(Net(), loader())\n")
    assert "gpus" in " ".join(found["doubts"])


def test_a_command_line_of_lightning_is_not_passed_over(tmp_path: Path) -> None:
    text = (
        "from lightning.pytorch.cli import LightningCLI\n"
        "class OwnCLI(LightningCLI):\n    pass\n"
        'if __name__ == "__main__":\n    OwnCLI()\n'
    )
    found = explained(tmp_path, text)
    assert (found["trust"], found["peak"]) == ("unknown", None)


@pytest.mark.parametrize(
    "given", ["deterministic=True", "callbacks=[unheard.Averages()]", "plugins=[1]"]
)
def test_what_may_take_other_memory_is_a_doubt(tmp_path: Path, given: str) -> None:
    script = f"import unheard\nL.Trainer(devices=1, max_steps=9, {given}).fit(Net(), loader())\n"
    found = told(tmp_path, script)
    assert (found["trust"], found["peak"] is not None) == ("doubted", True)


@pytest.mark.parametrize("given", ["precision='transformer-engine'", "num_nodes=2"])
def test_other_precisions_and_nodes_are_not_known(tmp_path: Path, given: str) -> None:
    found = told(tmp_path, f"L.Trainer(devices=1, max_steps=9, {given}).fit(Net(), loader())\n")
    assert found["peak"] is None


def test_a_metric_or_a_schedule_that_waits_for_one_stops_nothing(tmp_path: Path) -> None:
    own = """
import torchmetrics
class Measured(Net):
    def __init__(self):
        super().__init__()
        self.right = torchmetrics.Accuracy(task="multiclass", num_classes=1000)
    def training_step(self, batch, batch_idx):
        self.log("right", self.right(torch.zeros(1), torch.zeros(1)))
        self.kept = len(self.state_dict())
        return self.loss(batch)
    def configure_optimizers(self):
        optimizer = torch.optim.AdamW(self.parameters(), lr=1e-3)
        plateau = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer)
        return {"optimizer": optimizer, "lr_scheduler": {"scheduler": plateau, "monitor": "loss"}}
"""
    script = f"{own}\nL.Trainer(devices=1, max_epochs=2).fit(Measured(), loader())\n"
    assert told(tmp_path, script)["peak"] is not None
