"""Lines of a file found by their offsets, arrays filled up, a rate of a number of steps that only
the data tell, and an output that the model keeps.

Its figures need transformers beside PyTorch.
"""

import argparse
import json
import math
import os

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, Dataset
from transformers import AutoTokenizer
from transformers.modeling_outputs import CausalLMOutputWithPast

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "words")
VOCABULARY = 320


class Lines(Dataset):
    def __init__(self, path, tokenizer, max_length):
        self.path = path
        self.tokenizer = tokenizer
        self.max_length = max_length
        self._offsets = []
        with open(path, "rb") as file:
            self._offsets.append(0)
            while file.readline():
                self._offsets.append(file.tell())

    def __len__(self):
        return len(self._offsets) - 1

    def __getitem__(self, index):
        with open(self.path, "rb") as file:
            file.seek(self._offsets[index])
            line = file.readline().decode("utf-8")
        text = f"{self.tokenizer.eos_token}{json.loads(json.dumps(line))}"
        ids = self.tokenizer(text).data["input_ids"][: self.max_length]
        count = len(ids)
        ids = ids + [0] * (self.max_length - count)
        mask = [1] * count + [0] * (self.max_length - count)
        ids, mask = np.array(ids), np.array(mask[1:]).astype(np.int64)
        x, y = np.array(ids[:-1]).astype(np.int64), np.array(ids[1:]).astype(np.int64)
        return torch.from_numpy(x), torch.from_numpy(y), torch.from_numpy(mask)


class Net(nn.Module):
    def __init__(self, width, ignored):
        super().__init__()
        self.embed = nn.Embedding(VOCABULARY, width)
        self.up = nn.Linear(width, 4 * width)
        self.down = nn.Linear(4 * width, width)
        self.head = nn.Linear(width, VOCABULARY, bias=False)
        self.ignored = ignored
        self.out = CausalLMOutputWithPast()

    def forward(self, tokens, targets):
        x = self.embed(tokens)
        x = x + self.down(F.gelu(self.up(x)))
        logits = self.head(x)
        ignored = self.ignored if self.ignored is not None else 0
        if torch.any(targets == -100):
            ignored = -100
        self.last_loss = F.cross_entropy(
            logits.view(-1, logits.size(-1)),
            targets.view(-1),
            ignore_index=ignored,
            reduction="none",
        )
        self.out.__setitem__("logits", logits)
        self.out.__setitem__("last_loss", self.last_loss)
        return self.out


def rate(step, steps):
    warm = args.warm
    if step < warm:
        return args.rate * step / warm
    if step > steps:
        return 0.0
    share = (step - warm) / (steps - warm)
    assert 0 <= share <= 1
    return 0.5 * args.rate * (1.0 + math.cos(math.pi * share))


def train(epoch):
    for step, (x, y, mask) in enumerate(loader):
        x, y, mask = x.to(args.device), y.to(args.device), mask.to(args.device)
        for group in optimizer.param_groups:
            group["lr"] = rate(epoch * len(loader) + step, args.epochs * len(loader))
        with torch.autocast("cuda", torch.bfloat16):
            out = model(x, y)
            loss = out.last_loss / args.accumulation
            mask = mask.view(-1)
            loss = torch.sum(loss * mask) / mask.sum()
        loss.backward()
        if (step + 1) % args.accumulation == 0:
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch_size", type=int, default=8)
    parser.add_argument("--accumulation", type=int, default=2)
    parser.add_argument("--max_seq_len", type=int, default=48)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--rate", type=float, default=1e-3)
    parser.add_argument("--warm", type=int, default=2)
    parser.add_argument("--device", default="cuda:0" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--data", default=os.path.join(FOLDER, "texts.txt"))
    args = parser.parse_args()
    tokenizer = AutoTokenizer.from_pretrained(FOLDER)
    model = Net(96, tokenizer.pad_token_id).to(args.device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.rate)
    texts = Lines(args.data, tokenizer, args.max_seq_len)
    loader = DataLoader(texts, batch_size=args.batch_size, shuffle=True, drop_last=True)
    for epoch in range(args.epochs):
        train(epoch)
