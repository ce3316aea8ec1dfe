"""Runs of transformers' Trainer: what its arguments, a script's own methods and data sets do. Their
bytes are in the recorded table."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.command import nanolint
from tests.support.explained import explained

if TYPE_CHECKING:
    from pathlib import Path

HEAD = """
import torch
from dataclasses import dataclass
from itertools import chain
from datasets import load_dataset, load_from_disk
from torch.utils.data import Dataset
import transformers
from transformers import AutoTokenizer, DataCollatorForLanguageModeling, GPT2Config
from transformers import GPT2LMHeadModel, HfArgumentParser, Trainer, TrainerCallback
from transformers import TrainingArguments, default_data_collator

class Tokens(Dataset):
    def __init__(self, count=4096, width=128):
        self.count, self.width = count, width
    def __len__(self):
        return self.count
    def __getitem__(self, index):
        row = torch.randint(0, 1000, (self.width,))
        return {"input_ids": row, "labels": row, "note": "left out, as the model does not take it"}

def net():
    return GPT2LMHeadModel(GPT2Config(vocab_size=1000, n_embd=128, n_layer=1, n_head=4))

def arguments(**given):
    given = {"max_steps": 4, **given}
    return TrainingArguments("out", per_device_train_batch_size=8, report_to="none", **given)
"""


def told(folder: Path, script: str, *words: str) -> dict[str, Any]:
    return explained(folder, HEAD + script, *words)


def peak(folder: Path, given: str = "", trainer: str = "Trainer", more: str = "") -> int:
    script = f"{trainer}(net(), arguments({given}), train_dataset=Tokens(){more}).train()\n"
    found = told(folder, script)
    assert found["trust"] == "read", found
    return int(found["peak"]["allocated_bytes"])


def test_its_arguments_decide_what_a_step_takes(tmp_path: Path) -> None:
    plain = peak(tmp_path)
    assert peak(tmp_path, "bf16=True") < plain
    assert peak(tmp_path, "gradient_checkpointing=True") < plain
    passes = peak(tmp_path, "gradient_accumulation_steps=4")
    assert plain < passes < plain * 1.1  # with a batch more for each pass
    state = 8 * (1000 * 128 + 1024 * 128)  # of the two tables alone
    assert peak(tmp_path, "optim='sgd', per_device_eval_batch_size=64") < plain - state


@pytest.mark.parametrize(
    ("more", "is_larger"),
    [
        (", eval_dataset=Tokens(256)", True),
        ("", False),
    ],
)
def test_an_evaluation_takes_its_own_batches(tmp_path: Path, more: str, is_larger: bool) -> None:
    evaluated = "eval_strategy='steps', eval_steps=2, per_device_eval_batch_size=64"
    found = peak(tmp_path, evaluated if more else "", more=more)
    assert (found > peak(tmp_path)) is is_larger


def test_logits_that_metrics_are_made_of_stay_until_an_evaluation_ends(tmp_path: Path) -> None:
    evaluated = "eval_strategy='epoch', per_device_eval_batch_size=8"
    metrics = ", eval_dataset=Tokens(256), compute_metrics=lambda each: {}"
    kept = peak(tmp_path, evaluated, more=metrics)
    assert kept > 4 * 256 * 128 * 1000
    chosen = ", preprocess_logits_for_metrics=lambda logits, labels: logits.argmax(-1)"
    assert peak(tmp_path, evaluated, more=metrics + chosen) < kept / 2


OWN_LOSS = """
class Mine(Trainer):
    def compute_loss(self, model, inputs, return_outputs=False, **kwargs):
        wide = torch.zeros(64, 1024, 1024, device=model.device)
        outputs = model(**inputs)
        return (outputs.loss, outputs) if return_outputs else outputs.loss
"""
CALLBACK = """
class Show(TrainerCallback):
    def on_step_end(self, args, state, control, model=None, **kwargs):
        if state.global_step % 2 == 0:
            torch.zeros(64, 1024, 1024, device=model.device)
