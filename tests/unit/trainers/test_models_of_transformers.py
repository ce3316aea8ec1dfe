"""Models of transformers in a loop of one's own; their bytes are in the recorded table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.support.explained import explained

if TYPE_CHECKING:
    from pathlib import Path

SCRIPT = """
import torch
from transformers import AutoModelForCausalLM, GPT2Config, GPT2LMHeadModel
from transformers import LlamaConfig, LlamaForCausalLM, Qwen2Config, Qwen2ForCausalLM
{model}
model.to("cuda")
{before}
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
for step in range(20):
    x = torch.randint(0, 1000, (8, 128), device="cuda")
    loss = model({call}).loss
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
"""
GPT2 = "model = GPT2LMHeadModel(GPT2Config(vocab_size=1000, n_embd=128, n_layer=2, n_head=4))"
SIZES = (
    "vocab_size=1000, hidden_size=128, intermediate_size=256, num_hidden_layers=2, "
    "num_attention_heads=4, num_key_value_heads=4"
)
LLAMA = f"model = LlamaForCausalLM(LlamaConfig({SIZES}))"


def told(
    folder: Path, model: str = GPT2, before: str = "", call: str = "x, labels=x"
) -> dict[str, Any]:
    return explained(folder, SCRIPT.format(model=model, before=before, call=call))


def peak(found: dict[str, Any]) -> int:
    assert found["trust"] == "read", found
    return int(found["peak"]["allocated_bytes"])


@pytest.mark.parametrize("model", [GPT2, LLAMA])
def test_checkpointed_layers_take_less_and_keep_no_keys(tmp_path: Path, model: str) -> None:
    plain = peak(told(tmp_path, model))
    assert peak(told(tmp_path, model, "model.gradient_checkpointing_enable()")) < plain
    without = peak(told(tmp_path, model, call="x, labels=x, use_cache=False"))
    assert without == peak(told(tmp_path, model, "model.config.use_cache = False")) <= plain


@pytest.mark.parametrize("cls", ["GPT2LMHeadModel", "AutoModelForCausalLM"])
def test_a_published_checkpoint_has_its_sizes_and_evaluates(tmp_path: Path, cls: str) -> None:
    of_hub = f'model = {cls}.from_pretrained("gpt2")'
    own = "model = GPT2LMHeadModel(GPT2Config())"
    assert peak(told(tmp_path, of_hub)) == peak(told(tmp_path, own, "model.eval()"))
    assert peak(told(tmp_path, of_hub, "model.train()")) == peak(told(tmp_path, own))


LOADED = """
import torch
from torch.utils.data import DataLoader, TensorDataset
from transformers import LlamaConfig, LlamaForCausalLM
{model}
model.to("cuda")
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
loader = DataLoader(TensorDataset(torch.randint(0, 1000, (256, 128))), batch_size=4)
for epoch in range(2):
    for i, (x,) in enumerate(loader):
        loss = model(x.cuda(), labels=x.cuda()).loss / 4
        loss.backward()
        if (i + 1) % 4 == 0:
            optimizer.step()
            optimizer.zero_grad()
