"""Norms in float32: where autocast is, and which lines can be put under another."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from nanolint.files.door import forget
from tests.support.harness import Bench
from tests.support.project_tree import SETUP, train_script, write_project

if TYPE_CHECKING:
    from pathlib import Path

BENCH = Bench("NL413", torch=(2, 12))
HEAD = "import torch\nimport torch.nn.functional as F\nmodel.bfloat16()\n"
CTX = "ctx = torch.autocast('cuda')\n"
OFF = "with torch.autocast(x.device.type, enabled=False):"


def test_autocast_may_be_in_the_script_that_trains(tmp_path: Path) -> None:
    model = HEAD.replace("model", "self.wte") + "x = F.rms_norm(x, (8,))\n"
    bench = Bench("NL413", torch=(2, 12), path=tmp_path / "model.py")
    write_project(tmp_path, {"train.py": train_script(context=""), "model.py": model})
    assert bench.findings(model) == []
    write_project(tmp_path, {"train.py": train_script(setup=CTX + SETUP), "model.py": model})
    assert len(bench.findings(model)) == 1


def test_the_script_may_have_any_name_and_import_it_by_way_of_another(tmp_path: Path) -> None:
    model = HEAD.replace("model", "self.wte") + "x = F.rms_norm(x, (8,))\n"
    for folder in (".git", "own", "scripts"):
        (tmp_path / folder).mkdir()
    (tmp_path / "own" / "gpt.py").write_text(model)
    (tmp_path / "own" / "engine.py").write_text("from own.gpt import GPT\n")
    bench = Bench("NL413", torch=(2, 12), path=tmp_path / "own" / "gpt.py")
    for context, count in (("nullcontext()", 0), ("torch.amp.autocast('cuda')", 1)):
        script = f"from own.engine import GPT\nwith {context}:\n    loss.backward()\n"
        (tmp_path / "scripts" / "base_train.py").write_text(script)
        forget()
        assert len(bench.findings(model)) == count


@pytest.mark.parametrize(
    ("line", "fixed"),
    [
        ("x = F.rms_norm(x, (8,))  # ü", f"{OFF}\n    x = F.rms_norm(x, (8,))  # ü"),
        (
            "def norm(x):\r\n\treturn F.rms_norm(x, (x.size(-1),))",
            f"def norm(x):\r\n\t{OFF}\r\n\t\treturn F.rms_norm(x, (x.size(-1),))",
        ),
    ],
)
def test_a_line_that_does_nothing_else(line: str, fixed: str) -> None:
    assert BENCH.fixed(f"{HEAD}{CTX}{line}\n", unsafe=True) == f"{HEAD}{CTX}{fixed}\n"


@pytest.mark.parametrize(
    "line",
    [
        "x = x + self.mlp(F.rms_norm(x, (8,)))",  # a layer that autocast is for
        "def norm(x): return F.rms_norm(x, (8,))",
        "x = F.rms_norm(q + k, (8,))",
        "x = F.rms_norm(x,\n    (8,))",
        "a = 1; x = F.rms_norm(x, (8,))",
        "self.norm = torch.nn.RMSNorm(8)",
    ],
)
def test_a_line_that_has_to_be_rewritten_by_hand(line: str) -> None:
    assert BENCH.finding(f"{HEAD}{CTX}{line}\n").fix is None


@pytest.mark.parametrize(
    "cast",
    [
        "cos = cos.bfloat16()",
        "g.to(device)",
        "logits = model(x).half()",
        "model = model.to('cuda')",
    ],
)
def test_a_cast_of_something_else_tells_nothing_of_the_activations(cast: str) -> None:
    text = HEAD.replace("model.bfloat16()", cast) + CTX + "x = F.rms_norm(x, (8,))\n"
    assert BENCH.findings(text) == []
