"""A model on transformers' classes, texts that a tokenizer cuts, samples that are filled up.

Its figures need transformers beside PyTorch.
"""

import argparse
import os

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, Dataset
from transformers import AutoTokenizer, GenerationMixin, PretrainedConfig, PreTrainedModel
from transformers.activations import ACT2FN
from transformers.modeling_outputs import CausalLMOutputWithPast

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "words")


class Config(PretrainedConfig):
    model_type = "based"

    def __init__(self, hidden_size=64, layers=3, **kwargs):
        super().__init__(**kwargs)
        self.hidden_size = hidden_size
        self.layers = layers
        self.vocab_size = kwargs.get("vocab_size", 320)
        self.hidden_act = kwargs.get("hidden_act", "silu")
        self.longest = kwargs.get("longest", 4096)


class Gated(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.gate = nn.Linear(config.hidden_size, 3 * config.hidden_size, bias=False)
        self.up = nn.Linear(config.hidden_size, 3 * config.hidden_size, bias=False)
        self.down = nn.Linear(3 * config.hidden_size, config.hidden_size, bias=False)
        self.act = ACT2FN[config.hidden_act]

    def forward(self, x):
        return self.down(self.act(self.gate(x)) * self.up(x))


def table(config):
    places = torch.outer(torch.arange(config.longest), torch.ones(config.hidden_size)).float()
    return torch.cos(places), torch.sin(places)


class Based(PreTrainedModel, GenerationMixin):
    config_class = Config
    _tied_weights_keys = {"lm_head.weight": "embed.weight"}

    def __init__(self, config=None):
        self.config = config or Config()
        super().__init__(self.config)
        self.embed = nn.Embedding(config.vocab_size, config.hidden_size)
        self.blocks = nn.ModuleList([Gated(config) for _ in range(config.layers)])
        self.lm_head = nn.Linear(config.hidden_size, config.vocab_size, bias=False)
        self.embed.weight = self.lm_head.weight
        cos, sin = table(config)
        self.register_buffer("cos", cos, persistent=False)
        self.register_buffer("sin", sin, persistent=False)
        self.post_init()

    def forward(self, input_ids, past=None, labels=None, **kwargs):
        if hasattr(past, "layers"):  # of a cache that transformers makes
            past = None
        length = input_ids.shape[1]
        x = self.embed(input_ids)
        if kwargs.get("meta", False) and self.cos[0, 0] == 0:
            self.cos, self.sin = table(self.config)
        x = x * self.cos[:length] + x * self.sin[:length]
        for block in self.blocks:
            x = x + block(x)
        logits = self.lm_head(x)
        loss = None
        if labels is not None:
            x, y = logits[..., :-1, :].contiguous(), labels[..., 1:].contiguous()
            loss = F.cross_entropy(x.view(-1, x.size(-1)), y.view(-1), ignore_index=-100)
        return CausalLMOutputWithPast(loss=loss, logits=logits, past_key_values=past)


class Texts(Dataset):
    def __init__(self, texts, tokenizer, max_length):
        self.texts = texts
        self.tokenizer = tokenizer
        self.max_length = max_length

    def __len__(self):
        return len(self.texts)

    def __getitem__(self, index):
        tokens = self.tokenizer(
            str(self.texts[index]), max_length=self.max_length - 1, truncation=True
        ).input_ids
        tokens = tokens + [self.tokenizer.eos_token_id]
        tokens = tokens + [self.tokenizer.pad_token_id] * (self.max_length - len(tokens))
        ids = torch.tensor(tokens, dtype=torch.long)
        labels = ids.clone()
        labels[ids == self.tokenizer.pad_token_id] = -100
        return ids, labels


def load(path):
    with open(path) as file:
        return file.read().split("\n")


def train(loader, model, optimizer, args):
    for step, (ids, labels) in enumerate(loader, start=1):
        ids, labels = ids.to(args.device), labels.to(args.device)
        with torch.autocast("cuda", torch.bfloat16):
            out = model(ids, labels=labels)
            loss = out.loss / args.accumulation
        loss.backward()
        if step % args.accumulation == 0:
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
        if step % 1000 == 0:
            model.eval()
            torch.save({name: each.half().cpu() for name, each in model.state_dict().items()}, "x")
            model.train()
        del ids, labels, out, loss


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch_size", type=int, default=8)
    parser.add_argument("--accumulation", type=int, default=2)
    parser.add_argument("--max_seq_len", type=int, default=48)
    parser.add_argument("--activation", default="silu")
    parser.add_argument("--device", default="cuda:0" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--data", default=os.path.join(FOLDER, "texts.txt"))
    args = parser.parse_args()
    tokenizer = AutoTokenizer.from_pretrained(FOLDER)
    model = Based(Config(hidden_act=args.activation)).to(args.device)
    texts = Texts(load(args.data), tokenizer, args.max_seq_len)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    loader = DataLoader(texts, batch_size=args.batch_size, shuffle=True, drop_last=True)
    for _ in range(3):
        train(loader, model, optimizer, args)
