"""What rich shows of a run takes nothing of the card."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.support.explained import explained

if TYPE_CHECKING:
    from pathlib import Path

SCRIPT = """
import torch
from rich.console import Console
from rich.panel import Panel
from rich.progress import Progress, SpinnerColumn, TextColumn, track
from rich.table import Table
from torch import nn
console = Console()
net = nn.Sequential(nn.Embedding(1000, 64), nn.Linear(64, 1000)).cuda()
optimizer = torch.optim.AdamW(net.parameters())
console.print(Panel.fit(f"[bold]{sum(p.numel() for p in net.parameters()):,}[/bold]"))
with Progress(SpinnerColumn(), TextColumn("{task.description}"), console=console) as progress:
    task = progress.add_task("training", total=100)
    for step in LOOP:
        x = torch.randint(0, 1000, (16, 128)).cuda()
        loss = nn.functional.cross_entropy(net(x).view(-1, 1000), x.view(-1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        progress.update(task, advance=1, description=f"{loss.item():.3f}")
        if step % 10 == 0:
            table = Table(title="losses")
            table.add_row(str(step), f"{loss.item():.4f}")
            console.print(table)
"""


def test_a_bar_and_tables(tmp_path: Path) -> None:
    for loop in ("range(100)", "track(range(100))"):
        found = explained(tmp_path, SCRIPT.replace("LOOP", loop))
        assert (found["trust"], found["doubts"]) == ("read", [])
