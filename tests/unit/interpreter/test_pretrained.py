"""A model that begins with a checkpoint of GPT-2, built as its own ``from_pretrained`` does."""

from __future__ import annotations

import pytest

from nanolint.gpus.lookup import find
from nanolint.interpreter.values import Unread
from nanolint.recording.recording import allocated_bytes
from nanolint.run.program import SourceText
from validation.read_models import MODELS, Case
from validation.record_read import TORCH

LOADED = """
    @classmethod
    def from_pretrained(cls, model_type, override_args=None):
        from transformers import GPT2LMHeadModel
        sizes = {"gpt2": dict(n_layer=12, n_head=12, n_embd=768)}[model_type]
        config = GPTConfig(**sizes, vocab_size=50257, block_size=1024, bias=True, **override_args)
        model = GPT(config)
        sd = model.state_dict()
        keys = [k for k in sd.keys() if not k.endswith(".attn.bias")]
        sd_hf = GPT2LMHeadModel.from_pretrained(model_type).state_dict()
        assert len(sd_hf) == len(keys), f"mismatched keys: {len(sd_hf)} != {len(keys)}"
        turned = ("c_attn.weight", "c_proj.weight", "c_fc.weight")
        for k in sd_hf:
            with torch.no_grad():
                if k.endswith(turned):
                    assert sd_hf[k].shape[::-1] == sd[k].shape
                    sd[k].copy_(sd_hf[k].t())
                else:
                    assert sd_hf[k].shape == sd[k].shape
                    sd[k].copy_(sd_hf[k])
        return model

    def crop_block_size(self, block_size):
        self.config.block_size = block_size
        weight = self.transformer.wpe.weight
        self.transformer.wpe.weight = nn.Parameter(weight[:block_size])
"""
MODEL = (MODELS / "gpt.py").read_text(encoding="utf-8") + LOADED
SIZES = "n_layer=12, n_head=12, n_embd=768, vocab_size=50257, bias=True"
LOADS = """
import model

def loaded(context):
    made = model.GPT.from_pretrained("gpt2", dict(dropout=0.0))
    made.crop_block_size(context)
    return made

def built(context):
    return model.GPT(model.GPTConfig(block_size=context, dropout=0.0, SIZES))
""".replace("SIZES", SIZES)


def bytes_of(maker: str, context: int, text: str = MODEL) -> int:
    """The peak of a run that trains what ``maker`` makes."""
    sources = SourceText("loads", "loads.py", LOADS), SourceText("model", "model.py", text)
    case = Case(sources, MODELS, maker, None, {"context": context}, 2, context, 50257, "bfloat16")
    return allocated_bytes(case.run(TORCH), find("a100-80gb").gpu)


@pytest.mark.parametrize("context", [1024, 256])
def test_it_takes_what_the_same_sizes_take(context: int) -> None:
    assert bytes_of("loaded", context) == bytes_of("built", context)


def test_a_model_that_the_checkpoint_does_not_fit_is_no_run() -> None:
    other = MODEL.replace("self.n_embd = config.n_embd", "self.more = nn.Linear(8, 8)", 1)
    with pytest.raises(Unread, match="AssertionError: mismatched keys: 149 != "):
        bytes_of("loaded", 1024, other)
