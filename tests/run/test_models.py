"""Which class a script builds, and how much of it is nanoGPT's."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

import pytest

from nanolint.run.settled import ManualAttention
from nanolint.run.trust import Subject, Trust
from nanolint.trainers.nanogpt.recognition import models, pieces
from nanolint.trainers.nanogpt.recognition.models import recognise_model
from tests.run.settling import reasons, settle
from tests.support.project_tree import IMPORTS, SETUP, train_script, write_project

if TYPE_CHECKING:
    from pathlib import Path

LLAMA = """
class CausalSelfAttention:
    def __init__(self, config):
        self.rotary = Rotary(config)
    def forward(self, x):
        return apply_rotary_emb(x)
class GPT:
    def forward(self, x):
        return checkpoint(self.block, x)
"""


def test_a_model_of_which_nothing_is_known_is_another_network(tmp_path: Path) -> None:
    found = settle(tmp_path, files={"model.py": LLAMA})
    assert found.trust is Trust.UNKNOWN
    assert reasons(found) == {"the model": "GPT in model.py is another network than nanoGPT's"}
    assert [str(doubt) for doubt in found.doubts] == [
        "CausalSelfAttention.__init__ is not nanoGPT's own: rotary embeddings (model.py:3)",
        "CausalSelfAttention.forward is not nanoGPT's own: rotary embeddings (model.py:5)",
        "model.py has no GPT.__init__ (model.py)",
        "GPT.forward is not nanoGPT's own: activation checkpointing (model.py:8)",
        "model.py has no GPT.configure_optimizers (model.py)",
    ]


def knowing(monkeypatch: pytest.MonkeyPatch, source: str, *names: str) -> None:
    """Make the pieces of ``source`` that are called ``names`` nanoGPT's own."""
    tree = ast.parse(source)
    found = pieces.digests(tree, pieces.model_pieces(tree))
    known = pieces.known_pieces() | {name: {found[name]: ""} for name in names}
    for module in (pieces, models):
        monkeypatch.setattr(module, "known_pieces", lambda: known)


EXPERTS = """
class GPT:
    def __init__(self, config):
        self.experts = [MLP(config) for _ in range(config.n_exp)]
    def forward(self, x):
        return x
"""


def test_experts_bring_parameters_that_nobody_here_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    knowing(monkeypatch, EXPERTS, "GPT.forward")
    found = settle(tmp_path, files={"model.py": EXPERTS})
    assert found.trust is Trust.UNKNOWN
    assert reasons(found) == {
        "the model": "GPT in model.py is a mixture of experts, whose parameters are not known here"
    }


def test_one_that_is_partly_nanogpts_is_doubted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    knowing(monkeypatch, LLAMA, "GPT.forward")
    found = settle(tmp_path, files={"model.py": LLAMA})
    assert found.trust is Trust.DOUBTED
    assert "CausalSelfAttention.forward is not nanoGPT's own" in found.doubts[1].text


def test_the_class_that_a_key_chooses_is_the_one_that_counts(tmp_path: Path) -> None:
    chosen = """
if kind == 'gpt':
    Network, Sizes = GPT, GPTConfig
else:
    Network, Sizes = Recurrent, RecurrentConfig
"""
    setup = chosen + SETUP.replace("GPTConfig(", "Sizes(").replace("GPT(", "Network(")
    imports = IMPORTS + "from recurrent import Recurrent, RecurrentConfig\n"
    files: dict[str, str | bytes] = {
        "train.py": train_script(imports=imports, setup=setup, extra_settings="kind = 'gpt'\n"),
        "recurrent.py": "class Recurrent:\n    def forward(self, x): return x\n",
    }
    assert "the model" not in reasons(settle(tmp_path, files=files))
    found = settle(tmp_path, "kind = 'rnn'\n", files=files)
    assert reasons(found) == {
        "the model": "Recurrent in recurrent.py is another network than nanoGPT's"
    }
    found = settle(tmp_path, "kind = choose()\n", files=files)
    assert found.trust is not Trust.EXACT
    assert any(doubt.subject is Subject.MODEL for doubt in found.doubts)


def test_a_model_that_is_not_found_is_not_gpt2(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {"train.py": train_script(imports="import os\n")}
    assert "the model" in reasons(settle(tmp_path, files=files))
    imports = IMPORTS.replace("from model import", "from nets.big import")
    files = {"train.py": train_script(imports=imports)}
    assert reasons(settle(tmp_path, files=files))["the model"] == (
        "train.py builds nets.big.GPT, which is not found"
    )


@pytest.mark.parametrize(
    "content", [b"\0", b"class GPT(:\n", b"#" * (2 << 20), b"x = 1" + b"+1" * 5000]
)
def test_an_unreadable_model_is_doubted(tmp_path: Path, content: bytes) -> None:
    write_project(tmp_path, {"model.py": content})
    (doubt, *_) = recognise_model(tmp_path / "train.py", "model.GPT", None).doubts
    assert doubt.path == tmp_path / "model.py"


def test_attention_weights_that_the_module_keeps_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = LLAMA.replace(
        "        return apply", "        self.seen = att = x @ x\n        return apply"
    )
    knowing(monkeypatch, source, "GPT.forward")
    doubts = [str(doubt) for doubt in settle(tmp_path, files={"model.py": source}).doubts]
    assert "self.seen keeps a tensor of the forward pass alive (model.py:6)" in doubts


@pytest.mark.parametrize(
    ("forward", "init", "manual"),
    [
        ("", "", ManualAttention.NEVER),
        ("always", "", ManualAttention.ALWAYS),
        ("", "with dropout", ManualAttention.WITH_DROPOUT),
        ("always", "with dropout", ManualAttention.ALWAYS),
    ],
)
def test_how_attention_is_computed(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    forward: str,
    init: str,
    manual: ManualAttention,
) -> None:
    source = "class CausalSelfAttention:\n    def __init__(s): s.a\n    def forward(s): s.b\n"
    tree = ast.parse(source)
    found = pieces.digests(tree, pieces.model_pieces(tree))
    known = {
        **pieces.known_pieces(),
        "CausalSelfAttention.forward": {found["CausalSelfAttention.forward"]: forward},
        "CausalSelfAttention.__init__": {found["CausalSelfAttention.__init__"]: init},
    }
    monkeypatch.setattr(pieces, "known_pieces", lambda: known)
    monkeypatch.setattr(models, "known_pieces", lambda: known)
    script = write_project(tmp_path, {"model.py": source}) / "train.py"
    found_model = recognise_model(script, "model.GPT", None)
    assert found_model.manual_attention is manual
