"""What extends what is not known, and what PyTorch refuses: neither has a sure tape."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.command import nanolint
from tests.unit.interpreter.test_programs import read, text_of, unread
from tests.unit.trainers.small_net import trained_on

if TYPE_CHECKING:
    from pathlib import Path

REFUSED = "Expected input batch_size (16) to match target batch_size (14)"
IMPORTS = "import torch\nfrom torch import nn\nF, device = nn.functional, 'cuda'\n"
MODEL_LOSS = "F.cross_entropy(logits.flatten(0, 1), targets.flatten())"
OTHER = """
import fused
class Layer({base}):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(32))
    def forward(self, x):
        return self.apply(x)
    def apply(self, x):
        return x * self.scale
"""


@pytest.mark.parametrize("call", ["self.layer(x)", "self.layer.apply(x)"])
def test_what_extends_a_class_that_is_not_known_may_be_a_module_or_none(call: str) -> None:
    text = text_of(f"x = {call}", "self.layer = Layer()", OTHER.format(base="fused.Norm"))
    assert "fused is not a module of the project" in unread(text)


def test_a_plain_object_of_such_a_class_is_no_part_of_the_model() -> None:
    above = "import fused\nclass Config(fused.Settings):\n    width = 32\n"
    held = read(text_of("x = x * self.config.width", "self.config = Config()", above))
    assert held.events == read(text_of("x = x * 32")).events


def test_an_object_that_is_no_module_is_not_called_by_its_forward() -> None:
    text = text_of("x = self.layer(x)", "self.layer = Layer()", OTHER.format(base="object"))
    assert "'Layer' object is not callable" in unread(text)


@pytest.mark.parametrize(
    ("forward", "init"),
    [
        ("x = x.view(2, 8, 4, 32 / 4).flatten(2)", ""),
        ("x = x + self.scale.sum()", "self.scale = nn.Parameter(torch.ones(32, 1.5))"),
        ("x = self.up(x)[..., :32]", "self.up = nn.Linear(32, 4.0 * 32)"),
        ("x = x + torch.zeros(32 / 2, 2, device=x.device).sum()", ""),
    ],
)
def test_sizes_that_are_fractions_are_refused_as_pytorch_refuses_them(
    forward: str, init: str
) -> None:
    assert "sizes have to be integers" in unread(text_of(forward, init))


def test_a_loss_of_other_rows_than_there_are_targets_is_refused() -> None:
    shorter = MODEL_LOSS.replace("targets.flatten()", "targets[:, 1:].flatten()")
    assert REFUSED in unread(text_of().replace(MODEL_LOSS, shorter))


@pytest.mark.parametrize("made", ["Net()", "torch.compile(Net())"])
def test_so_it_is_in_a_script_compiled_or_not(tmp_path: Path, made: str) -> None:
    text = trained_on("torch.randint(1000, (2, 8))").replace("Net().to", f"{made}.to")
    text = text.replace("y.view(-1))", "y[:, 1:].reshape(-1))")
    path = tmp_path / "train.py"
    path.write_text(f"{IMPORTS}{text}", encoding="utf-8")
    done = nanolint("check", str(path), "--gpu=rtx-3060")
    assert f": ValueError: {REFUSED}" in done.out and "train.py:" in done.out


@pytest.mark.parametrize("layer", ["nn.Tanhshrink()", "fused.Layer(32)"])
def test_a_layer_that_is_not_known_is_not_passed_over_in_a_sequence(layer: str) -> None:
    init = f"self.layers = nn.Sequential(nn.Linear(32, 32), {layer}, nn.Linear(32, 32))"
    text = text_of("x = self.layers(x)", init, "import fused\n")
    assert unread(text).startswith(("torch.nn.Tanhshrink is not known", "fused is not a module"))


@pytest.mark.parametrize(
    ("forward", "init"),
    [
        ("x = x + self.heads[0](x)", "self.heads = [nn.Linear(32, 32)]"),
        ("x = x.masked_fill(torch.ones(8, 32) == 0, 0.0)", ""),
        ("x = torch.cat((x, torch.zeros(*x.shape)))", ""),
        ("x = x + torch.arange(32)", ""),
    ],
)
def test_tensors_of_the_host_and_the_card_are_refused_as_pytorch_refuses_them(
    forward: str, init: str
) -> None:
    said = unread(text_of(forward, init))
    assert "raises RuntimeError: Expected all tensors to be on the same device" in said


def test_a_number_and_indices_may_lie_on_the_host() -> None:
    both = "x = (x * torch.tensor(0.5))[torch.arange(2)]"
    assert read(text_of(both)).events


@pytest.mark.parametrize(
    "line", ["[1, 2].pop(fused.n)", "{'a': 1}.pop(fused.n)", "[1].insert(fused.n, 2)"]
)
def test_what_python_makes_of_what_is_not_known_is_not_said_in_words_of_nanolint(line: str) -> None:
    text = text_of(f"x = x * {line}", "", "import fused\n")
    assert unread(text).startswith("fused is not a module of the project")
