"""Scripts whose loop is a library's: transformers' and trl's Trainer, Lightning's, Fabric."""

from __future__ import annotations

import pytest

from nanolint.run.described import Role
from nanolint.run.equation import NotKnown
from tests.unit.trainers.written_scripts import MODEL, read

UNKNOWN = None
HEAD = f"""{MODEL}
import sys
import transformers, trl
from transformers import HfArgumentParser, Trainer, TrainingArguments
import lightning as L
from torch.utils.data import DataLoader, Dataset
B, T = 6, 48
class Rows(Dataset):
    def __init__(self, width):
        self.width = width
    def __len__(self):
        return 1000
    def __getitem__(self, index):
        row = torch.randint(0, 9, (self.width + 1,))
        return row[:-1], row[1:]
class Module(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.model = Net(Config())
    def training_step(self, batch, index):
        x, y = batch
        logits = self.model(x)
        return F.cross_entropy(logits.view(-1, logits.size(-1)), y.view(-1))
class Data(L.LightningDataModule):
    def setup(self, stage):
        self.rows = Rows(T)
    def train_dataloader(self):
        return DataLoader(self.rows, batch_size=B)
"""

# The script, its micro-batch, context and passes.
CASES = [
    ("Trainer(model, TrainingArguments(per_device_train_batch_size=B)).train()", 6, UNKNOWN, 1),
    ("Trainer(model=model, args=TrainingArguments('out')).train()", 8, UNKNOWN, 1),
    (
        "args = TrainingArguments('out', gradient_accumulation_steps=96 // B)\n"
        "trl.SFTTrainer('some/model', args=args, train_dataset=texts()).train()",
        8,
        UNKNOWN,
        16,
    ),
    (
        "args = trl.SFTConfig(per_device_train_batch_size=2, gradient_accumulation_steps=4)\n"
        "trl.SFTTrainer(model, args).train()",
        2,
        UNKNOWN,
        4,
    ),
    (
        "class Mine(Trainer):\n    def compute_loss(self, model, x):\n        return model(x)\n"
        "Mine(model, TrainingArguments('out', per_device_train_batch_size=3)).train()",
        3,
        UNKNOWN,
        1,
    ),
    (
        "@dataclass\nclass Arguments(transformers.TrainingArguments):\n"
        "    gradient_accumulation_steps: int = 4\n"
        "parsed = HfArgumentParser((Config, Arguments)).parse_args_into_dataclasses()\n"
        "config, args = parsed\nTrainer(model, args).train()",
        8,
        UNKNOWN,
        4,
    ),
    (
        "args, _ = HfArgumentParser(TrainingArguments).parse_args_into_dataclasses(\n"
        "    return_remaining_strings=True)\nTrainer(model, args).train()",
        8,
        UNKNOWN,
        1,
    ),
    ("Trainer(model, TrainingArguments(**theirs())).train()", UNKNOWN, UNKNOWN, UNKNOWN),
    (
        "Trainer(model, TrainingArguments('out', auto_find_batch_size=True)).train()",
        UNKNOWN,
        UNKNOWN,
        1,
    ),
    ("trl.DPOTrainer(model, trl.DPOConfig('out')).train()", UNKNOWN, UNKNOWN, UNKNOWN),
    ("L.Trainer().fit(Module(), DataLoader(Rows(T), batch_size=B))", 6, 48, 1),
    (
        "trainer = L.Trainer(accumulate_grad_batches=5)\n"
        "trainer.fit(Module(), train_dataloaders=DataLoader(Rows(T), B))",
        6,
        48,
        5,
    ),
    ("L.Trainer(max_epochs=1).fit(Module(), datamodule=Data())", 6, 48, 1),
    ("L.Trainer(**theirs()).fit(Module(), Data())", 6, 48, UNKNOWN),
    (
        "fabric = L.Fabric(precision='bf16-true')\nmodel = fabric.setup(Net(Config()))\n"
        "optimizer = fabric.setup_optimizers(torch.optim.AdamW(model.parameters()))\n"
        "loader = fabric.setup_dataloaders(DataLoader(Rows(T), batch_size=B))\n"
        "for i, (x, y) in enumerate(loader):\n"
        "    fabric.backward(F.cross_entropy(model(x), y))\n"
        "    if (i + 1) % 4 == 0:\n        optimizer.step()",
        6,
        48,
        4,
    ),
]


@pytest.mark.parametrize(("script", "micro_batch", "context", "passes"), CASES)
def test_what_a_library_trains_with_is_what_it_is_given(
    script: str, micro_batch: int | None, context: int | None, passes: int | None
) -> None:
    found = read(f"{HEAD}model = transformers.AutoModelForCausalLM.from_pretrained('x')\n{script}")
    roles = (Role.MICRO_BATCH, Role.CONTEXT, Role.ACCUMULATION)
    assert [found.value(each) for each in roles] == [micro_batch, context, passes]


@pytest.mark.parametrize("script", [CASES[10][0], CASES[-1][0]])
def test_the_precision_is_the_librarys_own_matter(script: str) -> None:
    found = read(f"{HEAD}model = Net(Config())\n{script}")
    assert isinstance(found.roles[Role.DTYPE], NotKnown)
    assert isinstance(found.model, NotKnown)


@pytest.mark.parametrize(
    ("given", "told"),
    [("", "float32"), (", bf16=True", "bfloat16"), (", fp16=B > 4", "float16")],
)
def test_trainer_takes_the_precision_that_it_is_given(given: str, told: str) -> None:
    arguments = f"TrainingArguments(per_device_train_batch_size=B{given})"
    found = read(f"{HEAD}model = Net(Config())\nTrainer(model, {arguments}).train()")
    assert found.value(Role.DTYPE) == told
    assert not isinstance(found.model, NotKnown)


def test_a_model_of_a_library_may_be_called_by_its_task() -> None:
    found = read(
        f"""{HEAD}
from transformers import Qwen2Config, Qwen2ForCausalLM
model = Qwen2ForCausalLM(Qwen2Config(hidden_size=64))
optimizer = torch.optim.AdamW(model.parameters())
for x, y in DataLoader(Rows(T), batch_size=B):
    model(input_ids=x, labels=y).loss.backward()
    optimizer.step()
"""
    )
    assert (found.value(Role.MICRO_BATCH), found.value(Role.CONTEXT)) == (6, 48)
