"""Scripts that nobody has chosen: one habit of each kind, by chance (validation/habits.toml).

    python validation/composed.py                          # what is said of them, beside PyTorch
    python validation/composed.py --python path/to/python  # trace those that are not recorded
    python validation/composed.py --python path/to/python 540 542  # that has another release

Those of even numbers are compiled. What PyTorch takes for them is in recorded/composed.json; what
other releases take, for those that were named, in recorded/composed_elsewhere.json.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

sys.path.insert(0, str(Path(__file__).parents[1]))  # the root of the repository
from validation.record_variations import digest_of, read, row_of, rows, traced, written

NUMBERS = (*range(100, 500), *range(500, 540, 2), *range(590, 908, 2))
TABLE = Path(__file__).parent / "recorded" / "composed.json"
ELSEWHERE = TABLE.with_name("composed_elsewhere.json")  # by release and number
HABITS: dict[str, Any] = tomllib.loads(
    (Path(__file__).parent / "habits.toml").read_text(encoding="utf-8")
)
# The kinds in the order in which chance takes one of each.
KINDS = (
    *("norm", "rope", "projections", "attention", "normed_heads", "heads_joined", "mlp", "block"),
    *("embedding", "layers", "head", "loss", "returned", "autocast", "optimizer", "compile"),
    "loop",
)
PLAIN_NORMS = frozenset({"ln", "lnbias", "nn", "fn"})  # whose result a block may add to in place

SCRIPT = """import math, copy, contextlib
from dataclasses import dataclass
from typing import NamedTuple, Optional
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.utils.checkpoint
torch.manual_seed(1337)
batch_size = 8
B, T, V, C, H, L, E, P = batch_size, 256, {vocabulary}, 128, 4, 3, 4, {dropout}
D = C // H
{loss_functions}
{norm}
{rope_class}
class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.p = P
        {projections}
        self.o = nn.Linear(C, C, bias={bias})
        self.adrop = nn.Dropout(P)
{rope_made}{attention_made}{heads_made}
    def forward(self, x):
        b, t, _ = x.size()
        {project}
        {norm_heads}
        {rotate}
        {attend}
        {heads_joined}
        return self.o(y)
class MLP(nn.Module):
    def __init__(self):
        super().__init__()
{mlp}
class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.n1, self.n2 = Norm(C), Norm(C)
        self.attn, self.mlp = Attention(), MLP()
{block_made}
    def forward(self, x):
        {block}
@dataclass
class Out:
    loss: torch.Tensor
    logits: torch.Tensor
class NT(NamedTuple):
    loss: torch.Tensor
    logits: torch.Tensor
    hidden: torch.Tensor
class GPT(nn.Module):
    def __init__(self):
        super().__init__()
        {table_made}
{embedding_made}{layers_made}        self.blocks = nn.ModuleList([Block() for _ in range(L)])
        self.norm = Norm(C)
        {head_made}
        {scale_made}
        {aux_made}
        {tied}
        self.apply(self._init_weights)
    def _init_weights(self, module):
        if isinstance(module, nn.Linear):
            torch.nn.init.normal_(module.weight, mean=0.0, std=0.02)
            if module.bias is not None:
                torch.nn.init.zeros_(module.bias)
        elif isinstance(module, nn.Embedding):
            torch.nn.init.normal_(module.weight, mean=0.0, std=0.02)
    def forward(self, idx, targets=None):
        {embed}
        {go_through}
        x = self.norm(x)
        {head}
        {give}
def criterion(logits, targets):
    return {loss}
{optimizer_class}
device = 'cuda'
ctx = torch.amp.autocast(device_type='cuda', dtype=torch.bfloat16)
def get_batch():
    data = torch.randint(0, V, (batch_size, T + 1))
    x, y = data[:, :-1].contiguous(), data[:, 1:].contiguous()
    return x.to(device), y.to(device)
