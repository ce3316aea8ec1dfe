"""A model that begins with a checkpoint of GPT-2, built as its own ``from_pretrained`` does."""

from __future__ import annotations

import ast
from dataclasses import replace

import pytest

from nanolint.gpus.lookup import find
from nanolint.recording.recording import allocated_bytes
from nanolint.run.program import FromRun, ReadModel, SourceText
from nanolint.trainers.nanogpt.read import pretrained
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
SIZES = {"n_layer": 12, "n_head": 12, "n_embd": 768, "vocab_size": 50257, "bias": True}


def bytes_of(program: ReadModel, context: int) -> int:
    case = Case(program.modules, MODELS, "GPT", None, {}, 2, context, 50257, "bfloat16")
    run = replace(case.run(TORCH), program=program)
    return allocated_bytes(run, find("a100-80gb").gpu)


def source(text: str = MODEL) -> tuple[SourceText, ...]:
    return (SourceText("model", "model.py", text),)


@pytest.mark.parametrize("context", [1024, 256])
def test_it_takes_what_the_same_sizes_take(context: int) -> None:
    own = (("block_size", FromRun("block_size")), ("dropout", 0.0))
    loaded = ReadModel(source(), "GPT", own, pretrained="gpt2")
    built = ReadModel(source(), "GPT", (*own, *SIZES.items()), "GPTConfig")
    assert bytes_of(loaded, context) == bytes_of(built, context)


def test_a_model_that_the_checkpoint_does_not_fit_is_no_run() -> None:
    other = MODEL.replace("self.n_embd = config.n_embd", "self.more = nn.Linear(8, 8)", 1)
    own = (("block_size", FromRun("block_size")), ("dropout", 0.0))
    with pytest.raises(Exception, match="AssertionError: mismatched keys: 149 != "):
        bytes_of(ReadModel(source(other), "GPT", own, pretrained="gpt2"), 1024)


TRAIN = """
override_args = dict(dropout=dropout)
model = GPT.from_pretrained(init_from, override_args)
if block_size < model.config.block_size:
    model.crop_block_size(block_size)
"""


def test_a_script_that_loads_it_otherwise_is_not_followed() -> None:
    program = ReadModel(source(), "GPT", (("block_size", 8), ("dropout", 0.1), ("n_layer", 2)))
    found = pretrained(program, ast.parse(TRAIN), "gpt2")
    assert found is not None
    assert (found.pretrained, found.arguments) == ("gpt2", (("block_size", 8), ("dropout", 0.1)))
    for one, other in (("dropout=dropout", "dropout=0.0"), ("(init_from,", "('gpt2',")):
        assert pretrained(program, ast.parse(TRAIN.replace(one, other)), "gpt2") is None
    assert pretrained(program, None, "gpt2") is None