"""


def test_methods_and_callbacks_of_a_script_are_followed(tmp_path: Path) -> None:
    plain, wide = peak(tmp_path), 256 << 20
    for own, trainer, more in (
        (OWN_LOSS, "Mine", ""),
        (CALLBACK, "Trainer", ", callbacks=[Show()]"),
    ):
        script = f"{own}{trainer}(net(), arguments(), train_dataset=Tokens(){more}).train()\n"
        found = told(tmp_path, script)
        assert found["trust"] == "read"
        assert found["peak"]["allocated_bytes"] > max(plain, wide)


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ("evaluation_strategy='no'", "the argument evaluation_strategy is gone in transformers 5"),
        ("torch_compile=True", "what torch_compile of TrainingArguments takes"),
        ("label_smoothing_factor=0.1", "what label_smoothing_factor of TrainingArguments takes"),
    ],
)
def test_what_is_not_known_of_an_argument_is_a_doubt(tmp_path: Path, given: str, why: str) -> None:
    script = f"Trainer(net(), arguments({given}), train_dataset=Tokens()).train()\n"
    assert [each[: len(why)] for each in told(tmp_path, script)["doubts"]] == [why]


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ("lerning_rate=1e-4", "got an unexpected keyword argument 'lerning_rate'"),
        ("fp16=True, bf16=True", "At most one of fp16 and bf16 can be True"),
        ("load_best_model_at_end=True", "requires the save and eval strategy to match"),
        ("eval_strategy='epoch'", "you didn't pass an `eval_dataset`"),
    ],
)
def test_arguments_that_no_run_has_end_it(tmp_path: Path, given: str, why: str) -> None:
    script = f"Trainer(net(), arguments({given}), train_dataset=Tokens()).train()\n"
    (reason,) = [each["reason"] for each in told(tmp_path, script)["unresolved"]]
    assert why in reason


def test_a_batch_without_labels_gives_no_loss(tmp_path: Path) -> None:
    script = HEAD.replace(', "labels": row', "")
    found = explained(tmp_path, f"{script}Trainer(net(), arguments(), None, Tokens()).train()\n")
    (why,) = [each["reason"] for each in found["unresolved"]]
    assert "The model did not return a loss from the inputs" in why


WITHOUT_LABELS = """
class Own(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = torch.nn.Embedding(1000, 64)
        self.head = torch.nn.Linear(64, 1000)
    def forward(self, input_ids):
        logits = self.head(self.embed(input_ids))
        loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), input_ids.flatten())
        return {"loss": loss, "logits": logits}
given = arguments(eval_strategy="steps", eval_steps=2, per_device_eval_batch_size=64)
Trainer(Own(), given, train_dataset=Tokens(), eval_dataset=Tokens(256)).train()
"""


def test_a_model_that_makes_its_loss_without_labels_is_evaluated(tmp_path: Path) -> None:
    found = told(tmp_path, WITHOUT_LABELS)
    assert found["trust"] == "read"
    assert found["peak"]["allocated_bytes"] > 4 * 64 * 128 * 1000


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("max_steps=300, warmup_steps=500", "300 steps end within the warm-up of 500"),
        (
            "max_steps=-1, num_train_epochs=1, warmup_steps=600",
            "512 steps end within the warm-up of 600",
        ),
        ("max_steps=-1, num_train_epochs=2, warmup_steps=600", ""),
        ("max_steps=300, warmup_steps=0.1", ""),
    ],
)
def test_a_run_that_ends_in_its_warm_up_is_told(tmp_path: Path, given: str, told: str) -> None:
    path = tmp_path / "train.py"
    script = f"Trainer(net(), arguments({given}), train_dataset=Tokens()).train()\n"
    path.write_text(HEAD + script, encoding="utf-8")
    done = nanolint("check", str(path), "--gpu", "a100-40gb", "--select", "NL309")
    assert told in done.out
    assert ("NL309" in done.out) is bool(told)


OF_FLAGS = """
@dataclass
class Arguments(TrainingArguments):
    layers: int = 2

args, = HfArgumentParser(Arguments).parse_args_into_dataclasses()
Trainer(net(), args, train_dataset=Tokens()).train()
"""


def test_flags_of_a_launch_line_are_its_arguments(tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    path.write_text(HEAD + OF_FLAGS, encoding="utf-8")

    def allocated(*flags: str) -> int:
        words = ["--per_device_train_batch_size", "8", "--max_steps", "4", *flags]
        done = nanolint("explain", "--gpu", "a100-40gb", "--format", "json", "--", "python",
                        str(path), *words)  # fmt: skip
        found = json.loads(done.out)
        assert found["trust"] == "read", found
        return int(found["peak"]["allocated_bytes"])

    assert allocated() == peak(tmp_path)
    path.write_text(HEAD + OF_FLAGS, encoding="utf-8")
    half = allocated("--bf16")
    assert allocated("--bf16=true", "--tf32", "True") == half < allocated("--bf16", "False")


def test_a_smaller_batch_is_made_up_for_by_more_passes(tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    script = (
        "args = TrainingArguments('out', per_device_train_batch_size=1024,  # rows\n"
        "                         gradient_accumulation_steps=3, max_steps=4)\n"
        "Trainer(net(), args, train_dataset=Tokens(1 << 20, 1024)).train()\n"
    )
    path.write_text(HEAD + script, encoding="utf-8")
    nanolint("check", str(path), "--gpu", "rtx-3060", "--fix", "--unsafe-fixes")
    fixed = path.read_text(encoding="utf-8")
    assert "per_device_train_batch_size=384,  # rows" in fixed
    assert "gradient_accumulation_steps=8, max_steps=4)" in fixed


DATA = """
tokenizer = AutoTokenizer.from_pretrained("gpt2")
data = load_dataset("wikitext", "wikitext-2-raw-v1")
"""
PADDED = """
def tokens(rows):
    made = tokenizer(rows["text"], truncation=True, padding="max_length", max_length=128)
    made["labels"] = made["input_ids"].copy()
    return made
data = data.map(tokens, batched=True, remove_columns=["text"])
"""
GROUPED = """
def groups(rows):
    whole = {name: list(chain(*rows[name])) for name in rows.keys()}
    total = len(whole["input_ids"]) // 128 * 128
    made = {name: [each[i : i + 128] for i in range(0, total, 128)] for name, each in whole.items()}
    made["labels"] = made["input_ids"].copy()
    return made
