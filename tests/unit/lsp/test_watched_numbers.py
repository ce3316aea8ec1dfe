"""A number that memory does not follow is typed without the run being read again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from nanolint.files import door
from nanolint.gpus.lookup import find
from nanolint.lsp.session import Session
from nanolint.recording import recording, tape_answers
from tests.support.project_tree import write_project

if TYPE_CHECKING:
    from pathlib import Path

    from nanolint.run.run import Run

CARD = "rtx-4090"
SCRIPT = """\
import math
import random
from dataclasses import dataclass
import torch
import torch.nn as nn

learning_rate = 6e-4
min_lr = 6e-5
weight_decay = 0.1
beta2 = 0.95
warmup = 10
dropout = 0.25
widening = 4.0
clip = 1.0
noise = 0.0
{more}
batch_size = 64

@dataclass
class Settings:
    scale: float = 0.5

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.up = nn.Linear(512, int(widening * 512))
        self.down = nn.Linear(int(widening * 512), 512)
        self.drop = nn.Dropout(dropout)
        self.scale = Settings().scale

    def forward(self, x):
        return self.drop(self.down(self.up(self.drop(x)).relu())) * self.scale

def rate(step):
    if step < warmup:
        return learning_rate * (step + 1) / warmup
    return min_lr + 0.5 * (1.0 + math.cos(math.pi * step / 100)) * (learning_rate - min_lr)

net = Net().to('cuda')
optimizer = torch.optim.AdamW(
    net.parameters(), lr=learning_rate, betas=(0.9, beta2), weight_decay=weight_decay
)
for step in range(100):
    x = torch.randn(batch_size, 1024, 512, device='cuda')
    for group in optimizer.param_groups:
        group['lr'] = rate(step)
    if noise > 0.0:
        kept = noise * torch.randn_like(x)
    loss = net(x).mean()
    loss.backward()
    if clip != 0.0:
        nn.utils.clip_grad_norm_(net.parameters(), clip)
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    {say}
"""


class Editor:
    """A script that is open in an editor, with its readings counted."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch, **parts: str) -> None:
        self.text = SCRIPT.format(**{"more": "", "say": "pass", **parts})
        self._path = write_project(root, {"train.py": self.text}) / "train.py"
        self.readings = 0
        record = recording._record

        def counted(*given: object) -> object:
            self.readings += 1
            return record(*given)  # type: ignore[arg-type]

        monkeypatch.setattr(recording, "_record", counted)
        self._session = Session({}, pytest.fail)
        self._session.set_target(CARD)
        self._session.open("script", self._path, self.text, is_python=True)
        self.bytes()

    def bytes(self) -> int:
        """What the run that is open allocates."""
        document = self._session.document("script")
        assert document is not None
        assert document.judged is not None
        context = document.judged.context
        assert context is not None
        run: Run | None = context.run
        assert run is not None, context.settings
        assert not context.doubts
        return recording.allocated_bytes(run, find(CARD).gpu)

    def types(self, old: str, new: str) -> tuple[int, int]:
        """The bytes after ``old`` became ``new``, and how often that took a reading."""
        assert old in self.text
        self.text = self.text.replace(old, new)
        before = self.readings
        self._session.change("script", self.text)
        return self.bytes(), self.readings - before

    def follows_counts(self) -> None:
        """From now on readings follow numbers of steps (``symbolic_cache.py``)."""
        counted = self.text.replace("warmup = 10\n", "warmup = 20\n")
        for text in (counted, self.text):
            self._session.change("script", text)
            self.bytes()

    def anew(self) -> int:
        """The bytes of the text as it is, with nothing remembered."""
        tape_answers._of_any_card.cache_clear()
        door.forget()
        self._session.look_again()
        return self.bytes()


@pytest.fixture
def editor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Editor:
    return Editor(tmp_path, monkeypatch)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("learning_rate = 6e-4", "learning_rate = 3e-3"),
        ("min_lr = 6e-5", "min_lr = 0.001"),
        ("weight_decay = 0.1", "weight_decay = 0.02"),
        ("beta2 = 0.95", "beta2 = 0.999"),
        ("dropout = 0.25", "dropout = 0.1"),
        ("clip = 1.0", "clip = 0.5"),
        ("scale: float = 0.5", "scale: float = 0.25"),
    ],
)
def test_a_number_that_decides_nothing_is_typed_without_a_reading(
    editor: Editor, old: str, new: str
) -> None:
    before = editor.bytes()
    assert editor.types(old, new) == (before, 0)
    assert editor.anew() == before


@pytest.mark.parametrize("old", ["learning_rate = 6e-4", "min_lr = 6e-5", "weight_decay = 0.1"])
def test_so_it_is_where_the_numbers_of_steps_are_followed(editor: Editor, old: str) -> None:
    before = editor.bytes()
    editor.follows_counts()
    editor.anew()
    editor.types("warmup = 10\n", "warmup = 30\n")
    assert editor.types(old, f"{old}5") == (before, 0)
    assert editor.types("warmup = 30\n", "warmup = 40\n")[0] == before
    assert editor.anew() == before


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("widening = 4.0", "widening = 3.0"),  # a size
        ("dropout = 0.25", "dropout = 0.0"),  # a mask
        ("noise = 0.0", "noise = 0.1"),  # a branch
    ],
)
def test_a_number_that_decides_something_is_read_with_each_new_value(
    editor: Editor, old: str, new: str
) -> None:
    before = editor.bytes()
    after, readings = editor.types(old, new)
    assert after != before
    assert readings == 1
    assert editor.anew() == after
    assert editor.types(new, old)[0] == before


def assert_takes_more(editor: Editor, old: str, new: str) -> None:
    """``new`` takes more than ``old``, as much as where nothing is remembered."""
    before = editor.bytes()
    after, _ = editor.types(old, new)
    assert after == editor.anew()
    assert after > before


def test_a_number_that_is_only_printed_may_be_read_again_and_is_right(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    editor = Editor(tmp_path, monkeypatch, say="print(f'{group[\"lr\"]:.4f}')")
    before = editor.bytes()
    assert editor.types("learning_rate = 6e-4", "learning_rate = 3e-3")[0] == before


def test_a_number_of_another_kind_is_another_script(editor: Editor) -> None:
    assert editor.types("weight_decay = 0.1", "weight_decay = 1")[1] == 1


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("project = 'owt'", "project = 'wiki'"),
        ("project = 'owt'", "project = None"),
        ("logs = False", "logs = True"),
        ("patience = 3", "patience = 0.5"),
    ],
)
def test_what_nobody_uses_is_typed_without_a_reading(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, old: str, new: str
) -> None:
    more = "project = 'owt'; logs = False\npatience = 3"
    editor = Editor(tmp_path, monkeypatch, more=more)
    before = editor.bytes()
    assert editor.types(old, new) == (before, 0)
    assert editor.types("beta2 = 0.95", "beta2 = 0.9") == (before, 0)
    assert editor.anew() == before


@pytest.mark.parametrize(
    "size",
    [
        "size",
        "globals()['si' + 'ze']",
        "{key: value for key, value in globals().items() if key[:2] == 'si'}['size']",
        "getattr(sys.modules[__name__], 'si' + 'ze')",
    ],
)
def test_nothing_that_uses_a_text_gives_an_old_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: str
) -> None:
    more = f"import sys\nsize = 'small'\nkept = torch.zeros(len({size}), 2**20).cuda()"
    editor = Editor(tmp_path, monkeypatch, more=more)
    assert_takes_more(editor, "size = 'small'", "size = 'largest'")
