"""Later steps of a loop over epochs, whose steps are counted from one epoch to the next.

The figures are of PyTorch 2.13, traced over all 42 steps (``nanolint trace --steps 42``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.explained import explained
from validation.later_steps import CARD, HEAD

if TYPE_CHECKING:
    from pathlib import Path

SCRIPT = """from torch.utils.data import DataLoader, TensorDataset

model = Net().cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
loader = DataLoader(TensorDataset(torch.randint(V, (SAMPLES, T))), batch_size=4)
global_step, tokens, best, hog, kept = 0, 0, None, None, []

def evaluate():
    model.eval()
    with torch.no_grad():
        model(torch.zeros(40, T, dtype=torch.long, device="cuda"))
    model.train()

def look(step):
    global hog
    if step % 10 == 9:
        KEEP

def train(x):
    global global_step
    loss = F.cross_entropy(model(x).view(-1, V), x.view(-1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    global_step += 1

"""
LOOP = """for epoch in range(EPOCHS):
    for i, (x,) in enumerate(loader):
        train(x.cuda())
        tokens += x.numel()
        LINES
"""
WHILE = LOOP.replace("for epoch in range(EPOCHS)", "while global_step < 40").replace(
    "len(loader) * epoch + i + 1", "global_step"
)
THREE = """for phase in range(3):
    for epoch in range(EPOCHS // 3):
        for i, (x,) in enumerate(loader):
            train(x.cuda())
            LINES
"""
BEHIND = LOOP.replace("        LINES", "    LINES")
FREE, KEPT, TWICE = (63_015_936, 79_691_776), (130_124_800, 146_800_640), (185_303_040, 213_909_504)
KEEP = "hog = torch.zeros(32, 512, 1024, device='cuda')"
ADD = "kept.append(torch.zeros(10, 512, 1024, device='cuda'))"
BEST = "if global_step == 12: best = global_step", f"if best and global_step == best + 5: {KEEP}"

LEFT = "if global_step >= 30:", f"    {KEEP}", "    break"
ENDED = "if global_step == 20: raise SystemExit", f"if global_step == 33: {KEEP}"
WEIGHTS = "if global_step % 10 == 0: best = {k: v.clone() for k, v in model.state_dict().items()}"


@pytest.mark.parametrize(
    ("loop", "lines", "samples", "peak"),
    [
        (LOOP, BEST, 28, KEPT),
        (LOOP, BEST, 12, KEPT),
        (LOOP, (f"if len(loader) * epoch + i == 17: {KEEP}",), 28, KEPT),
        (LOOP, (f"if epoch == 3 and i == 5: {KEEP}",), 28, KEPT),
        (LOOP, (f"if tokens == 20 * 4 * T: {KEEP}",), 28, KEPT),
        (LOOP, ("look(global_step)",), 28, TWICE),
        (LOOP, (f"if global_step % 10 == 0: {ADD}",), 28, (146_902_016, 163_577_856)),
        (LOOP, (ADD.replace("10", "2"),), 28, (100_633_600, 121_634_816)),
        (LOOP, ("if global_step % 10 == 0: evaluate()",), 12, (94_031_872, 142_606_336)),
        (LOOP, (f"if global_step == 170: {KEEP}",), 28, FREE),
        (WHILE, (f"if global_step == 33: {KEEP}",), 28, KEPT),
        (THREE, (f"if global_step == 25: {KEEP}",), 28, KEPT),
        (BEHIND, (f"if global_step == 28: {KEEP}",), 28, KEPT),
        (BEHIND, (ADD.replace("10", "2"),), 28, (67_603_456, 83_886_080)),
        (LOOP, LEFT, 28, TWICE),
        (LOOP, ENDED, 12, FREE),
        (LOOP, (WEIGHTS,), 12, (71_527_424, 83_886_080)),
    ],
    ids=[
        *("best", "best of three", "formula", "both", "tokens", "function", "added", "each"),
        *("evaluation", "never", "while", "three loops", "behind", "each epoch"),
        *("left by break", "ended by exit", "replaced"),
    ],
)
def test_a_step_of_a_later_epoch_is_read(
    tmp_path: Path, loop: str, lines: tuple[str, ...], samples: int, peak: tuple[int, int]
) -> None:
    indent = loop[: loop.index("LINES")].rpartition("\n")[2]
    script = SCRIPT.replace("KEEP", KEEP) + loop.replace("LINES", f"\n{indent}".join(lines))
    script = script.replace("SAMPLES", f"{samples}").replace("EPOCHS", f"{42 * 4 // samples}")
    found = explained(tmp_path, HEAD + script, "--torch-version", "2.13", card=CARD)
    assert (*found["peak"].values(),)[:2] == peak
    assert found["doubts"] == []