"""


def test_passes_of_a_step_are_not_counted_over_turns_that_are_left_out(tmp_path: Path) -> None:
    found = explained(tmp_path, LOADED.format(model=LLAMA))
    assert (found["trust"], found["doubts"]) == ("read", [])
    assert found["run"]["gradient_accumulation_steps"] == 4


def test_what_else_a_model_is_asked_for_is_not_passed_over(tmp_path: Path) -> None:
    inner = "inner = model.module if hasattr(model, 'module') else model"
    assert told(tmp_path, before=inner)["doubts"] == []
    found = told(tmp_path, before="model.generate(torch.zeros(1, 4, dtype=torch.long).cuda())")
    assert "generate of a model of transformers" in found["unresolved"][0]["reason"]


def test_another_size_of_the_vocabulary(tmp_path: Path) -> None:
    larger = told(tmp_path, f"{GPT2}\nmodel.resize_token_embeddings(1003, pad_to_multiple_of=64)")
    assert peak(larger) == peak(told(tmp_path, GPT2.replace("=1000", "=1024")))


def test_another_checkpoint_is_the_one_reason(tmp_path: Path) -> None:
    found = told(tmp_path, 'model = AutoModelForCausalLM.from_pretrained("somebody/model")')
    (only,) = found["unresolved"]
    assert "the checkpoint 'somebody/model'" in only["reason"]


def test_a_mask_may_leave_nothing_out(tmp_path: Path) -> None:
    masked = told(tmp_path, call="x, attention_mask=torch.ones_like(x), labels=x")
    assert masked["peak"]["allocated_bytes"] > peak(told(tmp_path))
    assert masked["trust"] == "read" or masked["doubts"]


@pytest.mark.parametrize(
    ("model", "before", "reason"),
    [
        (
            f"model = Qwen2ForCausalLM(Qwen2Config({SIZES}, use_sliding_window=True))",
            "",
            "attention in a window",
        ),
        (
            LLAMA,
            "model.config.use_cache = False\nmodel = torch.compile(model)",
            "a compiled model of transformers without a cache",
        ),
    ],
)
def test_what_is_not_known_is_not_passed_over(
    tmp_path: Path, model: str, before: str, reason: str
) -> None:
    found = told(tmp_path, model, before)
    assert found["trust"] == "unknown"
    assert reason in found["unresolved"][0]["reason"]


@pytest.mark.parametrize(
    ("model", "before", "call", "said"),
    [
        (LLAMA, "model = torch.compile(model)", "x, labels=x", "what torch.compile makes"),
        (GPT2, "model.config.output_hidden_states = True", "x, labels=x", "hands out more"),
        (GPT2, "", "x, labels=x, position_ids=torch.arange(128).cuda()[None]", "position_ids"),
        (GPT2, "", "x, labels=x, token_type_ids=x", "what token_type_ids does"),
    ],
)
def test_what_is_not_verified_is_a_doubt(
    tmp_path: Path, model: str, before: str, call: str, said: str
) -> None:
    found = told(tmp_path, model, before, call)
    assert found["peak"] is not None
    assert any(said in each for each in found["doubts"])


@pytest.mark.parametrize(
    "line",
    [
        "AutoModelForCausalLM.register(GPT2Config, GPT2LMHeadModel)",
        'AutoConfig.register("mine", GPT2Config)',
        'other = AutoConfig.for_model("gpt2", n_layer=2)',
        'other = GPT2Model.from_pretrained("gpt2").get_input_embeddings()',
        "other = DynamicCache(config=model.config)",
        "print(model.config.rope_theta, model.config.summary_type)",
        'model.push_to_hub("mine")',
    ],
)
def test_what_takes_nothing_of_the_card_is_no_obstacle(tmp_path: Path, line: str) -> None:
    names = "import AutoConfig, DynamicCache, GPT2Model, AutoM"
    text = SCRIPT.replace("import AutoM", names, 1).format(
        model=GPT2, before=line, call="x, labels=x"
    )
    assert peak(explained(tmp_path, text)) == peak(told(tmp_path))


def test_an_optimizer_that_is_gone_is_a_doubt_with_its_successor(tmp_path: Path) -> None:
    text = SCRIPT.replace("torch.optim.AdamW", "AdamW").replace(
        "import AutoM", "import AdamW, AutoM"
    )
    found = explained(tmp_path, text.format(model=GPT2, before="", call="x, labels=x"))
    assert any("have no AdamW: write torch.optim.AdamW" in each for each in found["doubts"])
    assert found["peak"]["allocated_bytes"] == peak(told(tmp_path))


def test_a_model_from_a_config_has_its_type(tmp_path: Path) -> None:
    sizes = "GPT2Config(vocab_size=1000, n_embd=128, n_layer=2, n_head=4"
    of_config = f"model = AutoModelForCausalLM.from_config({sizes}, dtype='bfloat16'))"
    of_call = f"model = AutoModelForCausalLM.from_config({sizes}), dtype=torch.bfloat16)"
    halved = peak(told(tmp_path, GPT2, "model.to(torch.bfloat16)"))
    assert peak(told(tmp_path, of_config)) == peak(told(tmp_path, of_call)) == halved


def test_heads_that_do_not_share_the_width_raise(tmp_path: Path) -> None:
    found = told(tmp_path, GPT2.replace("n_head=4", "n_head=7"))
    assert "`embed_dim` must be divisible by num_heads" in found["unresolved"][0]["reason"]


@pytest.mark.parametrize(
    ("asks", "older"),
    [
        ("transformers==4.50.3", "4.50"),
        ("transformers[torch]~=4.44", "4.44"),
        ("transformers>=4.30,<5", "below 5"),
        ("transformers>=4.30", None),
        ("transformers==5.1", None),
        ("sentence-transformers==2.2", None),
    ],
)
def test_an_older_release_is_a_doubt_if_its_model_is_trained(
    tmp_path: Path, asks: str, older: str | None
) -> None:
    (tmp_path / "requirements.txt").write_text(f"{asks}\n", encoding="utf-8")
    said = [] if older is None else [f"requirements.txt asks for transformers {older}: "]
    doubts = told(tmp_path)["doubts"]
    assert [each.startswith(said[0]) for each in doubts] == [True] * len(said)


OWN_CLASS = """
import torch
from torch import nn
from transformers import GPT2Config, GPT2Model

class Own(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = GPT2Model(GPT2Config(vocab_size=1000, n_embd=128, n_layer=2, n_head=4))
        self.head = nn.Linear(128, 1000)

    def forward(self, x):
        return self.head(self.trunk(x).last_hidden_state)

model = Own().to("cuda")
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
for step in range(20):
    x = torch.randint(0, 1000, (8, 128), device="cuda")
    loss = nn.functional.cross_entropy(model(x).view(-1, 1000), x.view(-1))
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
"""


def test_an_older_release_is_a_doubt_if_a_class_of_ones_own_holds_the_model(
    tmp_path: Path,
) -> None:
    assert explained(tmp_path, OWN_CLASS)["doubts"] == []
    (tmp_path / "requirements.txt").write_text("transformers==4.50.3\n", encoding="utf-8")
    (doubt,) = explained(tmp_path, OWN_CLASS)["doubts"]
    assert doubt.startswith("requirements.txt asks for transformers 4.50: ")
