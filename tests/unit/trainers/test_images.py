"""Scripts that train on images: cuDNN's own memory is said not to be known."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.support.explained import explained

if TYPE_CHECKING:
    from pathlib import Path

SCRIPT = """
import torch, torch.nn as nn, torch.nn.functional as F
batch_size = 32
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(3, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(inplace=True),
            nn.MaxPool2d(2), nn.Conv2d(32, 64, kernel_size=3, stride=2, padding=1, bias=False),
            nn.GroupNorm(8, 64), nn.SiLU(), nn.Dropout2d(0.1),
            nn.ConvTranspose2d(64, 32, 2, stride=2), nn.Upsample(scale_factor=2),
            nn.AvgPool2d(2), nn.SELU(), nn.AdaptiveAvgPool2d((1, 1)))
        self.head = nn.Linear(32, 10)
    def forward(self, x):
        return self.head(self.features(x).flatten(1))
model = Net().to("cuda")
opt = torch.optim.Adam(model.parameters(), lr=1e-3)
for step in range(100):
    x = torch.randn(batch_size, 3, 64, 64, device="cuda")
    y = torch.randint(0, 10, (batch_size,), device="cuda")
    loss = F.cross_entropy(model(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
"""


def test_a_small_network_of_convolutions_takes_what_pytorch_takes_beside_cudnn(
    tmp_path: Path,
) -> None:
    """PyTorch 2.13's peak on a card whose cuDNN takes nothing for itself."""
    found = explained(tmp_path, SCRIPT, "--torch-version", "2.13", card="a100-80gb")
    assert found["trust"] == "doubted"
    assert all("cuDNN's own memory" in each for each in found["doubts"])
    assert found["peak"]["allocated_bytes"] == 109_151_744
