"""What happy-llm's training reads: lines of texts or talks, some shorter than a sample, some longer;
and the weights that its fine-tuning goes on from, as its pre-training saves them."""

import builtins
import io
import json
import sys
import tempfile
import types
from pathlib import Path

import torch

DATA = "seq_monkey_datawhale.jsonl"
LINES = "".join(
    json.dumps({"text": "hello world " * (number % 400)}) + "\n" for number in range(4096)
).encode()

TALKS = "BelleGroup_sft.jsonl"
TALK_LINES = "".join(
    json.dumps(
        [
            {"role": "user", "content": "hello"},
            {"role": "assistant", "content": "hello world " * (number % 400)},
        ]
    )
    + "\n"
    for number in range(4096)
).encode()
LINES_OF = {DATA: LINES, TALKS: TALK_LINES}

real_open = builtins.open
real_load = torch.load


def opened(path, *given, **named):
    lines = LINES_OF.get(Path(path).name) if isinstance(path, str) else None
    return real_open(path, *given, **named) if lines is None else io.BytesIO(lines)


def loaded(path, *given, **named):
    if not str(path).endswith("pretrain_1024_18_6144.pth"):
        return real_load(path, *given, **named)
    from k_model import ModelConfig, Transformer

    with tempfile.TemporaryDirectory() as folder:
        saved = Path(folder) / "weights.pth"
        torch.serialization.save(
            Transformer(ModelConfig(dim=1024, n_layers=18)).state_dict(), saved
        )
        return real_load(saved, *given, **named)


def stepped(_self, optimizer, state, *given, **named):
    """As with finite gradients: what a card that only counts has in its memory is neither."""
    for each in state["found_inf_per_device"].values():
        each.item()
    return optimizer.step(*given, **named)


builtins.open = opened
torch.load = loaded
torch.amp.GradScaler._maybe_opt_step = stepped
for name in ("pandas", "swanlab"):
    sys.modules.setdefault(name, types.ModuleType(name))