data = data.map(lambda rows: tokenizer(rows["text"]), batched=True,
                remove_columns=data["train"].column_names).map(groups, batched=True)
"""
CUT = """
data = data.map(lambda rows: tokenizer(rows["text"], truncation=True, max_length=128), batched=True)
"""
PIECES = """
def pieces(rows):
    made = tokenizer(rows["text"], truncation=True, max_length=128, return_length=True,
                     return_overflowing_tokens=True)
    return {"input_ids": [ids for size, ids in zip(made["length"], made["input_ids"]) if TEST]}
data = data.map(pieces, batched=True, remove_columns=["text"])
"""
PACKED = """
def packed(rows):
    made = tokenizer(rows["text"], truncation=True, padding="max_length", max_length=16)
    return {"input_ids": [sum(made["input_ids"], [])]}
data = data.map(packed, batched=True, remove_columns=["text"])
"""
TRAINED = """
collator = DataCollatorForLanguageModeling(tokenizer, mlm=False)
Trainer(net(), arguments(), train_dataset=data["train"], data_collator=collator).train()
"""


@pytest.mark.parametrize(
    ("made", "trust"),
    [
        (PADDED, "read"),
        (GROUPED, "read"),
        (CUT, "doubted"),
        (PIECES.replace("TEST", "size == 128"), "read"),
        (PIECES.replace("TEST", "size > 0"), "doubted"),
        (PACKED, "unknown"),  # as many as map hands out at once
        ("", "unknown"),
    ],
)
def test_the_length_of_samples_follows_from_how_a_data_set_is_made(
    tmp_path: Path, made: str, trust: str
) -> None:
    found = told(tmp_path, DATA + made + TRAINED)
    assert found["trust"] == trust
    if trust != "unknown":
        assert found["run"]["block_size"] == 128
        masked = found["peak"]["allocated_bytes"]
        assert peak(tmp_path) <= masked < 1.1 * peak(tmp_path)


def test_a_data_set_gives_a_loop_of_ones_own_the_same_batches(tmp_path: Path) -> None:
    loop = """
from torch.utils.data import DataLoader
data.set_format("torch", columns=["input_ids", "labels"])
model = net().to("cuda")
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for batch in DataLoader(data["train"], batch_size=8):
    batch = {name: each.to("cuda") for name, each in batch.items()}
    loss = model(**batch).loss
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
"""
    found = told(tmp_path, DATA + PADDED + loop)
    assert found["trust"] == "read"
    assert (found["run"]["batch_size"], found["run"]["block_size"]) == (8, 128)


def test_how_many_samples_a_whole_column_has_is_not_known(tmp_path: Path) -> None:
    loop = """
from torch.utils.data import DataLoader, TensorDataset
rows = torch.tensor(data["train"]["input_ids"])
model = net().to("cuda")
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for x, in DataLoader(TensorDataset(rows), batch_size=32):
    model(x.to("cuda"), labels=x.to("cuda")).loss.backward()
    optimizer.step()
    optimizer.zero_grad()
"""
    assert told(tmp_path, DATA + PADDED + loop)["trust"] == "unknown"


OWN_SAMPLES = """
class Samples(Dataset):
    def __init__(self, lines):
        self.rows = []
        for line in lines:
            made = tokenizer("<s>" + line + "</s>", truncation=True, max_length=128, PADDING)
            self.rows.append(torch.tensor(made["input_ids"]))
    def __len__(self):
        return len(self.rows)
    def __getitem__(self, index):
        return {"input_ids": self.rows[index], "labels": self.rows[index]}
tokenizer = AutoTokenizer.from_pretrained("gpt2")
samples = Samples(open("stories.txt").read().splitlines())
Trainer(net(), arguments(), train_dataset=samples).train()
"""


@pytest.mark.parametrize(
    ("padding", "trust"), [("padding='max_length'", "read"), ("padding=False", "doubted")]
)
def test_a_loop_over_lines_makes_a_sample_of_each(tmp_path: Path, padding: str, trust: str) -> None:
    found = told(tmp_path, OWN_SAMPLES.replace("PADDING", padding))
    assert (found["trust"], found["run"]["block_size"]) == (trust, 128)
    assert found["peak"]["allocated_bytes"] == peak(tmp_path)


OF_A_TOKENIZER = """
class Lines(Dataset):
    def __len__(self):
        return 4096
    def __getitem__(self, index):
        return tokenizer(data[index], truncation=True, padding="max_length", max_length=128)
data = open("stories.txt").read().splitlines()
tokenizer = AutoTokenizer.from_pretrained("gpt2")
collator = DataCollatorForLanguageModeling(tokenizer, mlm=False)
Trainer(net(), arguments(), train_dataset=Lines(), data_collator=collator).train()
"""


def test_what_a_tokenizer_gives_is_a_sample(tmp_path: Path) -> None:
    found = told(tmp_path, OF_A_TOKENIZER)
    assert (found["trust"], found["run"]["block_size"]) == ("read", 128)
