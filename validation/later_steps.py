"""Hold what nanolint reads of small scripts that do something in a later step to PyTorch's trace.

    python validation/later_steps.py --python path/to/python

makes 200 scripts from a seed: ten conditions on the step, ten things that stay or take more, two
styles. Each is read, and traced over all of its steps unless its trace is recorded already. The
rows go to validation/recorded/later_steps.json: bytes allocated and reserved, read and traced, and
the first doubt. `--read` reads again and traces nothing; `--show ID` prints one script.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

HERE = Path(__file__).parent
TABLE = HERE / "recorded" / "later_steps.json"
CARD = "rtx-3060"
SEED, STEPS = 7, 24
NEAR = 0.01  # of PyTorch's figure
Row = dict[str, Any]

CONDITIONS: dict[str, Callable[[random.Random], str]] = {
    "equal": lambda draw: f"step == {draw.randint(4, 20)}",
    "remainder": lambda draw: f"step % {draw.randint(6, 9)} == {draw.randint(3, 5)}",
    "not_the_first": lambda draw: f"step % {draw.randint(4, 11)} == 0 and step > 0",
    "set": lambda draw: f"step in ({draw.randint(3, 7)}, {draw.randint(8, 15)})",
    "from": lambda draw: f"step > {draw.randint(5, 18)}",
    "before_the_end": lambda draw: f"steps - step == {draw.randint(3, 9)}",
    "falsy": lambda draw: f"not step % {draw.randint(4, 11)} and step",
    "fraction": lambda draw: f"step / steps > 0.{draw.randint(3, 8)}",
    "key": lambda draw: f"step in {{{draw.randint(3, 9)}: 1, {draw.randint(10, 20)}: 2}}",
    "between": lambda draw: f"{draw.randint(3, 8)} <= step < {draw.randint(10, 20)}",
}

# Each may need a line before the loop; {hold} is where the script keeps things.
GROWTHS = {
    "tensor": ("", "{hold}hog = torch.zeros({n}, 512, 1024, device='cuda')"),
    "list": ("{hold}kept = []", "{hold}kept.append(torch.zeros({n}, 512, 1024, device='cuda'))"),
    "view": ("{hold}kept = []", "{hold}kept.append(logits[:, -1])"),
    "dict": ("{hold}kept = {{}}", "{hold}kept[step] = torch.ones({n}, 512, 1024, device='cuda')"),
    "deque": (
        "{hold}kept = deque(maxlen=3)",
        "{hold}kept.append(torch.zeros({n}, 512, 1024, device='cuda'))",
    ),
    "cat": (
        "{hold}kept = torch.zeros(0, 512, 1024, device='cuda')",
        "{hold}kept = torch.cat([{hold}kept, torch.zeros({n}, 512, 1024, device='cuda')])",
    ),
    "weights": ("", "{hold}best = {{k: v.clone() for k, v in model.state_dict().items()}}"),
    "copy": ("", "{hold}average = copy.deepcopy(model)"),
    "evaluation": (
        "",
        "with torch.no_grad(): model(torch.zeros({n}0, T, dtype=torch.long, device='cuda'))",
    ),
    "optimizer": ("", "optimizer = torch.optim.AdamW(model.parameters(), amsgrad=True)"),
}
UNFREEZES = ("model.h.requires_grad_(False)", "model.h.requires_grad_(True)")

HEAD = f"""import copy
from collections import deque
import torch
import torch.nn as nn
import torch.nn.functional as F

B, T, C, V, steps = 4, 64, 192, 4000, {STEPS}

class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.down = nn.Linear(C, 4 * C), nn.Linear(4 * C, C)
    def forward(self, x):
        return x + self.down(F.gelu(self.up(x)))

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.e, self.out = nn.Embedding(V, C), nn.Linear(C, V, bias=False)
        self.h = nn.Sequential(*[Block() for _ in range(2)])
    def forward(self, x):
        return self.out(self.h(self.e(x)))

