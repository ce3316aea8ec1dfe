"""A model that is not nanoGPT's, so that it is read: its feed-forward layers are gated."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.trainers.nanogpt.own import FOLDER

if TYPE_CHECKING:
    from pathlib import Path

MODEL = (
    (FOLDER / "model.py")
    .read_text(encoding="utf-8")
    .replace("x = self.gelu(x)", "x = self.gelu(x) * x")
)


def make_readable(project: Path) -> None:
    """Let a project's train.py say what it does without saying: how its model computes."""
    script = project / "train.py"
    types = "{'float32': torch.float32, 'bfloat16': torch.bfloat16, 'float16': torch.float16}"
    context = f"ctx = torch.amp.autocast(device_type='cuda', dtype={types}[dtype])\n"
    text = script.read_text(encoding="utf-8")
    script.write_text(text.replace("model = GPT(", f"{context}model = GPT(", 1), encoding="utf-8")
