"""What a judgement was worked out from is noted in full: an editor never shows an old one."""

from __future__ import annotations

import os
import pickle
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nanolint.files import door, notes
from nanolint.gpus import local
from nanolint.gpus.local import LocalGpu
from nanolint.gpus.lookup import find
from nanolint.lsp.session import Session
from nanolint.settings import targets
from tests.support.project_tree import train_script, write_project

if TYPE_CHECKING:
    from collections.abc import Callable

    from nanolint.linting.engine import Report
    from nanolint.linting.setup import Setup

Edit: TypeAlias = tuple[str, str | bytes | None]

OPEN = "config/a.py"
TEXT = """\
from config.base import *
batch_size = 16  # micro-batch
gradient_accumulation_steps = 4 * 8
dtype = 'bfloat16'
dataset = 'letters'
flavour = 2  # known to train.py
num_samples = 3  # known to sample.py
"""
PROJECT: dict[str, str | bytes] = {
    OPEN: TEXT,
    "config/base.py": "block_size = 1024\n",
    "train.py": train_script(extra_settings="flavour = 1\n"),
    "data/letters/meta.pkl": pickle.dumps({"vocab_size": 51200}),
    "requirements.txt": "torch==2.4\n",
}
CARD = "rtx-3060-12gb"


@pytest.fixture(autouse=True)
def project(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.chdir(tmp_path)
    return write_project(tmp_path, PROJECT)


def judge(root: Path, gpu: str | None = CARD) -> tuple[tuple[Report, Setup] | None, notes.Reads]:
    """What the server finds in the open config, and by which setup, as all around it is now."""
    door.forget()
    told: list[str] = []
    session = Session({} if gpu is None else {"NANOLINT_GPU": gpu}, told.append)
    path = root / OPEN
    session.open(path.as_uri(), path, TEXT, is_python=True)
    try:
        document = session.document(path.as_uri())
        assert document is not None
        judged = document.judged
        return (None, {}) if judged is None else ((judged.report, judged.setup), judged.reads)
    finally:
        session.close(path.as_uri())


def put(name: str, content: str | bytes | None) -> None:
    path = Path(name)
    if content is None:
        path.unlink(missing_ok=True)
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())


def same_size_and_time() -> None:
    path = Path("config/base.py")
    before = path.stat()
    path.write_text("block_size = 1025\n")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def another_file_by_the_same_name() -> None:
    Path("config/base.py").rename("elsewhere.py")
    Path("config/base.py").symlink_to("../other.py")
    put("other.py", "block_size = 256\n")


CHANGES: dict[str, Callable[[], object]] = {
    "the imported config": lambda: put("config/base.py", "block_size = 256\n"),
    "the imported config, keeping its size and time": same_size_and_time,
    "the imported config is a link now": another_file_by_the_same_name,
    "the imported config is gone": lambda: put("config/base.py", None),
    "train.py": lambda: put("train.py", train_script()),
    "train.py is gone": lambda: put("train.py", None),
    "a nearer train.py": lambda: put("config/train.py", train_script()),
    "model.py, which was missing": lambda: put("model.py", "class GPT:\n    pass\n"),
    "the vocabulary": lambda: put("data/letters/meta.pkl", pickle.dumps({"vocab_size": 5000})),
    "no vocabulary": lambda: put("data/letters/meta.pkl", None),
    "the settings": lambda: put("nanolint.toml", 'ignore = ["NL1"]\n'),
    "nearer settings": lambda: put("config/nanolint.toml", 'in-use = "9GiB"\n'),
    "PyTorch's version": lambda: put("requirements.txt", "torch==2.1\n"),
    "a lock file": lambda: put(
        "config/uv.lock", '[[package]]\nname = "torch"\nversion = "2.1.0"\n'
    ),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_change_to_what_counts_is_seen(change: Callable[[], object], project: Path) -> None:
    before, reads = judge(project)
    assert notes.unchanged(reads)
    change()
    assert judge(project)[0] != before  # so that the old findings would have been wrong
    assert not notes.unchanged(reads)


def test_the_card_in_this_machine_is_asked_for_again(
    monkeypatch: pytest.MonkeyPatch, project: Path
) -> None:
    def plug_in(name: str) -> None:
        gpu = find(name).gpu
        card = LocalGpu(gpu, gpu.total_bytes)
        monkeypatch.setattr(targets, "_local_gpu", lambda: card)
        monkeypatch.setattr(local, "may_have_card", lambda: True)
        monkeypatch.setattr(local, "local_gpu", lambda: card)

    plug_in(CARD)
    _, reads = judge(project, gpu=None)
    assert notes.unchanged(reads)
    plug_in("h100-80gb-sxm")
    assert not notes.unchanged(reads)


CONTENTS: dict[str, tuple[str | bytes, ...]] = {
    "config/base.py": ("block_size = 1024\n", "from config.a import *\n", "n_head = 5\n"),
    "config/b.py": ("from config.a import *\n", "n_embd = 384\nn_head = 5\n"),
    "train.py": (
        train_script(),
        train_script(extra_settings="flavour = 1\n"),
        train_script().replace("n_layer = 12", "n_layer = 2"),
        "print(1)\n",
    ),
    "model.py": ("class GPT:\n    pass\n",),
    "sample.py": ("num_samples = 1\nexec(open('configurator.py'))\n",),
    "data/letters/meta.pkl": (pickle.dumps({"vocab_size": 65}), b"\x80\x04noise"),
    "requirements.txt": ("torch==2.1\n", "torch==2.9\n"),
    "nanolint.toml": ('ignore = ["NL1"]\n', 'in-use = "3GiB"\n'),
    "config/nanolint.toml": ('gpu = "h100"\n',),
    "config/.git/HEAD": ("",),
}
EDITS = st.sampled_from(
    [(path, content) for path, contents in CONTENTS.items() for content in (*contents, None)]
)
EXAMPLES = int(os.environ.get("NANOLINT_EXAMPLES", "0")) or 10


@settings(max_examples=EXAMPLES, deadline=None)
@given(st.lists(EDITS, max_size=12), st.lists(EDITS, min_size=4, max_size=12))
def test_what_is_unchanged_would_be_found_again(start: list[Edit], later: list[Edit]) -> None:
    with tempfile.TemporaryDirectory() as name, pytest.MonkeyPatch.context() as patch:
        patch.chdir(name)
        root = write_project(Path(name), PROJECT)
        for path, content in start:
            put(path, content)
        for path, content in later:
            before, reads = judge(root)
            put(path, content)
            if notes.unchanged(reads):
                assert judge(root)[0] == before
