"""What the server knows of open documents, without a client."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from nanolint.diagnostics import Severity
from nanolint.files import door
from nanolint.lsp.session import Session
from tests.support.command import nanolint
from tests.support.project_tree import write_project

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from nanolint.lsp.session import Document
    from nanolint.run.run import Run

BIG = "batch_size = 512\nblock_size = 1024\n"
SMALL = "batch_size = 1\nblock_size = 256\n"


@pytest.fixture
def told() -> list[str]:
    return []


@pytest.fixture
def session(told: list[str]) -> Iterator[Session]:
    session = Session({"NANOLINT_GPU": "rtx-4070"}, told.append)
    yield session
    for document in session.documents:
        session.close(document.uri)
    door.forget()


def opened(session: Session, path: Path, text: str) -> Document:
    session.open(path.as_uri(), path, text, is_python=path.suffix == ".py")
    document = session.document(path.as_uri())
    assert document is not None
    return document


def codes(document: Document) -> set[str]:
    """The rules that find an error or a warning."""
    assert document.judged is not None
    found = document.judged.diagnostics
    return {each.code for each in found if each.severity is not Severity.INFO}


def runs(document: Document) -> list[Run | None]:
    assert document.context is not None
    return [case.run for case in document.context.cases]


def test_a_file_that_is_no_config_is_left_alone(session: Session, tmp_path: Path) -> None:
    root = write_project(tmp_path)
    document = opened(session, root / "tool.py", "batch_size = 512\nprint(batch_size)\n")
    assert codes(document) == set()
    assert document.context is None or document.is_script


def test_settings_are_followed_while_they_are_typed(
    session: Session, told: list[str], tmp_path: Path
) -> None:
    root = write_project(tmp_path, {"nanolint.toml": ""})
    config = opened(session, root / "config" / "a.py", BIG)
    assert "NL102" in codes(config)
    settings = opened(session, root / "nanolint.toml", "")
    session.change(settings.uri, 'ignore = ["NL1"]\n')
    assert codes(config) == set()
    session.change(settings.uri, 'ignore = ["NL1"')
    assert codes(config) == set(), "half typed: the last good settings count"
    assert told == []
    (root / "nanolint.toml").write_text('ignore = ["NL1"')
    session.look_again()
    assert len(told) == 1 and "not valid TOML" in told[0]


def test_a_changed_file_is_looked_at_again(session: Session, tmp_path: Path) -> None:
    root = write_project(tmp_path, {"data/mine/meta.pkl": b"", "config/a.py": SMALL})
    config = opened(session, root / "config" / "a.py", f"{SMALL}dataset = 'mine'\n")
    other = opened(session, root / "config" / "b.py", SMALL)
    assert runs(config) == [None] and runs(other) != [None]
    (root / "data" / "mine" / "meta.pkl").write_bytes(b"\x80\x04}\x8c\x0avocab_sizeKAs.")
    assert session.files_changed([root / "data" / "mine" / "meta.pkl"]) == [config]
    assert runs(config) != [None]


def test_settings_of_the_client_by_folder(session: Session, tmp_path: Path) -> None:
    here, there = write_project(tmp_path / "here"), write_project(tmp_path / "there")
    one = opened(session, here / "config" / "a.py", BIG)
    other = opened(session, there / "config" / "a.py", BIG)
    session.configure({None: {}, there: {"ignore": ["NL1"]}})
    assert "NL102" in codes(one)
    assert codes(other) == set()


def test_the_card_of_the_client_wins_over_the_environment(session: Session, tmp_path: Path) -> None:
    document = opened(session, write_project(tmp_path) / "config" / "a.py", SMALL)
    session.configure({None: {"gpu": "a100-80gb"}})
    assert document.context is not None
    assert document.context.cases[0].gpu_name == "A100 80GB"
    session.set_target("rtx-3060")
    assert document.context is not None
    assert document.context.cases[0].gpu_name == "RTX 3060 12GB"


def test_a_setting_of_the_client_that_cannot_be_used_is_told_once(
    session: Session, told: list[str], tmp_path: Path
) -> None:
    root = write_project(tmp_path)
    session.configure({None: {"gpu": "rtx-9999"}})
    for name in ("a.py", "b.py"):
        assert opened(session, root / name, BIG).judged is None
    assert len(told) == 1 and "unknown GPU 'rtx-9999'" in told[0]


def test_a_bug_costs_one_outcome_and_is_told(
    session: Session, told: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError("as if")

    document = opened(session, write_project(tmp_path) / "config" / "a.py", BIG)
    with monkeypatch.context() as patch:
        patch.setattr("nanolint.lsp.session.judge_text", broken)
        assert document.judged is None
    assert told == ["nanolint: internal error: ZeroDivisionError: as if"]
    session.change(document.uri, f"{BIG}\n")
    assert "NL102" in codes(document)


def test_half_typed_the_last_good_meaning_stays(session: Session, tmp_path: Path) -> None:
    document = opened(session, write_project(tmp_path) / "config" / "a.py", SMALL)
    before = document.context
    session.change(document.uri, f"{SMALL}n_layer = (")
    assert codes(document) == {"NL001"}
    assert document.context is before


def test_an_open_module_that_is_no_python_is_told_as_a_check_tells_it(
    session: Session, tmp_path: Path
) -> None:
    root = write_project(tmp_path, {"nanolint.toml": 'gpu = "rtx-4070"\n'})
    model, draw = root / "model.py", random.Random(11)
    whole = model.read_text(encoding="utf-8")
    document = opened(session, model, whole)
    broken = 0
    for _ in range(6):
        at = draw.randrange(len(whole))
        text = whole[:at] + draw.choice(["(", "\n", "'", ":", "def f(", " = "]) + whole[at:]
        session.change(document.uri, text)
        cold = nanolint("check", "-", f"--stdin-filename={model}", stdin=text.encode()).out
        assert ("NL001" in codes(document)) == ("NL001" in cold)
        broken += "NL001" in cold
    assert broken > 1


LOOP = """import torch
import torch.nn.functional as F
from model import Net

net = Net().cuda()
optimizer = torch.optim.AdamW(net.parameters())
for step in range(30):
    x = torch.randint(512, (4, 65), device="cuda")
    loss = F.cross_entropy(net(x[:, :-1]).flatten(0, 1), x[:, 1:].flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
NET = """import torch.nn as nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.rows, self.head = nn.Embedding(512, 64), nn.Linear(64, 512)

    def forward(self, x):
        return self.head(self.rows(x))
"""


def test_what_a_module_makes_raise_stands_on_its_line(session: Session, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(LOOP)
    (tmp_path / "model.py").write_text(NET)
    document = opened(session, tmp_path / "model.py", NET)
    assert codes(document) == set()
    session.change(document.uri, NET.replace("nn.Linear(64", "nn.Linear(65"))
    assert document.judged is not None
    (found,) = document.judged.diagnostics
    line = document.text[found.span.start : found.span.end]
    assert (found.code, line) == ("NL601", "return self.head(self.rows(x))")
    assert [(each.path.name, each.row) for each in found.holders] == [
        ("train.py", 9),
        ("model.py", 6),  # which makes the layer
    ]
    session.change(document.uri, NET)
    assert codes(document) == set()
