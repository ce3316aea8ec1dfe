"""Flags of a parser that a script declares in more than one way."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from nanolint.cli.main import main

if TYPE_CHECKING:
    from pathlib import Path

IN_A_LOOP = """\
import argparse
import torch
import torch.nn as nn
from helper import known
def main():
    ap = argparse.ArgumentParser()
    for k, v in known().items():
        if isinstance(v, bool):
            ap.add_argument(f"--{k}", action="store_true", default=v)
        elif v is None:
            ap.add_argument(f"--a", type=str, default=None)
        else:
            ap.add_argument(f"--b", type=type(v), default=v)
    ap.add_argument("--batch_size", type=int, default=4)
    args = ap.parse_args()
    model = nn.Linear(4, args.batch_size)
    opt = torch.optim.AdamW(model.parameters())
    for i in range(10):
        model(torch.zeros(args.batch_size, 4)).sum().backward()
        opt.step()
main()
"""


def test_flags_declared_over_what_is_not_known_are_no_crash(tmp_path: Path) -> None:
    script = tmp_path / "pretrain.py"
    script.write_text(IN_A_LOOP)
    problems = io.StringIO()
    main(
        ["check", "--isolated", "--gpu", "rtx-4070", str(script)],
        stdout=io.StringIO(),
        stderr=problems,
    )
    assert "internal error" not in problems.getvalue()
