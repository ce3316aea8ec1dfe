"""Run before nanochat's scripts.base_train where FlashAttention 3 is installed, as its project asks
for: the stand-ins of nanochat.py, and that attention."""

from pathlib import Path

for name in ("flash_attention_3.py", "nanochat.py"):
    path = Path(__file__).with_name(name)
    exec(compile(path.read_text(), str(path), "exec"), {})
