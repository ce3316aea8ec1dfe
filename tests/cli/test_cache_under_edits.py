"""Whatever is edited between two commands, the cache answers as if there were none."""

from __future__ import annotations

import os
import pickle
import tempfile
from pathlib import Path
from typing import TypeAlias

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.cli.command import nanolint
from tests.project_tree import train_script, write_project

Edit: TypeAlias = tuple[str, str | bytes | None]

CONTENTS: dict[str, tuple[str | bytes, ...]] = {
    "config/a.py": (
        "batch_size = 16\n",
        "from config.base import *\nbatch_size = 16\ndataset = 'letters'\n",
        "batch_size = 2\nflavour = 2\n",
        "batch_size = (\n",
        "import torch\nscaler = torch.cuda.amp.GradScaler()\n",
    ),
    "config/base.py": ("block_size = 1024\n", "from config.a import *\n", "n_head = 5\n"),
    "config/deep/b.py": ("n_embd = 384\nn_head = 5\n", "max_iters = 1e3\n"),
    "train.py": (
        train_script(),
        train_script(extra_settings="flavour = 1\n"),
        train_script().replace("n_layer = 12", "n_layer = 2"),
        "print(1)\n",
    ),
    "model.py": ("class GPT:\n    pass\n",),
    "sample.py": ("num_samples = 1\nexec(open('configurator.py'))\n",),
    "data/letters/meta.pkl": (pickle.dumps({"vocab_size": 65}), b"\x80\x04noise"),
    "data/openwebtext/meta.pkl": (pickle.dumps({"vocab_size": 5000}),),
    "requirements.txt": ("torch==2.1\n", "torch==2.9\n"),
    "nanolint.toml": ('ignore = ["NL1"]\n', "gpu = 7\n", 'in-use = "3GiB"\n'),
    "config/nanolint.toml": ('gpu = "h100"\n', "[rules\n"),
    ".gitignore": ("config/a.py\n", "deep/\n"),
    "config/.git/HEAD": ("",),
}
COMMANDS = (
    ("config", "--gpu=rtx-3060-12gb"),
    ("config/a.py", "config/deep", "--gpu=8xa100-40gb", "--output-format=json"),
    (".", "--gpu=rtx-3060-12gb", "--quiet"),
    ("config", "--output-format=concise"),
)
EDITS = st.sampled_from(
    [(path, content) for path, contents in CONTENTS.items() for content in (*contents, None)]
)
EXAMPLES = int(os.environ.get("NANOLINT_EXAMPLES", "0")) or 10


@settings(max_examples=EXAMPLES, deadline=None)
@given(
    st.lists(EDITS, max_size=12),
    st.lists(EDITS, min_size=4, max_size=12),
    st.sampled_from(COMMANDS),
)
def test_a_cached_answer_is_the_one_without_a_cache(
    start: list[Edit], later: list[Edit], command: tuple[str, ...]
) -> None:
    with tempfile.TemporaryDirectory() as name, pytest.MonkeyPatch.context() as patch:
        patch.chdir(name)
        write_project(Path(), {"config/a.py": "batch_size = 16\n"})
        for path, content in start:
            edit(Path(path), content)
        nanolint(*command, cached=True)
        for path, content in later:
            edit(Path(path), content)
            expected = nanolint(*command)
            assert nanolint(*command, cached=True) == expected
            assert nanolint(*command, cached=True) == expected


def edit(path: Path, content: str | bytes | None) -> None:
    if content is None:
        path.unlink(missing_ok=True)
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