model = GPT()
model.to(device)
{average}
{compile}
{optimizer}
losses = []
{fetched}
for it in range(7):
"""


class Choice:
    """What chance has chosen for a number: the habit of each kind, and a few settings."""

    def __init__(self, number: int) -> None:
        chance = random.Random(number)

        def one(kind: str) -> str:
            names: list[str] = list(HABITS[kind])
            return chance.choice(names)

        self.compiled = number % 2 == 0
        self.of = {kind: one(kind) for kind in KINDS}
        if chance.random() < 0.4:
            self.of["autocast"] = "bf16"
        odd = () if self.compiled else (2003,)
        self.vocabulary = chance.choice([1000, 1024, 4008, *odd])
        while self.of["mlp"] == "conv1d":
            self.of["mlp"] = one("mlp")
        while self.of["projections"] == "conv":
            self.of["projections"] = one("projections")
        if self.compiled and self.of["rope"] == "complex":
            self.of["rope"] = "halves"
        if self.compiled and self.of["returned"] == "lastlogit":
            self.of["returned"] = "pair"
        if self.of["block"] == "inplace" and self.of["norm"] not in PLAIN_NORMS:
            self.of["block"] = "pre"
        self.dropout = chance.choice(["0.0", "0.1", "0.1"])
        self.bias = chance.choice(["True", "False"])
        tied = chance.random() < 0.4
        self.tied = tied and self.of["head"] != "matmul" and self.of["embedding"] != "proj"

    def habit(self, kind: str) -> Any:
        """The text of a habit, or its texts."""
        return HABITS[kind][self.of[kind]]


def composed(number: int) -> str:
    """The script of a number."""
    choice = Choice(number)
    of, habit = choice.of, choice.habit
    projections, project = habit("projections")
    rope_made, rotate, rope_class = habit("rope")
    attention_made, attend = habit("attention")
    heads_made, norm_heads = habit("normed_heads")
    block_made, block = habit("block")
    embedding_made, embed = habit("embedding")
    layers_made, go_through, _ = habit("layers")
    give, call = habit("returned")
    has_table = of["embedding"] != "proj" or of["head"] == "matmul"
    made = {
        "table_made": "self.wte = nn.Embedding(V, C)" if has_table else "",
        "head_made": "self.head = nn.Linear(C, V, bias=False)" if of["head"] != "matmul" else "",
        "scale_made": "self.ls = nn.Parameter(torch.zeros(1))" if of["head"] == "sz" else "",
        "aux_made": "self.aux = nn.Linear(C, V, bias=False)"
        if of["returned"] == "two heads"
        else "",
        "tied": "self.head.weight = self.wte.weight" if choice.tied else "",
    }
    top = SCRIPT.format(
        vocabulary=choice.vocabulary, dropout=choice.dropout, bias=choice.bias,
        loss_functions=HABITS["loss_functions"], norm=habit("norm"), rope_class=rope_class,
        projections=projections.format(bias=choice.bias), rope_made=rope_made,
        attention_made=attention_made, heads_made=heads_made, project=project,
        norm_heads=norm_heads, rotate=rotate, attend=attend, heads_joined=habit("heads_joined"),
        mlp=habit("mlp"), block_made=block_made, block=block, embedding_made=embedding_made,
        layers_made=layers_made, embed=embed, go_through=go_through, head=habit("head"),
        give=give.replace("LOSS", habit("loss")), loss=habit("loss"),
        optimizer_class=HABITS["optimizer_class"].get(of["optimizer"], ""),
        average="ema = copy.deepcopy(model).eval()" if of["loop"] == "ema" else "",
        compile=habit("compile") if choice.compiled else "", optimizer=habit("optimizer"),
        fetched="x, y = get_batch()" if of["loop"] == "prefetch" else "",
        **{name: text or "pass" for name, text in made.items()},
    )  # fmt: skip
    inner = 8 if of["loop"] in ("accum", "lossaccum") else 4
    body: str = habit("loop")
    for word, text in (
        ("AMP4", habit("autocast")),
        ("CALL4", call.replace("TAB", " " * 16)),
        ("AMP", habit("autocast")),
        ("CALL", call.replace("TAB", " " * inner)),
    ):
        body = body.replace(word, text)
    return top + body


def record_elsewhere(python: str, numbers: list[int]) -> None:
    """Trace some with another release; those that it fails with are left out."""
    table = rows(ELSEWHERE)
    for number in numbers:
        text = composed(number)
        with tempfile.TemporaryDirectory() as made:
            (Path(made) / "train.py").write_text(text, encoding="utf-8")
            row = row_of(text, traced(Path(made), python))
        torch = row.pop("torch")  # a part of the name here
        if torch:
            table[f"{'.'.join(torch.split('.')[:2])}: {number}"] = row
            written(ELSEWHERE, table)


def main() -> None:
    """Trace what is not recorded, where a PyTorch is given; compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--python", help="has PyTorch for CUDA")
    parser.add_argument("numbers", nargs="*", type=int, help="to record for that PyTorch's release")
    options = parser.parse_args()
    if options.numbers:
        record_elsewhere(options.python, options.numbers)
        return
    table, counts = rows(TABLE), Counter[str]()
    for number in NUMBERS:
        text, known = composed(number), table.get(str(number), {})
        with tempfile.TemporaryDirectory() as made:
            folder = Path(made)
            (folder / "train.py").write_text(text, encoding="utf-8")
            if options.python and known.get("text") != digest_of(text):
                known = table[str(number)] = row_of(text, traced(folder, options.python))
                written(TABLE, table)
            seen = read(folder)
        told, real = (seen.get("peak") or {}).get("allocated_bytes"), known.get("allocated")
        kind = "compiled" if number % 2 == 0 else "not compiled"
        if seen.get("trust") != "read" or seen.get("doubts") or seen.get("left_open"):
            counts[f"{kind}, not sure"] += 1
        elif real is None:
            counts[f"{kind}, PyTorch fails"] += 1
        else:
            counts[f"{kind}, {'equal' if told == real else 'other bytes'}"] += 1
            if told != real:
                print(f"{number}: {told:,}, not {real:,} ({(told - real) / real:+.2%})")
    print("\n".join(f"{count} {what}" for what, count in sorted(counts.items())))


if __name__ == "__main__":
    main()
