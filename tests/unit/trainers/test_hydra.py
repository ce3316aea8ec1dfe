"""Scripts whose settings hydra puts together of the project's files."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.command import nanolint
from tests.support.explained import explained

if TYPE_CHECKING:
    from pathlib import Path

SCRIPT = """
import hydra
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self, width, layers):
        super().__init__()
        self.wte = nn.Embedding(1000, width)
        self.layers = nn.Sequential(*[nn.Linear(width, width) for _ in range(layers)])
        self.head = nn.Linear(width, 1000)
    def forward(self, x):
        return self.head(self.layers(self.wte(x)))

@hydra.main(DECORATED)
def main(cfg):
    net = Net(cfg.model.width, cfg.model.layers).cuda()
    optimizer = OPTIMIZER
    for step in range(cfg.steps):
        x = torch.randint(0, 1000, (cfg.batch_size, 128)).cuda()
        loss = nn.functional.cross_entropy(net(x).view(-1, 1000), x.view(-1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

if __name__ == "__main__":
    main()
"""
DECORATED = 'version_base=None, config_path="conf", config_name="config"'
OPTIMIZER = "torch.optim.AdamW(net.parameters(), lr=cfg.optimizer.lr * 0.5)"
CONFIG = """
defaults:
  - model: small
  - _self_
batch_size: 16
steps: 100
optimizer:
  _target_: torch.optim.AdamW
  lr: 3e-4
model:
  layers: 3
"""


def read(
    folder: Path,
    decorated: str = DECORATED,
    optimizer: str = OPTIMIZER,
    config: str = CONFIG,
    script: str = SCRIPT,
) -> dict[str, Any]:
    (folder / "conf" / "model").mkdir(parents=True)
    for name, text in {"config": config, "model/small": "width: 64\nlayers: 1\n"}.items():
        (folder / "conf" / f"{name}.yaml").write_text(text, encoding="utf-8")
    text = script.replace("DECORATED", decorated).replace("OPTIMIZER", optimizer)
    return explained(folder, text)


def test_a_run_of_its_files_is_that_of_their_values(tmp_path: Path) -> None:
    found = read(tmp_path / "composed")
    plain = SCRIPT.replace("import hydra\n", "").replace("@hydra.main(DECORATED)\n", "")
    for name, value in {
        "OPTIMIZER": "torch.optim.AdamW(net.parameters(), lr=1e-4)",
        "main(cfg)": "main()",
        "cfg.model.width": "64",
        "cfg.model.layers": "3",
        "cfg.batch_size": "16",
        "cfg.steps": "100",
    }.items():
        plain = plain.replace(name, value)
    assert (found["trust"], found["doubts"]) == ("read", [])
    assert found["peak"] == explained(tmp_path, plain)["peak"]


def test_what_it_instantiates_is_read(tmp_path: Path) -> None:
    optimizer = "hydra.utils.instantiate(cfg.optimizer, params=net.parameters())"
    made = read(tmp_path / "made", optimizer=optimizer)
    assert made["trust"] == "read"
    assert made["peak"] == read(tmp_path / "written")["peak"]


def test_a_model_that_only_settings_name_is_read(tmp_path: Path) -> None:
    where = tmp_path / "named"
    (where / "parts").mkdir(parents=True)
    network = SCRIPT[SCRIPT.index("class Net") : SCRIPT.index("@hydra")]
    (where / "parts" / "net.py").write_text(f"from torch import nn\n\n{network}", encoding="utf-8")
    config = CONFIG.replace("model:\n", "model:\n  _target_: parts.net.Net\n")
    made = SCRIPT.replace(network, "").replace(
        "Net(cfg.model.width, cfg.model.layers)", "hydra.utils.instantiate(cfg.model)"
    )
    found = read(where, config=config, script=made)
    assert found["peak"] == read(tmp_path / "written")["peak"]


@pytest.mark.parametrize(
    "decorated",
    [
        DECORATED.replace("config_name=", "config_name=name or "),
        DECORATED.replace('"conf"', '"elsewhere"'),
    ],
)
def test_a_folder_or_a_file_that_is_not_known_gives_no_number(
    tmp_path: Path, decorated: str
) -> None:
    assert read(tmp_path, decorated)["trust"] == "unknown"


@pytest.mark.parametrize("version", ["", 'version_base="1.1", '])
def test_a_folder_of_its_own_is_a_doubt(tmp_path: Path, version: str) -> None:
    found = read(tmp_path / "there", DECORATED.replace("version_base=None, ", version))
    (doubt,) = found["doubts"]
    assert doubt.startswith("the files are there in the folder of its own that hydra starts")
    assert found["peak"] == read(tmp_path / "here")["peak"]


def test_a_value_that_refers_to_another_is_that_one(tmp_path: Path) -> None:
    config = CONFIG.replace("layers: 3", "layers: ${depth}\ndepth: ${other.depth}")
    config = config.replace("batch_size: 16", "batch_size: ${other.rows}")
    config = f"{config}other: {{depth: 3, rows: 16}}\n"
    found = read(tmp_path / "referring", config=config)
    assert found["peak"] == read(tmp_path / "plain")["peak"]


@pytest.mark.parametrize("reference", ["${nothing}", "${model}", "${now:%Y}", "${layers}", "1${a}"])
def test_a_value_that_refers_to_what_is_not_known_gives_no_number(
    tmp_path: Path, reference: str
) -> None:
    found = read(tmp_path, config=CONFIG.replace("layers: 3", f"layers: {reference}"))
    assert found["trust"] == "unknown"


def test_files_outside_of_the_project_are_not_read(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text(CONFIG, encoding="utf-8")
    (tmp_path / "project" / ".git").mkdir(parents=True)
    found = read(tmp_path / "project", DECORATED.replace('"conf"', '".."'))
    assert found["trust"] == "unknown"


def test_a_fix_is_written_where_the_value_stands_and_keeps_its_comment(tmp_path: Path) -> None:
    accumulating = SCRIPT.replace(
        "        x = torch", "        for each in range(cfg.accumulate):\n            x = torch"
    )
    for line in ("loss = nn", "optimizer.zero_grad", "loss.backward"):
        accumulating = accumulating.replace(f"        {line}", f"            {line}")
    accumulating = accumulating.replace("            optimizer.zero_grad()\n", "")
    accumulating = accumulating.replace("optimizer.step()", "optimizer.step(); net.zero_grad()")
    config = CONFIG.replace("batch_size: 16", "batch_size: 512  # rows\naccumulate: 2")
    read(tmp_path, config=config, script=accumulating)
    done = nanolint(
        "check", str(tmp_path / "train.py"), "--gpu", "900MiB", "--fix", "--unsafe-fixes"
    )
    fixed = (tmp_path / "conf" / "config.yaml").read_text(encoding="utf-8")
    assert done.status == 0, done.out
    sizes = dict(re.findall(r"(batch_size|accumulate): (\d+)", fixed))
    assert int(sizes["batch_size"]) < 512
    assert int(sizes["batch_size"]) * int(sizes["accumulate"]) == 1024
    assert f"batch_size: {sizes['batch_size']}  # rows" in fixed


def test_config_path_of_a_file_is_that_of_older_hydra(tmp_path: Path) -> None:
    (tmp_path / "sizes.yaml").write_text("width: 64\nbatch: 32\n", encoding="utf-8")
    script = """
import hydra
import torch

@hydra.main(config_path="sizes.yaml")
def train(cfg):
    net = torch.nn.Linear(cfg.width, 64).cuda()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for step in range(3):
        net(torch.randn(cfg.batch, cfg.width, device="cuda")).sum().backward()
        optimizer.step()

train()
"""
    found = explained(tmp_path, script)
    assert found["peak"] is not None
    assert any("assuming hydra before 1.0" in each for each in found["doubts"])
    old = script.replace("sizes.yaml", "sizes.yml")
    assert "hydra before 1.0" in str(explained(tmp_path, old)["unresolved"])
