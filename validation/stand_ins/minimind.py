"""What minimind's trainers load from the Hub's JSON lines: samples of a text, and of a chat; and the
weights that they go on from, as its pre-training saves them."""

import sys
import tempfile
from pathlib import Path

import datasets
import torch

TALK = ["hello", "hi there " * 500]


class Samples:
    def __len__(self):
        return 4096

    def __getitem__(self, place):
        said = [
            {"role": role, "content": text, "reasoning_content": "", "tools": "", "tool_calls": ""}
            for role, text in zip(("user", "assistant"), TALK)
        ]
        return {"text": "hello world " * 400, "conversations": said}


datasets.load_dataset = lambda *given, **named: Samples()
real_load = torch.load


def loaded(path, *given, **named):
    if not str(path).endswith("pretrain_768.pth"):
        return real_load(path, *given, **named)
    sys.path.append("..")
    from model.model_minimind import MiniMindConfig, MiniMindForCausalLM

    state = MiniMindForCausalLM(MiniMindConfig(hidden_size=768, num_hidden_layers=8)).state_dict()
    with tempfile.TemporaryDirectory() as folder:
        saved = Path(folder) / "weights.pth"
        torch.serialization.save({name: each.half().cpu() for name, each in state.items()}, saved)
        return real_load(saved, *given, **named)


torch.load = loaded