"""
PLAIN = """model = Net().cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
{before}
for step in range(steps):
    x = torch.randint(V, (B, T), device="cuda")
    logits = model(x)
    if {condition}:
        {growth}
    loss = F.cross_entropy(logits.view(-1, V), x.view(-1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
IN_A_FUNCTION = """class State:
    pass

def main():
    state = State()
    model = Net().cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    {before}
    step = 0
    while step < steps:
        if {condition}:
            {growth}
        x = torch.randint(V, (B, T), device="cuda")
        logits = model(x)
        loss = F.cross_entropy(logits.view(-1, V), x.view(-1))
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        step += 1

if __name__ == "__main__":
    main()
"""
STYLES = {"plain": (PLAIN, ""), "function": (IN_A_FUNCTION, "state.")}


def scripts() -> dict[str, str]:
    """The scripts by their ids."""
    draw, found = random.Random(SEED), {}
    for style, (text, hold) in STYLES.items():
        for name, condition in CONDITIONS.items():
            for what, (before, growth) in GROWTHS.items():
                if what == "optimizer" and style == "function":
                    before, growth = UNFREEZES
                if what == "view" and style == "function":
                    growth = "{hold}kept.append(logits[:, -1]) if step else None"
                values = {"hold": hold, "n": draw.randint(2, 6)}
                found[f"{style}-{name}-{what}"] = HEAD + text.format(
                    before=before.format(**values),
                    condition=condition(draw),
                    growth=growth.format(**values),
                )
    return found


def read(path: Path) -> Row:
    """What nanolint reads of a script."""
    said = _answer("explain", str(path))
    if not said or "peak" not in said:
        return {"read": None, "doubt": (said or {}).get("reason", "no answer")}
    doubts = said["doubts"]
    return {"read": _peak(said), "doubt": doubts[0] if doubts else None}


def traced(path: Path, python: str) -> list[int] | None:
    """What PyTorch allocates and reserves of it."""
    words = ("--python", python, "--yes", "--steps", str(STEPS), "--", str(path))
    said = _answer("trace", *words)
    return _peak(said) if said else None


def _peak(said: Row) -> list[int]:
    return [said["peak"]["allocated_bytes"], said["peak"]["reserved_bytes"]]


def _answer(command: str, *words: str) -> Row | None:
    nanolint = Path(sys.executable).parent / "nanolint"
    done = subprocess.run(
        [str(nanolint), command, "--gpu", CARD, "--format", "json", *words],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    return json.loads(done.stdout) if done.stdout.startswith("{") else None


def is_near(row: Row) -> bool:
    """Whether what is read is within one percent of the trace."""
    pairs = zip(row["read"], row["traced"], strict=True)
    return all(abs(one - other) <= NEAR * other for one, other in pairs)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--python", help="a CUDA build of PyTorch, to trace with")
    parser.add_argument("--read", action="store_true", help="trace nothing")
    parser.add_argument("--show", metavar="ID", help="print this script")
    options = parser.parse_args()
    if options.show:
        print(scripts()[options.show])
        return 0
    table = json.loads(TABLE.read_text()) if TABLE.exists() else []
    known = {row["id"]: row["traced"] for row in table}
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for name, text in scripts().items():
            path = Path(folder) / "train.py"
            path.write_text(text)
            truth = known.get(name)
            if truth is None and options.python and not options.read:
                truth = traced(path, options.python)
            rows.append({"id": name, **read(path), "traced": truth})
            if not options.read:
                _write([*rows, *(row for row in table if row["id"] not in {r["id"] for r in rows})])
    _write(rows)
    sure = [row for row in rows if row["read"] and not row["doubt"] and row["traced"]]
    wrong = [row["id"] for row in sure if not is_near(row)]
    print(f"{len(sure)} of {len(rows)} undoubted, {len(wrong)} of these wrong: {wrong}")
    return bool(wrong)


def _write(rows: list[Row]) -> None:
    lines = ",\n".join(map(json.dumps, rows))
    TABLE.write_text(f"[\n{lines}\n]\n")


if __name__ == "__main__":
    raise SystemExit(main())
