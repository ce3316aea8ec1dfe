"""LoRA by peft, and the checkpoints that are fine-tuned; their bytes are in the recorded table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from nanolint.script.checkpoints import published
from tests.support.explained import explained

if TYPE_CHECKING:
    from pathlib import Path

SCRIPT = """
import torch
from peft import LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM, BitsAndBytesConfig
{model}
model = get_peft_model(model, LoraConfig({config}))
model.to("cuda")
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
for step in range(20):
    x = torch.randint(0, 1000, (2, 128), device="cuda")
    loss = {loss}
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
{after}
"""
SMOL = 'model = AutoModelForCausalLM.from_pretrained("HuggingFaceTB/SmolLM2-135M"{})'
LARGE = 'model = AutoModelForCausalLM.from_pretrained("Qwen/Qwen3-8B", dtype="float32"{})'
OWN = """
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.head = torch.nn.Embedding(1000, 64), torch.nn.Linear(64, 1000)

    def forward(self, x):
        return self.head(self.embed(x))

model = Net()
"""
OF_OWN = "torch.nn.functional.cross_entropy(model(x).flatten(0, 1), x.flatten())"
CAUSAL = "r=8, task_type='CAUSAL_LM'"


def told(
    folder: Path,
    model: str = SMOL.format(""),
    config: str = CAUSAL,
    loss: str = "model(input_ids=x, labels=x).loss",
    after: str = "",
) -> dict[str, Any]:
    text = SCRIPT.format(model=model, config=config, loss=loss, after=after)
    return explained(folder, text, card="rtx-4090")


def reason(found: dict[str, Any]) -> str:
    return str(found["unresolved"][0]["reason"])


# The numbers of parameters that are published of them.
PARAMETERS = {
    "Qwen/Qwen2.5-0.5B": 494_032_768,
    "Qwen/Qwen2.5-1.5B": 1_543_714_304,
    "Qwen/Qwen2-1.5B-Instruct": 1_543_714_304,
    "Qwen/Qwen2.5-Coder-7B": 7_615_616_512,
    "Qwen/Qwen2.5-3B": 3_085_938_688,
    "Qwen/Qwen2.5-7B-Instruct": 7_615_616_512,
    "Qwen/Qwen3-0.6B": 596_049_920,
    "Qwen/Qwen3-1.7B-Base": 1_720_574_976,
    "Qwen/Qwen3-4B": 4_022_468_096,
    "Qwen/Qwen3-8B": 8_190_735_360,
    "TinyLlama/TinyLlama-1.1B-Chat-v1.0": 1_100_048_384,
    "meta-llama/Llama-2-7b-chat-hf": 6_738_415_616,
    "meta-llama/Meta-Llama-3-8B": 8_030_261_248,
    "meta-llama/Llama-3.1-8B-Instruct": 8_030_261_248,
    "meta-llama/Llama-3.2-1B": 1_235_814_400,
    "meta-llama/Llama-3.2-3B": 3_212_749_824,
    "HuggingFaceTB/SmolLM2-135M": 134_515_008,
    "HuggingFaceTB/SmolLM2-360M": 361_821_120,
    "HuggingFaceTB/SmolLM2-1.7B": 1_711_376_384,
}
READ = (
    "Qwen/Qwen2.5-0.5B",
    "Qwen/Qwen3-0.6B",
    "meta-llama/Llama-3.2-1B",
    "meta-llama/Llama-2-7b-hf",
)


def counted(kind: str, sizes: dict[str, Any]) -> int:
    """How many parameters a model of these settings has."""
    width, inner, vocabulary = (
        sizes[each] for each in ("hidden_size", "intermediate_size", "vocab_size")
    )
    heads, of_keys = sizes["num_attention_heads"], sizes["num_key_value_heads"]
    head = 128 if kind == "qwen3" else width // heads
    queries, keys = heads * head, of_keys * head
    biases = {"qwen2": queries + 2 * keys, "qwen3": 2 * head}.get(kind, 0)
    layer = 2 * width * (queries + keys) + 3 * width * inner + 2 * width + biases
    tables = vocabulary * width * (1 if sizes["tie_word_embeddings"] else 2)
    return int(tables + sizes["num_hidden_layers"] * layer + width)


@pytest.mark.parametrize("name", PARAMETERS)
def test_a_checkpoint_has_as_many_parameters_as_were_published(name: str) -> None:
    found = published(name)
    assert found is not None
    assert counted(*found) == PARAMETERS[name]


@pytest.mark.parametrize("name", READ)
def test_a_checkpoint_has_its_size_and_type(tmp_path: Path, name: str) -> None:
    model = f'model = AutoModelForCausalLM.from_pretrained("{name}")'
    found = told(tmp_path, model, "r=1, target_modules=['q_proj'], task_type='CAUSAL_LM'")
    assert found["trust"] == "read", found
    made = published(name)
    assert made is not None
    frozen = 2 * counted(*made)  # of two bytes each, as it was published
    assert frozen < found["components"]["parameters"] < frozen + 4_000_000  # with the adapters


@pytest.mark.parametrize(
    ("model", "config", "loss", "said"),
    [
        (SMOL.format(""), "target_modules=['c_attn']", "", "Target modules {'c_attn'} not found"),
        (OWN, "r=8", "", "Please specify `target_modules` in `peft_config`"),
        (SMOL.format(""), "r=0", "", "`r` should be a positive integer"),
    ],
)
def test_what_peft_refuses_stops_the_run(
    tmp_path: Path, model: str, config: str, loss: str, said: str
) -> None:
    found = reason(told(tmp_path, model, config, loss or OF_OWN))
    assert found.startswith("the script raises") and said in found


@pytest.mark.parametrize(
    ("model", "config", "said"),
    [
        (SMOL.format(", quantization_config=BitsAndBytesConfig(load_in_4bit=True)"), CAUSAL, "q"),
        (SMOL.format(', device_map="balanced"'), CAUSAL, "device_map"),
        (LARGE.format(', device_map="auto"'), CAUSAL, "leaves on the host"),
        (SMOL.format(""), f"{CAUSAL}, use_dora=True", "use_dora"),
        (SMOL.format("").replace("SmolLM2-135M", "Other"), CAUSAL, "the checkpoint"),
    ],
)
def test_what_is_not_known_of_peft_and_checkpoints_is_said(
    tmp_path: Path, model: str, config: str, said: str
) -> None:
    found = told(tmp_path, model, config)
    assert found["trust"] == "unknown"
    assert said in reason(found)


def test_a_model_that_is_loaded_on_the_card_lies_there_in_one_piece(tmp_path: Path) -> None:
    plain, direct = told(tmp_path), told(tmp_path, SMOL.format(', device_map="auto"'))
    assert direct["trust"] == plain["trust"] == "read"
    assert direct["peak"]["allocated_bytes"] == plain["peak"]["allocated_bytes"]
    assert direct["peak"]["reserved_bytes"] < plain["peak"]["reserved_bytes"]


def test_what_was_learned_is_added_to_the_weights(tmp_path: Path) -> None:
    config = "r=8, target_modules=['head']"
    after = "model = model.merge_and_unload()\nassert isinstance(model.head, torch.nn.Linear)"
    plain, merged = (told(tmp_path, OWN, config, OF_OWN, each) for each in ("", after))
    assert merged["trust"] == "read", merged
    assert merged["peak"] == plain["peak"]
