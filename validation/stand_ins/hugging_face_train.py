"""A GPT-2 with Hugging Face's Trainer, as its examples write it; weights from the config."""

import torch
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments


class Tokens(torch.utils.data.Dataset):
    def __len__(self):
        return 10_000

    def __getitem__(self, _index):
        tokens = torch.zeros(1024, dtype=torch.long)
        return {"input_ids": tokens, "labels": tokens}


arguments = TrainingArguments(
    output_dir="out",
    per_device_train_batch_size=8,
    gradient_accumulation_steps=4,
    bf16=True,
    max_steps=10,
    report_to=[],
    save_strategy="no",
)
Trainer(GPT2LMHeadModel(GPT2Config()), arguments, train_dataset=Tokens()).train()
