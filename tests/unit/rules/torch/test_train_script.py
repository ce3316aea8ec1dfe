"""Every rule about PyTorch's calls speaks on a train.py that was changed, and only then."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

import pytest

from nanolint.diagnostics import Safety
from nanolint.linting.engine import lint
from nanolint.linting.fixing import fix_text
from nanolint.linting.setup import Setup
from nanolint.run.settled import Options
from tests.support.harness import CODES, RULES, Bench
from tests.support.project_tree import (
    EVALUATION,
    IMPORTS,
    LOOP,
    SETTINGS,
    SETUP,
    train_script,
    write_project,
)

if TYPE_CHECKING:
    from pathlib import Path

    from nanolint.diagnostics import Diagnostic

CALL = "model(inputs, labels)"
ASKED = (2, 10)  # a release that nearly every rule has something to say about
OF_RUNS = {"NL414", "NL415", "NL417"}  # which say what a script makes of its values
OTHER = {"NL406": (2, 4), "NL411": (2, 9), "NL413": (2, 12)}

# A train.py that is right, and for each rule what makes it wrong: a part, its text, the new text.
RIGHT = {
    "imports": IMPORTS,
    "settings": SETTINGS.replace("supported()", "supported(including_emulation=False)"),
    "setup": SETUP.replace("torch.cuda.amp.GradScaler(", "torch.amp.GradScaler('cuda', "),
    "evaluation": EVALUATION.replace(f"scores, error = {CALL}", f"error = {CALL}[1]"),
    "loop": LOOP.replace(f"scores, error = {CALL}", f"error = {CALL}[1]"),
}
FLAGS = "import torch\ntorch.backends.cudnn.allow_tf32 = True\n"
KERNEL = """\
import torch
@torch.cuda.amp.custom_fwd
def forward(ctx, x): return x
"""
ALLOCATOR = "import os\nos.environ['PYTORCH_ALLOC_CONF'] = 'expandable_segments:True'\n"
ERRORS = "import torch\ntorch._dynamo.config.suppress_errors = True\n"
LATE = "model.require_backward_grad_sync = part == last\n        scaler.scale"
WINDOW = """\
import torch
def attend(q, k, v, window):
    return torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=mask(window))
"""
NORM = """\
model.bfloat16()
ctx = torch.autocast('cuda')
x = torch.rms_norm(x, (8,))
"""
WRONG = {
    "NL401": ("setup", "torch.amp.GradScaler('cuda', ", "torch.cuda.amp.GradScaler("),
    "NL402": ("evaluation", "with ctx:", "with torch.cuda.amp.autocast():"),
    "NL403": ("imports", "import torch\n", KERNEL),
    "NL404": ("loop", "with ctx:", "with torch.backends.cuda.sdp_kernel(enable_math=False):"),
    "NL405": ("imports", "import torch\n", FLAGS),
    "NL406": ("setup", "gptconf =", "saved = torch.load('ckpt.pt')\ngptconf ="),
    "NL407": ("loop", CALL, f"torch.utils.checkpoint.checkpoint({CALL[:5]}, inputs, labels)"),
    "NL408": ("settings", "including_emulation=False", ""),
    "NL409": ("evaluation", f"error = {CALL}[1]", f"scores, error = {CALL}"),
    "NL410": ("imports", "import torch\n", ERRORS),
    "NL411": ("imports", "import os, pickle\n", f"{ALLOCATOR}import pickle\n"),
    "NL412": ("setup", "torch.compile(model)", "torch.compile(model, mode='max-autotune')"),
    "NL413": ("setup", "if compile:", f"{NORM}if compile:"),
    "NL416": ("imports", "import torch\n", WINDOW),
    "NL418": ("loop", "scaler.scale", LATE),
}

every_rule = pytest.mark.parametrize("code", sorted(WRONG))


def bench(code: str, root: Path) -> Bench:
    return Bench(code, torch=OTHER.get(code, ASKED), path=root / "train.py")


def changed(*codes: str) -> str:
    parts = dict(RIGHT)
    for code in codes:
        part, old, new = WRONG[code]
        assert old in parts[part]
        parts[part] = parts[part].replace(old, new)
    return train_script(**parts)


def test_every_rule_has_its_change() -> None:
    assert {rule.code for rule in RULES if rule.code.startswith("NL4")} == set(WRONG) | OF_RUNS


def test_all_changes_are_fixed_together(tmp_path: Path) -> None:
    codes = [code for code in WRONG if code not in OTHER]
    text = changed(*codes)
    root = write_project(tmp_path, {"train.py": text})
    rules = tuple(rule for rule in RULES if rule.code.startswith("NL4"))
    setup = Setup(rules, CODES, options=Options(torch_version=ASKED, oldest_torch=ASKED))

    def fixable(diagnostic: Diagnostic) -> bool:
        return diagnostic.fix is not None and diagnostic.fix.safety is not Safety.DISPLAY

    fixed = fix_text(lambda text: lint(text, root / "train.py", setup), text, fixable=fixable)
    assert not fixed.dropped
    ast.parse(fixed.text)
    assert {each.code for each in fixed.report.diagnostics} == {"NL405", "NL412", "NL416"}
