"""Values that steps hand on to later ones, which keep something because of them.

The figures are of PyTorch 2.15, traced over all 24 steps (``nanolint trace --steps 24``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.explained import explained
from validation.later_steps import CARD, HEAD

if TYPE_CHECKING:
    from pathlib import Path

SCRIPT = """
class State:
    phase = 0

state, seen, milestones = State(), {"best": None}, [5, 9, 14]
best, waited, is_on, hog = None, 0, False, None

def note(step):
    global best
    if step in (5, 9):
        best = step

model = Net().cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for step in range(steps):
    x = torch.randint(V, (B, T), device="cuda")
    logits = model(x)
    loss = F.cross_entropy(logits.view(-1, V), x.view(-1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    LINES
    if step == 20: hog = None
"""
KEEP = "hog = torch.zeros(20, 512, 1024, device='cuda')"
FREE, KEPT = (54_495_744, 79_691_776), (96_438_784, 121_634_816)  # allocated, reserved
IN_EVALUATION = """if step % 4 == 0:
        model.eval()
        with torch.no_grad(): model(torch.zeros(8, T, dtype=torch.long, device='cuda'))
        model.train()
        if step == 8: best = step"""


@pytest.mark.parametrize(
    ("lines", "peak"),
    [
        (("note(step)", f"if best and step == best + 4: {KEEP}"), KEPT),
        (
            (
                "if step in (5, 9): seen['best'] = step",
                f"if seen['best'] and step == seen['best'] + 4: {KEEP}",
            ),
            KEPT,
        ),
        (
            (
                "if step % 4 == 3: state.phase += 1",
                f"if state.phase == 3 and step == 14: {KEEP}",
            ),
            KEPT,
        ),
        (
            ("if step % 5 == 4: is_on = not is_on", f"if is_on and step == 12: {KEEP}"),
            FREE,
        ),
        (
            ("waited += 1", "if step in (4, 9): waited = 0", f"if waited == 7: {KEEP}"),
            KEPT,
        ),
        (
            (
                "if milestones and step == milestones[0]: milestones.pop(0)",
                f"if not milestones and step == 16: {KEEP}",
            ),
            KEPT,
        ),
        ((IN_EVALUATION, f"if best and step == best + 5: {KEEP}"), (97_196_544, 121_634_816)),
    ],
    ids=["global", "entry", "attribute", "toggled", "waited", "milestones", "evaluation"],
)
def test_a_later_step_asks_for_what_an_earlier_one_has_set(
    tmp_path: Path, lines: tuple[str, ...], peak: tuple[int, int]
) -> None:
    script = HEAD + SCRIPT.replace("LINES", "\n    ".join(lines))
    found = explained(tmp_path, script, card=CARD)
    assert (*found["peak"].values(),)[:2] == peak
    assert found["doubts"] == []
