"""A model that is not nanoGPT's, so that it is read: its feed-forward layers are gated."""

from __future__ import annotations

from pathlib import Path

_GPT = Path(__file__).parent.parent / "validation" / "models" / "gpt.py"
MODEL = _GPT.read_text(encoding="utf-8").replace("x = self.gelu(x)", "x = self.gelu(x) * x")
